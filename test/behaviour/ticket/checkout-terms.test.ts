// Runs in: postgres, slow-forms

import { desc, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, test } from 'vitest'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { anEntry, checkOut, mustCheckOut } from '../../support/checkouts.ts'
import {
  aCatalogue,
  anEvent,
  anOrganization,
  aPrice,
  aQuestion,
  aRate,
  aSupplement,
} from '../../support/factories.ts'
import { inTestMode } from '../../support/modes.ts'
import { restProblems, sharedSale } from '../../support/sale.ts'

// Says `complete` and `quantity`, because an import keeps what its file leaves out.
const rate = aRate({
  _id: 'rate_1',
  complete: false,
  prices: [
    aPrice({ _id: 'price_1', price: 20, fee_quantity: 0, quantity: null }),
    aPrice({ _id: 'price_2', price: 30, fee_quantity: 0, quantity: null }),
  ],
  supplements: [aSupplement({ _id: 'sup_1', price: 5 })],
  questions: [aQuestion({ _id: 'que_1' })],
})
const catalogue = () =>
  aCatalogue({
    organizations: [anOrganization({ platform_fee_percentage: 0 })],
    events: [
      anEvent({ _id: 'evt_1', ticket_rates: [rate] }),
      anEvent({ _id: 'evt_2', ticket_rates: [aRate({ _id: 'rate_2' })] }),
    ],
  })

const entry = anEntry('price_1', { supplements: [{ supplement_id: 'sup_1' }] })
const body = { ticket_rate_id: 'rate_1', tickets: [entry] }

const sale = sharedSale(catalogue())

const run = (statement: string) => sale.db.execute(sql.raw(statement))

/** Checks out. Returns the total or the problems. */
async function sell(on = sale) {
  const answer = await checkOut(on, body)
  return answer.statusCode === 200 ? answer.json().data.total_amount : restProblems(answer)
}

beforeEach(async () => {
  await importCatalogue(sale.db, catalogue())
  expect(await sell()).toBe(25)
})

describe('what is listed counts from the next checkout', () => {
  test.each([
    ['another price', `update prices set amount = 2200 where id = 'price_1'`, 27],
    ['another supplement', `update supplements set amount = 600 where id = 'sup_1'`, 26],
    [
      'a required question',
      `update questions set required = true where id = 'que_1'`,
      ['ANSWER_REQUIRED tickets.0.answers'],
    ],
    ['a removed price', `update prices set removed = true where id = 'price_1'`, 35],
    [
      'a removed supplement',
      `update supplements set removed = true where id = 'sup_1'`,
      ['SUPPLEMENT_NOT_IN_RATE tickets.0.supplements.0.supplement_id'],
    ],
    [
      'a closed rate',
      `update ticket_rates set complete = true where id = 'rate_1'`,
      ['RATE_CLOSED ticket_rate_id'],
    ],
    [
      'an event that has begun',
      `update events set start_date = now() - interval '1 hour' where id = 'evt_1'`,
      ['EVENT_STARTED ticket_rate_id'],
    ],
  ])('%s', async (_what, change, outcome) => {
    await run(change)
    expect(await sell()).toEqual(outcome)
  })
})

test.each([
  ['rate', 'rate_1', ['SOLD_OUT tickets']],
  ['price', 'price_1', 35],
])('stock is read for each checkout: a %s that is used up', async (_what, id, outcome) => {
  await run(`update stock set capacity = held where id = '${id}'`)
  expect(await sell()).toEqual(outcome)
})

test('the organization is read for each checkout', async () => {
  await run('update organizations set platform_fee_percentage = 10')
  expect(await sell()).toBe(25)
  const [last] = await sale.db.select().from(tickets).orderBy(desc(tickets.id)).limit(1)
  expect(last?.platformFeeAmount).toBe(200)
})

test('checkouts in both modes have what is listed, and each its own stock', async () => {
  const tested = await inTestMode(sale)
  expect(await sell(tested)).toBe(25)
  await run(`update stock set capacity = held where id = 'price_1' and mode = 'live'`)
  expect(await sell()).toBe(35)
  expect(await sell(tested)).toBe(25)
  await run(`update prices set amount = 2200 where id = 'price_1'`)
  expect(await sell(tested)).toBe(27)
})

test('a price that has no stock in one mode is listed in the other', async () => {
  const tested = await inTestMode(sale)
  await run(`delete from stock where id = 'price_2' and mode = 'test'`)
  await run(`update prices set removed = true where id = 'price_1'`)
  // Without a price, as decision 225 says.
  expect(await sell(tested)).toEqual(['RATE_CLOSED ticket_rate_id'])
  expect(await sell()).toBe(35)
})

test('a checkout is never priced by less than the last commit before it, or by parts of two', async () => {
  let committed = 0
  let checkouts = 0
  let goesOn = true
  async function change() {
    for (let next = 1; next <= 40 || checkouts <= 10; next++) {
      await sale.db.transaction(async (tx) => {
        await tx.execute(sql`update prices set amount = ${2000 + next} where id = 'price_1'`)
        await tx.execute(sql`update supplements set amount = ${500 + next * 100} where id = 'sup_1'`)
      })
      committed = next
    }
    goesOn = false
  }
  async function buy() {
    while (goesOn) {
      const lastCommitted = committed
      const { total_amount } = await mustCheckOut(sale, body)
      // Cents of the price and euros of the supplement tell which change each of them is of.
      const total = Math.round(total_amount * 100) - 2500
      expect(total % 101).toBe(0)
      expect(total / 101).toBeGreaterThanOrEqual(lastCommitted)
      checkouts++
    }
  }
  await run(`update stock set capacity = null`)
  await Promise.all([change(), buy(), buy(), buy(), buy()])
  expect(checkouts).toBeGreaterThan(10)
})
