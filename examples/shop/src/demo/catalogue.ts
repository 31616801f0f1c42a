import { firstShows, type Show } from './first-shows.ts'
import { demoOrganizations, demoPlace, firstVenues } from './places.ts'
import { type Random, randomFrom } from './random.ts'
import { entrance, front, group, hour, oddRates, type Rate, table } from './rates.ts'
import { artists, series, themes } from './themes.ts'

const eventsPerPlace = 20

/** Number of events of the demo, unless another is asked for. */
export const demoEvents = 60

/** Where the posters are below the address of the service. */
export const posterPath = '/shop/posters'

type Wanted = {
  events?: number
  now?: Date
  /** Address of the service; that of `npm start` by default. */
  url?: string
}

/** Generates a demo catalogue, the same for the same count and day. Each event depends only on its number, so
 *  a larger demo contains the smaller one. Every event has four rates; the fourth takes turns between
 *  unlimited, sold out, free, closed, with hidden price steps, and not yet on sale. */
export function demoCatalogue({ events: count = demoEvents, now = new Date(), url }: Wanted = {}) {
  const today = new Date(now.toISOString().slice(0, 10))
  const placeCount = firstVenues + Math.ceil(count / eventsPerPlace)
  return {
    organizations: demoOrganizations.map((organization) => ({
      ...organization,
      ...offersOf(organization._id),
    })),
    locations: Array.from({ length: placeCount }, (_, n) => demoLocation(n)),
    events: Array.from({ length: count }, (_, n) => demoEvent(n, today, url)),
  }
}

// A code for everybody, and one that takes a fixed amount off a few tickets. Buyers of all languages see their names.
const offersOf = (organizationId: string) =>
  organizationId === 'org_demo_luna'
    ? {
        discounts: [
          { _id: 'dsc_demo_1', code: 'VERMUT10', name: '−10 %', percentage: 10, quantity: 500 },
          { _id: 'dsc_demo_2', code: 'AMIGOS', name: '−3 €', amount: 3, max_per_checkout: 4 },
        ],
      }
    : {}

function demoLocation(n: number) {
  const { organization, at, hours: _, ...location } = demoPlace(n)
  return { ...location, organization_id: organization._id, latitude: at[0], longitude: at[1] }
}

function showOf(n: number, random: Random) {
  const first = firstShows[n]
  const place = demoPlace(first ? n : random.between(0, firstVenues + Math.floor(n / eventsPerPlace)))
  return { show: first ?? madeUpShow(n, place.city, random), place, isFirst: first !== undefined }
}

/** Returns what the nth event of the demo is about, from 0, and where it takes place. */
export function demoShow(n: number): { show: Show; venue: string; city: string } {
  const { show, place } = showOf(n, randomFrom(n))
  return { show, venue: place.name, city: place.city }
}

function demoEvent(n: number, today: Date, url = 'http://127.0.0.1:4000') {
  const random = randomFrom(n)
  const { show, place, isFirst } = showOf(n, random)
  const day = isFirst ? 2 + n : random.between(14, 364)
  const start = new Date(today.getTime() + (day * 24 + random.between(18, 22) - place.hours) * hour)
  const sale = { random, currency: place.organization.currency, euros: show.euros, start, today }
  const odd = oddRates[n % oddRates.length] ?? oddRates[0]
  const _id = `evt_demo_${n + 1}`
  const poster = `${url}${posterPath}/${_id}.svg`
  return {
    _id,
    name: show.name,
    description: show.description,
    age: show.age ?? null,
    outfit: show.outfit ?? null,
    ambiences: show.ambiences,
    music_genres: show.genres,
    artists: show.artists.map((name) => ({ name, image_url: poster })),
    display_date: start.toISOString(),
    start_date: start.toISOString(),
    end_date: new Date(start.getTime() + random.between(2, 6) * hour).toISOString(),
    organization_id: place.organization._id,
    image_url: poster,
    location_id: place._id,
    // Nothing serves a widget of the demo yet.
    iframe: null,
    ticket_rates: [entrance(sale), front(sale), n % 2 === 0 ? table(sale) : group(sale), odd(sale)].map(
      (rate, i) => withIds(rate, `${n + 1}_${i + 1}`),
    ),
  }
}

/** An event of the first organizer that begins in a few hours, so that its doors are open. */
export function demoTonight(now = new Date(), url = 'http://127.0.0.1:4000') {
  const start = new Date(Math.ceil(now.getTime() / hour) * hour + 3 * hour)
  const { ticket_rates: _, ...event } = demoEvent(0, now, url)
  const price = { _id: 'price_demo_tonight', name: 'At the door', price: 6 }
  const rate = { _id: 'rate_demo_tonight', name: 'Entrance', availability: { sold: 14, available: 46 } }
  return {
    ...event,
    _id: 'evt_demo_tonight',
    name: 'Open rehearsal: Los Ñandúes',
    description:
      'The band of the next big night tries its new songs, and starts again where it must. Doors are open.',
    display_date: null,
    start_date: start.toISOString(),
    end_date: new Date(start.getTime() + 3 * hour).toISOString(),
    ticket_rates: [{ ...rate, prices: [price] }],
  }
}

function madeUpShow(n: number, city: string, random: Random): Show {
  const { words, about, genres, ambiences, age, euros } = random.pick(themes)
  const cast = random.pickSome(artists, random.between(1, 3))
  return {
    name: `${random.pick(series)}: ${random.pick(words)} in ${city}${n < 200 ? '' : ` no. ${n + 1}`}`,
    description: `${about} With ${cast.join(', ')}.`,
    artists: cast,
    genres,
    ambiences,
    age,
    euros: euros + random.between(-3, 6),
  }
}

// Short, stable identifiers for people to type and for tests to refer to.
const withIds = (rate: Rate, id: string): Rate => ({
  ...rate,
  _id: `rate_demo_${id}`,
  prices: rate.prices.map((price, i) => ({ ...price, _id: `price_demo_${id}_${i + 1}` })),
  supplements: rate.supplements?.map((supplement, i) => ({ ...supplement, _id: `sup_demo_${id}_${i + 1}` })),
  questions: rate.questions?.map((question, i) => ({ ...question, _id: `que_demo_${id}_${i + 1}` })),
})
