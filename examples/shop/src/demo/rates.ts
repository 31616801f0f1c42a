import type { DemoCurrency } from './places.ts'
import type { Random } from './random.ts'

// Rates as a catalogue file has them; all that a rate may have is in `npm run import -- --schema`.

type Price = {
  _id?: string
  name: string
  price: number
  valid_until?: string | null
  quantity?: number
  includes?: string
  additional_info?: string
  fee_type?: 'percentage' | 'fixed'
  fee_quantity?: number
}
type Supplement = {
  _id?: string
  label: string
  description?: string
  product_quantity?: number
  price: number
  has_fake_price?: boolean
  fake_price?: number
}
type Question = { _id?: string; label: string; required?: boolean; items?: string[] }

/** Ticket rate of a catalogue file. */
export type Rate = {
  _id?: string
  name: string
  valid_from?: string
  complete?: boolean
  availability?: { sold: number; available: number }
  min?: number
  max?: number
  admits?: number
  transferable?: boolean
  show_all_prices?: boolean
  prices: Price[]
  supplements?: Supplement[]
  questions?: Question[]
  warranty?: { enabled: boolean; percentage: number; hours: number }
}

/** An hour in milliseconds. */
export const hour = 3_600_000

/** Input for the rates of an event: its dates, currency and price level. */
export type Sale = {
  random: Random
  currency: DemoCurrency
  /** Approximate price of the plain ticket, in euros. */
  euros: number
  start: Date
  /** Midnight of the day for which the demo is made. */
  today: Date
}

// Exchange rate of each currency, and the step to which its prices are rounded.
const money: Record<DemoCurrency, { perEuro: number; step: number }> = {
  EUR: { perEuro: 1, step: 0.5 },
  GBP: { perEuro: 0.85, step: 0.5 },
  USD: { perEuro: 1.1, step: 0.5 },
  JPY: { perEuro: 160, step: 100 },
  PLN: { perEuro: 4.2, step: 1 },
  BRL: { perEuro: 6, step: 1 },
  SEK: { perEuro: 11, step: 5 },
  KWD: { perEuro: 0.33, step: 0.25 },
}

const plus = (date: Date, hours: number) => new Date(date.getTime() + hours * hour).toISOString()

function toPrice({ currency }: Pick<Sale, 'currency'>, euros: number): number {
  const { perEuro, step } = money[currency]
  return Math.max(1, Math.round((euros * perEuro) / step)) * step
}

// Early bird has ended, Regular ends the day before the event, Last call follows.
const steps = (sale: Sale): Price[] => [
  {
    name: 'Early bird',
    price: toPrice(sale, sale.euros * 0.7),
    valid_until: plus(sale.today, -72),
    fee_quantity: 8,
  },
  {
    name: 'Regular',
    price: toPrice(sale, sale.euros),
    valid_until: plus(sale.start, -24),
    includes: 'One entrance',
    fee_quantity: 8,
  },
  {
    name: 'Last call',
    price: toPrice(sale, sale.euros * 1.25),
    includes: 'One entrance',
    additional_info: 'Until the doors close',
    fee_quantity: 8,
  },
]

const places = ({ random }: Sale, capacity: number) => {
  const sold = random.between(0, Math.floor(capacity * 0.6))
  return { sold, available: capacity - sold }
}

const howHeard = {
  label: 'How did you hear about us?',
  items: ['A friend', 'A poster', 'The radio', 'The internet'],
}
const shirtSize = { label: 'T-shirt size', required: true, items: ['S', 'M', 'L', 'XL'] }
const diet = { label: 'Anything the kitchen should know?' }

/** Rate with three price steps, the first of them past, and two supplements. */
export const entrance = (sale: Sale): Rate => ({
  name: 'Entrance',
  valid_from: plus(sale.today, -30 * 24),
  availability: places(sale, sale.random.between(20, 60) * 10),
  max: 8,
  prices: steps(sale),
  supplements: [
    { label: 'Cloakroom', price: toPrice(sale, 2.5) },
    {
      label: 'Two drinks of the house',
      description: 'Vermouth or lemonade, handed out at the bar',
      product_quantity: 2,
      price: toPrice(sale, 6),
      has_fake_price: true,
      fake_price: toPrice(sale, 8),
    },
  ],
  questions: [howHeard],
  warranty: { enabled: true, percentage: 8, hours: 48 },
})

