import { percentage, places, plus, type RateInput, type Sale, steps, toPrice } from './rates.ts'

const soldOut = (sale: Sale): RateInput => ({
  name: 'Super early bird',
  type: 'limited',
  availability: { sold: 50, available: 0 },
  prices: [{ name: 'Super early bird', price: toPrice(sale, sale.euros * 0.5), ...percentage(8) }],
})
const closed = (sale: Sale): RateInput => ({
  name: 'Season pass holders',
  type: 'limited',
  complete: true,
  availability: { sold: 12, available: 28 },
  prices: [{ name: 'Pass holder', price: toPrice(sale, sale.euros * 0.6), ...percentage(0) }],
})
const notYetOnSale = (sale: Sale): RateInput => ({
  name: 'Last release',
  type: 'limited',
  valid_from: plus(sale.start, -12),
  availability: { sold: 0, available: 60 },
  prices: [{ name: 'Last release', price: toPrice(sale, sale.euros * 1.5), ...percentage(8) }],
})
const guestList = (): RateInput => ({
  name: 'Guest list',
  type: 'limited',
  availability: { sold: 9, available: 31 },
  max: 2,
  prices: [{ name: 'Free', price: 0, additional_info: 'Be there in the first hour' }],
  questions: [{ label: 'Whose guest are you?', type: 'text', required: true, items: [] }],
})
const livestream = (sale: Sale): RateInput => ({
  name: 'Livestream',
  type: 'unlimited',
  prices: [
    {
      name: 'One household',
      price: toPrice(sale, 7),
      includes: 'A week to watch it again',
      ...percentage(4),
    },
  ],
})
const oneAtATime = (sale: Sale): RateInput => ({
  name: 'Under 26',
  type: 'limited',
  availability: places(sale, 100),
  show_all_prices: false,
  prices: steps({ ...sale, euros: sale.euros * 0.6 }),
})

/** Kinds of the fourth rate of an event, each in another state. */
export const oddRates = [livestream, soldOut, guestList, closed, oneAtATime, notYetOnSale] as const
