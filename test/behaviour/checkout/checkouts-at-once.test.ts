// Runs in: postgres

import { sql } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { idempotencyKeys } from '../../../src/domain/payment/table.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { anEntry, checkOut, checkOutOverGraphql, countersOf } from '../../support/checkouts.ts'
import { toItems } from '../../support/contract-input.ts'
import {
  aCatalogue,
  anEvent,
  anOrganization,
  aPrice,
  aRate,
  aRateNamed,
  channelHeaders,
} from '../../support/factories.ts'
import { restProblems, sharedSale } from '../../support/sale.ts'

// Concurrent checkouts of many rates, on either database.

const numbers = Array.from({ length: 12 }, (_, index) => index)

const catalogue = aCatalogue({
  organizations: [anOrganization(), anOrganization({ _id: 'org_2', currency: 'JPY' })],
  events: numbers.map((number) =>
    anEvent({
      organization_id: number % 3 === 0 ? 'org_2' : 'org_1',
      location_id: undefined,
      ticket_rates: [
        aRateNamed(number, { availability: { sold: 0, available: 50 } }, { price: 10 + number }),
        aRate({ _id: `rate_free_${number}`, prices: [aPrice({ _id: `price_free_${number}`, price: 0 })] }),
      ],
    }),
  ),
})

const sale = sharedSale(catalogue)
beforeEach(() => sale.statements.reset())

const bodyOf = (rate: string | number, more: Record<string, unknown> = {}) => ({
  ticket_rate_id: `rate_${rate}`,
  tickets: [anEntry(`price_${rate}`, more)],
})

test('concurrent checkouts are authenticated in one statement, held in one for each organization, and counted by rate', async () => {
  const rates = numbers.flatMap((number) => [number, number])
  const before = await countersOf(sale)
  sale.statements.reset()
  const answers = await Promise.all(rates.map((rate) => checkOut(sale, bodyOf(rate))))
  expect(sale.statements).toHaveLength(3)
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(rates.map(() => 200))
  const after = await countersOf(sale)
  for (const number of numbers)
    for (const kind of ['rate', 'price']) {
      const id = `${kind}_${number}`
      expect(after[id]).toEqual({ sold: 0, held: (before[id]?.held ?? 0) + 2 })
    }
})

test('concurrent checkouts over 0 are paid together', async () => {
  const answers = await Promise.all([1, 1, 1, 2].map((rate) => checkOut(sale, bodyOf(`free_${rate}`))))
  const perRate = new Set(sale.statements).size
  expect(sale.statements.length).toBeLessThan(2 * perRate)
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
  const { rate_free_1, price_free_1, rate_free_2 } = await countersOf(sale)
  expect(rate_free_1).toEqual({ sold: 3, held: 0 })
  expect([price_free_1, rate_free_2]).toEqual([rate_free_1, { sold: 1, held: 0 }])
})

test('concurrent checkouts answer with what is stored, by the clock of the database', async () => {
  const fields = 'id status createdAt expiresAt paidAt totalAmount { amount currency } pageUrl'
  const ofTicket = 'id status activatedAt qrCode amounts { total { amount currency } }'
  const check = `mutation ($input: CheckoutInput!) { checkout(input: $input) { ... on CheckoutPayload {
    payment { ${fields} } tickets { ${ofTicket} } } } }`
  type Payment = {
    status?: string
    id?: string
    createdAt?: string
    expiresAt?: string | null
    paidAt?: string | null
  }
  const answers = await Promise.all(
    [1, 2, 'free_3'].map((rate) =>
      sale.graphql<{ checkout: { payment: Payment; tickets: { id: string }[] } }>(
        check,
        {
          input: {
            idempotencyKey: crypto.randomUUID(),
            items: toItems(`rate_${rate}`, [
              { priceId: `price_${rate}`, fullName: 'Ana', email: 'a@example.com' },
            ]),
          },
        },
        sale.channel,
      ),
    ),
  )
  for (const { data } of answers) {
    const { payment, tickets } = data?.checkout ?? { payment: {}, tickets: [] }
    const read = await sale.graphql(
      `query ($id: ID!, $ticket: ID!) { payment(id: $id) { ${fields} }
        ticket(id: $ticket) { ${ofTicket} } }`,
      { id: payment.id, ticket: tickets[0]?.id },
      sale.channel,
    )
    expect(read.data).toEqual({ payment, ticket: tickets[0] })
    const held = Date.parse(payment.expiresAt ?? '') - Date.parse(payment.createdAt ?? '')
    // What is paid is held no more.
    expect(held).toBe(payment.status === 'PAID' ? Number.NaN : 15 * 60_000)
  }
  expect(answers.map(({ data }) => data?.checkout.payment.paidAt === null)).toEqual([true, true, false])
})

