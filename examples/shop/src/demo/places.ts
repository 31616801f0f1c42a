import { type Random, randomFrom, type Words } from './random.ts'

export const demoOrganizations = [
  { _id: 'org_demo_luna', name: 'Sala Luna', currency: 'EUR', language: 'es', platform_fee_percentage: 5 },
  { _id: 'org_demo_koen', name: 'Kōen Live', currency: 'JPY', platform_fee_percentage: 6 },
  { _id: 'org_demo_heron', name: 'Blue Heron Presents', currency: 'GBP', platform_fee_percentage: 7.5 },
  { _id: 'org_demo_harbor', name: 'Harbor Lights', currency: 'USD', platform_fee_percentage: 8 },
  {
    _id: 'org_demo_eclats',
    name: 'Les Éclats',
    currency: 'EUR',
    language: 'fr',
    platform_fee_percentage: 4.5,
  },
  { _id: 'org_demo_lodka', name: 'Klub Łódka', currency: 'PLN', platform_fee_percentage: 4 },
  {
    _id: 'org_demo_kraftfeld',
    name: 'Kraftfeld e.V.',
    currency: 'EUR',
    language: 'de',
    platform_fee_percentage: 3,
  },
  { _id: 'org_demo_acai', name: 'Casa Açaí', currency: 'BRL', language: 'pt', platform_fee_percentage: 10 },
  { _id: 'org_demo_norrsken', name: 'Norrsken Scenkonst', currency: 'SEK', platform_fee_percentage: 2.25 },
  { _id: 'org_demo_funoon', name: 'Dar al Funoon', currency: 'KWD', platform_fee_percentage: 0 },
] as const

type Organization = (typeof demoOrganizations)[number]
export type DemoCurrency = Organization['currency']

type City = {
  organization: Organization
  city: string
  country_code: string
  timezone: string
  /** Approximate offset from UTC, in hours. */
  hours: number
  /** Name of the first venue. */
  name: string
  address: string
  at: [latitude: number, longitude: number]
}

const [luna, koen, heron, harbor, eclats, lodka, kraftfeld, acai, norrsken, funoon] = demoOrganizations

const inCity = (city: string, country_code: string, timezone: string, hours: number) => ({
  city,
  country_code,
  timezone,
  hours,
})

const cities: readonly [City, ...City[]] = [
  {
    ...inCity('Madrid', 'ES', 'Europe/Madrid', 1),
    organization: luna,
    name: 'Sala Luna',
    address: 'Calle del Pez 21',
    at: [40.4247, -3.7064],
  },
  {
    ...inCity('Tokyo', 'JP', 'Asia/Tokyo', 9),
    organization: koen,
    name: '夜の庭 Night Garden',
    address: '1-8 Jinnan, Shibuya',
    at: [35.6646, 139.6987],
  },
  {
    ...inCity('London', 'GB', 'Europe/London', 0),
    organization: heron,
    name: 'The Blue Heron',
    address: '88 Camden Road',
    at: [51.5423, -0.1363],
  },
  {
    ...inCity('New York', 'US', 'America/New_York', -5),
    organization: harbor,
    name: 'Rooftop on Pier 17',
    address: '89 South Street',
    at: [40.7063, -74.0031],
  },
  {
    ...inCity('Paris', 'FR', 'Europe/Paris', 1),
    organization: eclats,
    name: 'Théâtre des Éclats',
    address: '14 rue de la Gaîté',
    at: [48.8392, 2.3241],
  },
  {
    ...inCity('Łódź', 'PL', 'Europe/Warsaw', 1),
    organization: lodka,
    name: 'Klub Łódka',
    address: 'ul. Piotrkowska 102',
    at: [51.7657, 19.4571],
  },
  {
    ...inCity('Berlin', 'DE', 'Europe/Berlin', 1),
    organization: kraftfeld,
    name: 'Kraftfeld',
    address: 'Köpenicker Straße 70',
    at: [52.5092, 13.4241],
  },
  {
    ...inCity('Barcelona', 'ES', 'Europe/Madrid', 1),
    organization: luna,
    name: "Café Nit d'Estiu",
    address: 'Carrer de Verdi 32',
    at: [41.4044, 2.1572],
  },
  {
    ...inCity('São Paulo', 'BR', 'America/Sao_Paulo', -3),
    organization: acai,
    name: 'Casa Açaí',
    address: 'Rua Augusta 1290',
    at: [-23.5558, -46.6622],
  },
  {
    ...inCity('Stockholm', 'SE', 'Europe/Stockholm', 1),
    organization: norrsken,
    name: 'Norrsken',
    address: 'Götgatan 78',
    at: [59.3105, 18.0742],
  },
  {
    ...inCity('Kuwait City', 'KW', 'Asia/Kuwait', 3),
    organization: funoon,
    name: 'Dar al Funoon',
    address: 'Al Khaleej Street',
    at: [29.3797, 47.9903],
  },
]

/** Number of locations before the generated ones. */
export const firstVenues = cities.length

const kinds: Words = ['Sala', 'Teatro', 'Café', 'Studio', 'Halle', 'Club', 'Jardín', 'Atelier']
const names: Words = [
  'Aurora',
  'Órbita',
  'Niebla',
  'Ámbar',
  'Zénith',
  'Łuna',
  'Ceniza',
  'Über',
  'Ñandú',
  'Kōji',
]
const streets: Words = [
  'Station Road',
  'Calle Mayor',
  'Rue Haute',
  'Gartenweg',
  'ulica Długa',
  'Harbour Walk',
]

// Offset of up to some eight kilometres from the centre.
const near = (degrees: number, random: Random) =>
  Math.round((degrees + random.between(-700, 700) / 10_000) * 10_000) / 10_000

/** Returns the nth place of the demo, from 0: first one in each city, then generated ones around them. */
export function demoPlace(n: number): City & { _id: string } {
  const city = cities[n % cities.length] ?? cities[0]
  const _id = `loc_demo_${n + 1}`
  if (n < cities.length) return { ...city, _id }
  const random = randomFrom(n)
  return {
    ...city,
    _id,
    name: `${random.pick(kinds)} ${random.pick(names)}`,
    address: `${random.pick(streets)} ${random.between(1, 180)}`,
    at: [near(city.at[0], random), near(city.at[1], random)],
  }
}
