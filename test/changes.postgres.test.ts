import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordChanges } from '../src/change/record-changes.ts'
import { settlePayment } from '../src/payment/settle-payment.ts'
import { anEntry, checkedOut } from './checkouts.ts'
import { aCatalogue, anEvent, aRateOf } from './factories.ts'
import { paid } from './provider.ts'
import { openSale, type Sale } from './sale.ts'

// The feed while transactions overlap, which they do on PostgreSQL alone.

let sale: Sale
beforeAll(async () => {
  sale = await openSale(aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(10)] })] }))
})
afterAll(() => sale.close())

async function told(after: string | null) {
  const { data } = await sale.graphql<{
    changes: { nodes: { subjectId: string; type: string }[]; pageInfo: { endCursor: string | null } }
  }>(
    'query ($after: ID) { changes(after: $after) { nodes { subjectId type } pageInfo { endCursor } } }',
    { after },
    sale.integration.v2,
  )
  if (!data) throw new Error('the feed answers')
  const { nodes, pageInfo } = data.changes
  return { subjects: nodes.map(({ subjectId }) => subjectId), end: pageInfo.endCursor }
}

test('tells nothing before what may still come to be before it', async () => {
  const { payment_id } = await checkedOut(sale, {
    ticket_rate_id: 'rate_1',
    tickets: [anEntry('price_1')],
  })
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  let begun = () => {}
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve
  })
  // It has its place in the feed, and takes its time.
  const slow = sale.db.transaction(async (tx) => {
    const change = { type: 'rate.available', organizationId: 'org_1', channelId: null, data: {} } as const
    await recordChanges(tx, [{ ...change, subjectId: 'slow' }])
    begun()
    await finished
  })
  await hasBegun
  await settlePayment(sale.db, payment_id, paid(payment_id))
  const early = await told(null)
  expect(early).toEqual({ subjects: [], end: null })
  finish()
  await slow
  // Other tests have transactions on the same server, which hold the feed up while they run.
  await expect.poll(async () => (await told(early.end)).subjects.length).toBe(3)
  const all = await told(early.end)
  expect(all.subjects.slice(0, 2)).toEqual(['slow', payment_id])
  expect((await told(all.end)).subjects).toEqual([])
})