test('concurrent checkouts are sold beside one whose QR code is taken', async () => {
  expect((await checkOut(sale, bodyOf(4, { qr_code: 'ONLY' }))).statusCode).toBe(200)
  const answers = await Promise.all(
    numbers.map((number) => checkOut(sale, bodyOf(number, number === 4 ? { qr_code: 'ONLY' } : {}))),
  )
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(
    numbers.map((number) => (number === 4 ? 409 : 200)),
  )
  expect(restProblems(answers[4] ?? { json: () => ({ errors: [] }) })).toEqual([
    'QR_CODE_TAKEN tickets.0.qr_code',
  ])
})

test('concurrent checkouts sell one QR code of an event once, whatever their rates', async () => {
  const answers = await Promise.all(
    [5, 'free_5'].map((rate) => checkOut(sale, bodyOf(rate, { qr_code: 'SHARED' }))),
  )
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409])
  expect(await sale.db.$count(tickets, sql`${tickets.qrCode} = 'SHARED'`)).toBe(1)
})

test('concurrent checkouts are sold beside one that does not fit, and fill a rate to its last place', async () => {
  const places = 50 - ((await countersOf(sale)).rate_6?.held ?? 0)
  const many = (count: number) => ({
    ticket_rate_id: 'rate_6',
    tickets: Array.from({ length: count }, () => anEntry('price_6')),
  })
  const answers = await Promise.all([
    checkOut(sale, many(places - 1)),
    checkOut(sale, many(2)),
    checkOut(sale, many(1)),
    checkOut(sale, bodyOf(7)),
    checkOut(sale, bodyOf(8)),
  ])
  // After the first, the second no longer fits; the third, which is small, does.
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 409, 200, 200, 200])
  expect(answers[1]?.json().errors).toMatchObject([{ code: 'SOLD_OUT', available: 0 }])
  expect((await countersOf(sale)).rate_6).toEqual({ sold: 0, held: 50 })
})

test('concurrent checkouts keep an idempotency key each, and replace one over 24 hours old', async () => {
  const rates = [0, 1, 2]
  const buy = () =>
    Promise.all(rates.map((rate) => checkOut(sale, bodyOf(rate), { 'idempotency-key': `key-${rate}` })))
  const replayed = (answers: Awaited<ReturnType<typeof buy>>) =>
    answers.map(({ statusCode, headers }) => `${statusCode} ${headers['idempotent-replayed'] ?? false}`)
  expect(replayed(await buy())).toEqual(['200 false', '200 false', '200 false'])
  expect(replayed(await buy())).toEqual(['200 true', '200 true', '200 true'])
  await sale.db.update(idempotencyKeys).set({ createdAt: sql`now() - interval '24 hours'` })
  expect(replayed(await buy())).toEqual(['200 false', '200 false', '200 false'])
  expect(replayed(await buy())).toEqual(['200 true', '200 true', '200 true'])
})

test('concurrent checkouts of two channels see only their own grants', async () => {
  const other = await channelHeaders(sale.db, 'org_2')
  const buy = (rate: number, headers: Record<string, string>) => checkOut(sale, bodyOf(rate), headers)
  const answers = await Promise.all([
    buy(0, sale.channel),
    buy(1, sale.channel),
    buy(0, other),
    buy(1, other),
  ])
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 404])
  expect(restProblems(answers[3] ?? { json: () => ({ errors: [] }) })).toEqual(['NOT_FOUND ticket_rate_id'])
  const quoted = await checkOutOverGraphql(sale, bodyOf('none'))
  expect(quoted.errors).toMatchObject([{ code: 'NOT_FOUND', path: 'items.0.ticketRateId' }])
})
