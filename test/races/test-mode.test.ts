import { afterEach, expect, test } from 'vitest'
import { anEntry, type Checkout, checkOut, countersOf } from '../support/checkouts.ts'
import { aRateOf } from '../support/factories.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { inTestMode } from '../support/modes.ts'
import { openPageBuyer } from '../support/payment-page-buyer.ts'
import { openSale, type Sale } from '../support/sale.ts'

let sale: Sale
afterEach(async () => {
  expect(await brokenInvariants(sale.db)).toEqual([])
  await sale.close()
})

const places = 20
const order = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] }

test('both modes of a rate sell out at once, each to its own last place', async () => {
  sale = await openSale({ rates: [aRateOf(places)] })
  const testing = await inTestMode(sale)
  const buy = async (seller: Sale) => {
    const answer = await checkOut(seller, order)
    if (answer.statusCode !== 200) return answer.json<{ code: string }>().code
    const paid = await openPageBuyer(seller).pay(answer.json<{ data: Checkout }>().data)
    return paid.statusCode < 400 ? 'paid' : `page ${paid.statusCode}`
  }
  const outcomes = await Promise.all(
    Array.from({ length: 4 * places }, async (_, index) => {
      const isTest = index % 2 === 0
      return `${isTest ? 'test' : 'live'} ${await buy(isTest ? testing : sale)}`
    }),
  )
  const countOf = (outcome: string) => outcomes.filter((one) => one === outcome).length
  expect({ live: countOf('live paid'), test: countOf('test paid') }).toEqual({ live: places, test: places })
  expect([countOf('live SOLD_OUT'), countOf('test SOLD_OUT')]).toEqual([places, places])
  const all = { sold: places, held: 0 }
  expect(await countersOf(sale)).toEqual({
    ...{ rate_1: all, price_1: all },
    ...{ 'test/rate_1': all, 'test/price_1': all },
  })
})
