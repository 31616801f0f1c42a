import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { idempotencyKeys, isFresh, payments } from '../../../src/domain/payment/table.ts'
import { anEntry, checkOut, checkOutOverGraphql, countersOf } from '../../support/checkouts.ts'
import { aCatalogue, anEvent, aPrice, aRate, channelHeaders } from '../../support/factories.ts'
import { openSale, restProblems, type Sale } from '../../support/sale.ts'

const rate = aRate({
  _id: 'rate_1',
  prices: [aPrice({ _id: 'price_1' })],
  availability: { sold: 0, available: 5 },
})

let sale: Sale
beforeAll(async () => {
  sale = await openSale(aCatalogue({ events: [anEvent({ ticket_rates: [rate] })] }))
})
afterAll(() => sale.close())

const body = (count = 1) => ({
  ticket_rate_id: 'rate_1',
  tickets: Array.from({ length: count }, () => anEntry('price_1')),
})
const under = (key: string) => ({ 'idempotency-key': key })

test('answers the same key and body with the first answer, and sells once', async () => {
  const first = await checkOut(sale, body(), under('a'))
  expect(first.headers['idempotent-replayed']).toBeUndefined()
  const again = await checkOut(sale, body(), under('a'))
  expect(again.headers['idempotent-replayed']).toBe('true')
  expect(again.json()).toEqual(first.json())
  expect((await countersOf(sale)).rate_1).toEqual({ sold: 0, held: 1 })
})

test('answers so even when the order of the fields differs, and the rate is closed by then', async () => {
  const [ticket] = body().tickets
  await sale.db.execute(sql`update ticket_rates set complete = true`)
  const reordered = {
    tickets: [Object.fromEntries(Object.entries(ticket ?? {}).reverse())],
    ticket_rate_id: 'rate_1',
  }
  expect((await checkOut(sale, reordered, under('a'))).headers['idempotent-replayed']).toBe('true')
  await sale.db.execute(sql`update ticket_rates set complete = false`)
})

test('refuses the same key with another body', async () => {
  const answer = await checkOut(sale, body(2), under('a'))
  expect(answer.statusCode).toBe(422)
  expect(restProblems(answer)).toEqual(['IDEMPOTENCY_KEY_REUSED idempotency_key'])
})

test('knows the key of the one surface on the other', async () => {
  const overGraphql = await checkOutOverGraphql(sale, body(), { idempotencyKey: 'a' })
  expect(overGraphql).toMatchObject({ __typename: 'CheckoutPayload', idempotentReplayed: true })
  const first = await checkOutOverGraphql(sale, body(), { idempotencyKey: 'b' })
  expect(first.idempotentReplayed).toBe(false)
  const again = await checkOut(sale, body(), under('b'))
  expect(again.json().data.payment_id).toBe(first.payment.id)
})

test('keeps no refusal', async () => {
  expect((await checkOut(sale, body(50), under('c'))).statusCode).toBe(409)
  expect((await checkOut(sale, body(), under('c'))).statusCode).toBe(200)
})

test('keeps the keys of two channels apart', async () => {
  const other = await channelHeaders(sale.db)
  const answer = await sale.rest('POST', '/tickets/checkout', {
    headers: { ...other, ...under('a') },
    body: body(),
  })
  expect(answer.statusCode).toBe(200)
  expect(answer.headers['idempotent-replayed']).toBeUndefined()
})

test('forgets a key after 24 hours', async () => {
  await sale.db.update(idempotencyKeys).set({ createdAt: sql`now() - interval '24 hours'` })
  const answer = await checkOut(sale, body(), under('a'))
  expect(answer.statusCode).toBe(200)
  expect(answer.headers['idempotent-replayed']).toBeUndefined()
  const again = await checkOut(sale, body(), under('a'))
  expect(again.json()).toEqual(answer.json())
})

// Columns round to milliseconds, half of the time up. Within one transaction the clock stands still.
test('forgets a key as soon as it is 24 hours old', async () => {
  const anHour = sql`interval '1 hour'`
  for (let time = 0; time < 40; time++)
    await sale.db.transaction(async (tx) => {
      await tx.update(idempotencyKeys).set({ createdAt: sql`now() - 24 * ${anHour}` })
      expect(await tx.$count(idempotencyKeys, isFresh)).toBe(0)
      await tx.update(idempotencyKeys).set({ createdAt: sql`now() - 23 * ${anHour}` })
      expect(await tx.$count(idempotencyKeys, isFresh)).toBeGreaterThan(0)
    })
})

test.each(['', 'with space', 'é', 'x'.repeat(256)])('refuses the key %j', async (key) => {
  const answer = await checkOut(sale, body(), { 'idempotency-key': Buffer.from(key).toString('latin1') })
  expect(answer.statusCode).toBe(400)
  expect(restProblems(answer)).toEqual(['INVALID idempotency-key'])
})

test('made no payment that it did not answer with', async () => {
  expect(await sale.db.$count(payments)).toBe((await countersOf(sale)).rate_1?.held)
})