// Places sold elsewhere are not counted by price: from twenty on the step is over by date, below none is sold.
const firstTwenty = 20

/** Rate whose first price has a quantity, with fixed fees and a required question. */
export function front(sale: Sale): Rate {
  const name = sale.random.pick(['Front row', 'Balcony', 'Terrace'])
  const taken = places(sale, sale.random.between(4, 9) * 10)
  const isOver = taken.sold >= firstTwenty
  const availability = isOver ? taken : { sold: 0, available: taken.sold + taken.available }
  const seat = {
    includes: 'A seat, a welcome drink and a T-shirt',
    fee_type: 'fixed' as const,
    fee_quantity: toPrice(sale, 1.5),
  }
  return {
    name,
    valid_from: plus(sale.today, -20 * 24),
    availability,
    max: 4,
    prices: [
      {
        ...seat,
        name: 'First twenty',
        price: toPrice(sale, sale.euros * 1.8),
        quantity: firstTwenty,
        valid_until: isOver ? plus(sale.today, -48) : null,
      },
      { ...seat, name: 'Regular', price: toPrice(sale, sale.euros * 2.2) },
    ],
    supplements: [{ label: 'Poster, signed', price: toPrice(sale, 12) }],
    questions: [shirtSize, diet],
    warranty: { enabled: true, percentage: 10.5, hours: 24 },
  }
}

/** Rate for groups of four to ten. */
export const group = (sale: Sale): Rate => ({
  name: 'Table of friends',
  availability: places(sale, 80),
  min: 4,
  max: 10,
  prices: [{ name: 'A seat at the table', price: toPrice(sale, sale.euros * 0.85), fee_quantity: 5 }],
  supplements: [{ label: 'Plate to share', price: toPrice(sale, 4) }],
  questions: [diet],
})

/** Rate of which each ticket admits four. */
export const table = (sale: Sale): Rate => ({
  name: 'Table for four',
  availability: places(sale, 20),
  max: 2,
  admits: 4,
  transferable: false,
  prices: [{ name: 'The whole table', price: toPrice(sale, sale.euros * 3.4), fee_quantity: 5 }],
  supplements: [{ label: 'Plate to share', price: toPrice(sale, 4) }],
  questions: [diet],
})

const soldOut = (sale: Sale): Rate => ({
  name: 'Super early bird',
  availability: { sold: 50, available: 0 },
  prices: [{ name: 'Super early bird', price: toPrice(sale, sale.euros * 0.5), fee_quantity: 8 }],
})
const closed = (sale: Sale): Rate => ({
  name: 'Season pass holders',
  complete: true,
  availability: { sold: 12, available: 28 },
  prices: [{ name: 'Pass holder', price: toPrice(sale, sale.euros * 0.6) }],
})
const notYetOnSale = (sale: Sale): Rate => ({
  name: 'Last release',
  valid_from: plus(sale.start, -12),
  availability: { sold: 0, available: 60 },
  prices: [{ name: 'Last release', price: toPrice(sale, sale.euros * 1.5), fee_quantity: 8 }],
})
const guestList = (): Rate => ({
  name: 'Guest list',
  availability: { sold: 9, available: 31 },
  max: 2,
  prices: [{ name: 'Free', price: 0, additional_info: 'Be there in the first hour' }],
  questions: [{ label: 'Whose guest are you?', required: true }],
})
const livestream = (sale: Sale): Rate => ({
  name: 'Livestream',
  prices: [
    {
      name: 'One household',
      price: toPrice(sale, 7),
      includes: 'A week to watch it again',
      fee_quantity: 4,
    },
  ],
})
const oneAtATime = (sale: Sale): Rate => ({
  name: 'Under 26',
  availability: places(sale, 100),
  show_all_prices: false,
  prices: steps({ ...sale, euros: sale.euros * 0.6 }),
})

/** Kinds of the fourth rate of an event, each in another state. */
export const oddRates = [livestream, soldOut, guestList, closed, oneAtATime, notYetOnSale] as const
