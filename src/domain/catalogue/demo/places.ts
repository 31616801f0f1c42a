import { type Random, randomFrom } from './random.ts'

export const demoOrganizations = [
  { _id: 'org_demo_luna', name: 'Sala Luna', currency: 'EUR', platform_fee_percentage: 5 },
  { _id: 'org_demo_koen', name: 'Kōen Live', currency: 'JPY', platform_fee_percentage: 6 },
  { _id: 'org_demo_heron', name: 'Blue Heron Presents', currency: 'GBP', platform_fee_percentage: 7.5 },
  { _id: 'org_demo_harbor', name: 'Harbor Lights', currency: 'USD', platform_fee_percentage: 8 },
  { _id: 'org_demo_eclats', name: 'Les Éclats', currency: 'EUR', platform_fee_percentage: 4.5 },
  { _id: 'org_demo_lodka', name: 'Klub Łódka', currency: 'PLN', platform_fee_percentage: 4 },
  { _id: 'org_demo_kraftfeld', name: 'Kraftfeld e.V.', currency: 'EUR', platform_fee_percentage: 3 },
  { _id: 'org_demo_acai', name: 'Casa Açaí', currency: 'BRL', platform_fee_percentage: 10 },
  { _id: 'org_demo_norrsken', name: 'Norrsken Scenkonst', currency: 'SEK', platform_fee_percentage: 2.25 },
  { _id: 'org_demo_funoon', name: 'Dar al Funoon', currency: 'KWD', platform_fee_percentage: 0 },
] as const

type Organization = (typeof demoOrganizations)[number]
export type DemoCurrency = Organization['currency']

type City = {
  organization: Organization['_id']
  currency: DemoCurrency
  city: string
  country: string
  timezone: string
  /** Approximate offset from UTC, in hours. */
  hours: number
  /** Name of the first venue. */
  venue: string
  address: string
  at: [latitude: number, longitude: number]
}

const inEurope = (city: string, country: string, timezone = `Europe/${city}`) => ({
  currency: 'EUR' as const,
  city,
  country,
  timezone,
  hours: 1,
})

const cities: readonly [City, ...City[]] = [
  {
    ...inEurope('Madrid', 'ES'),
    organization: 'org_demo_luna',
    venue: 'Sala Luna',
    address: 'Calle del Pez 21',
    at: [40.4247, -3.7064],
  },
  {
    organization: 'org_demo_koen',
    currency: 'JPY',
    city: 'Tokyo',
    country: 'JP',
    timezone: 'Asia/Tokyo',
    hours: 9,
    venue: '夜の庭 Night Garden',
    address: '1-8 Jinnan, Shibuya',
    at: [35.6646, 139.6987],
  },
  {
    ...inEurope('London', 'GB'),
    organization: 'org_demo_heron',
    currency: 'GBP',
    hours: 0,
    venue: 'The Blue Heron',
    address: '88 Camden Road',
    at: [51.5423, -0.1363],
  },
  {
    organization: 'org_demo_harbor',
    currency: 'USD',
    city: 'New York',
    country: 'US',
    timezone: 'America/New_York',
    hours: -5,
    venue: 'Rooftop on Pier 17',
    address: '89 South Street',
    at: [40.7063, -74.0031],
  },
  {
    ...inEurope('Paris', 'FR'),
    organization: 'org_demo_eclats',
    venue: 'Théâtre des Éclats',
    address: '14 rue de la Gaîté',
    at: [48.8392, 2.3241],
  },
  {
    ...inEurope('Łódź', 'PL', 'Europe/Warsaw'),
    organization: 'org_demo_lodka',
    currency: 'PLN',
    venue: 'Klub Łódka',
    address: 'ul. Piotrkowska 102',
    at: [51.7657, 19.4571],
  },
  {
    ...inEurope('Berlin', 'DE'),
    organization: 'org_demo_kraftfeld',
    venue: 'Kraftfeld',
    address: 'Köpenicker Straße 70',
    at: [52.5092, 13.4241],
  },
  {
    ...inEurope('Barcelona', 'ES', 'Europe/Madrid'),
    organization: 'org_demo_luna',
    venue: "Café Nit d'Estiu",
    address: 'Carrer de Verdi 32',
    at: [41.4044, 2.1572],
  },
  {
    organization: 'org_demo_acai',
    currency: 'BRL',
    city: 'São Paulo',
    country: 'BR',
    timezone: 'America/Sao_Paulo',
    hours: -3,
    venue: 'Casa Açaí',
    address: 'Rua Augusta 1290',
    at: [-23.5558, -46.6622],
  },
  {
    ...inEurope('Stockholm', 'SE'),
    organization: 'org_demo_norrsken',
    currency: 'SEK',
    venue: 'Norrsken',
    address: 'Götgatan 78',
    at: [59.3105, 18.0742],
  },
  {
    organization: 'org_demo_funoon',
    currency: 'KWD',
    city: 'Kuwait City',
    country: 'KW',
    timezone: 'Asia/Kuwait',
    hours: 3,
    venue: 'Dar al Funoon',
    address: 'Al Khaleej Street',
    at: [29.3797, 47.9903],
  },
]

/** Number of locations before the generated ones. */
export const firstVenues = cities.length

const kinds = ['Sala', 'Teatro', 'Café', 'Studio', 'Halle', 'Club', 'Jardín', 'Atelier'] as const
const names = [
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
] as const
const streets = [
  'Station Road',
  'Calle Mayor',
  'Rue Haute',
  'Gartenweg',
  'ulica Długa',
  'Harbour Walk',
] as const

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
    venue: `${random.pick(kinds)} ${random.pick(names)}`,
    address: `${random.pick(streets)} ${random.between(1, 180)}`,
    at: [near(city.at[0], random), near(city.at[1], random)],
  }
}
