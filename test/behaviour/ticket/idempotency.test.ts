import { sql } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { idempotencyKeys, isFresh, payments } from '../../../src/domain/payment/table.ts'
import { anEntry, checkOut, checkOutOverGraphql, countersOf } from '../../support/checkouts.ts'
import { anEvent, aRateNamed, channelHeaders } from '../../support/factories.ts'
import { restProblems, sharedSale } from '../../support/sale.ts'

const rate = aRateNamed('1', { availability: { sold: 0, available: 40 } })

const sale = sharedSale({ events: [anEvent({ ticket_rates: [rate] })] })
// Every payment holds one ticket: nothing was sold beyond the answers.
afterEach(async () => expect(await sale.db.$count(payments)).toBe(await countHeld()))

const countHeld = async () => (await countersOf(sale)).rate_1?.held ?? 0
const body = (count = 1) => ({
  ticket_rate_id: 'rate_1',
  tickets: Array.from({ length: count }, () => anEntry('price_1')),
})
const under = (key: string) => ({ 'idempotency-key': key })

test('checkout with a used key and the same body is replayed and sells once', async () => {
  const before = await countHeld()
  const first = await checkOut(sale, body(), under('a'))
  expect(first.headers['idempotent-replayed']).toBeUndefined()
  const again = await checkOut(sale, body(), under('a'))
  expect(again.headers['idempotent-replayed']).toBe('true')
  expect(again.json()).toEqual(first.json())
  expect((await countersOf(sale)).rate_1).toEqual({ sold: 0, held: before + 1 })
})

test('checkout with a used key is replayed for reordered fields and a closed rate', async () => {
  await checkOut(sale, body(), under('closed'))
  const [ticket] = body().tickets
  await sale.db.execute(sql`update ticket_rates set complete = true`)
  const reordered = {
    tickets: [Object.fromEntries(Object.entries(ticket ?? {}).reverse())],
    ticket_rate_id: 'rate_1',
  }
  expect((await checkOut(sale, reordered, under('closed'))).headers['idempotent-replayed']).toBe('true')
  await sale.db.execute(sql`update ticket_rates set complete = false`)
})

test('checkout with a used key and another body is refused', async () => {
  await checkOut(sale, body(), under('other-body'))
  const answer = await checkOut(sale, body(2), under('other-body'))
  expect(answer.statusCode).toBe(422)
  expect(restProblems(answer)).toEqual(['IDEMPOTENCY_KEY_REUSED idempotency_key'])
})

test('checkout keys are shared by both surfaces', async () => {
  await checkOut(sale, body(), under('rest'))
  const overGraphql = await checkOutOverGraphql(sale, body(), { idempotencyKey: 'rest' })
  expect(overGraphql).toMatchObject({ __typename: 'CheckoutPayload', replayed: true })
  const first = await checkOutOverGraphql(sale, body(), { idempotencyKey: 'b' })
  expect(first.replayed).toBe(false)
  const again = await checkOut(sale, body(), under('b'))
  expect(again.json().data.payment_id).toBe(first.payment.id)
})

test('a checkout with every field is the same request on both surfaces', async () => {
  const entry = {
    ...{ phone: '+34600000001', birthday: '1990-01-02', address: 'Calle Mayor 1', postal_code: '28013' },
    ...{ country_code: 'ES', personal_document_type: 'dni', personal_document_number: '12345678Z' },
    ...{ qr_code: 'BOTH', answers: [], supplements: [], warranty: false },
  }
  const full = {
    ...{ ...body(), tickets: [anEntry('price_1', entry)], expected_total: 22, send_resourcers: false },
    ...{ redirect_url: 'https://shop.example/', error_url: 'https://shop.example/', language: 'es' },
    ...{ referral_id: 'blog', metadata: { table: 7 } },
  }
  expect((await checkOut(sale, full, under('full'))).statusCode).toBe(200)
  const replayed = (given: typeof full) => checkOutOverGraphql(sale, given, { idempotencyKey: 'full' })
  expect(await replayed(full)).toMatchObject({ __typename: 'CheckoutPayload', replayed: true })
  for (const other of [{ language: 'fr' }, { expected_total: 23 }, { metadata: { table: 8 } }])
    expect(await replayed({ ...full, ...other })).toMatchObject({
      errors: [{ code: 'IDEMPOTENCY_KEY_REUSED', path: 'idempotencyKey' }],
    })
})

test('checkout keys do not keep refusals', async () => {
  expect((await checkOut(sale, body(50), under('c'))).statusCode).toBe(409)
  expect((await checkOut(sale, body(), under('c'))).statusCode).toBe(200)
})

test('checkout keys are scoped to a channel', async () => {
  await checkOut(sale, body(), under('scope'))
  const other = await channelHeaders(sale.db)
  const answer = await sale.rest('POST', '/tickets/checkout', {
    headers: { ...other, ...under('scope') },
    body: body(),
  })
  expect(answer.statusCode).toBe(200)
  expect(answer.headers['idempotent-replayed']).toBeUndefined()
})

test('checkout keys expire after 24 hours', async () => {
  await checkOut(sale, body(), under('old'))
  await sale.db.update(idempotencyKeys).set({ createdAt: sql`now() - interval '24 hours'` })
  const answer = await checkOut(sale, body(), under('old'))
  expect(answer.statusCode).toBe(200)
  expect(answer.headers['idempotent-replayed']).toBeUndefined()
  const again = await checkOut(sale, body(), under('old'))
  expect(again.json()).toEqual(answer.json())
})

// Columns round to milliseconds, up half of the time. In a transaction the clock stands still.
test('checkout keys expire at exactly 24 hours', async () => {
  await checkOut(sale, body(), under('exact'))
  const anHour = sql`interval '1 hour'`
  for (let time = 0; time < 40; time++)
    await sale.db.transaction(async (tx) => {
      await tx.update(idempotencyKeys).set({ createdAt: sql`now() - 24 * ${anHour}` })
      expect(await tx.$count(idempotencyKeys, isFresh)).toBe(0)
      await tx.update(idempotencyKeys).set({ createdAt: sql`now() - 23 * ${anHour}` })
      expect(await tx.$count(idempotencyKeys, isFresh)).toBeGreaterThan(0)
    })
})

test.each(['', 'with space', 'é', 'x'.repeat(256)])('checkout with the key %j is refused', async (key) => {
  const answer = await checkOut(sale, body(), { 'idempotency-key': Buffer.from(key).toString('latin1') })
  expect(answer.statusCode).toBe(400)
  expect(restProblems(answer)).toEqual(['INVALID idempotency-key'])
})
