import { expect, test } from 'vitest'
import { plans } from '../../bench/jobs.ts'
import type { LoadResult } from '../../bench/load.ts'
import { paymentPlans } from '../../bench/payment-jobs.ts'
import { runPayments } from '../../bench/payment-load.ts'
import { fastestOf, paymentProblem, paymentSide } from '../../bench/payment-sides.ts'
import { withHoldCheck } from '../../bench/sides.ts'
import { duePaymentsOf, payingFive, roundOf, serve, sideOf } from '../../support/bench-doubles.ts'

test('each payment is requested once, with one request in flight per buyer', async () => {
  const seen: string[] = []
  let open = 0
  let most = 0
  const port = await serve((request, body) => {
    seen.push(`${request.method} ${request.url} ${body}`)
    most = Math.max(most, ++open)
    setTimeout(() => open--, 5)
    return { status: 303, waitMs: 5 }
  })
  const due = duePaymentsOf(40)
  const result = await runPayments({ port, clients: 8, seconds: 30, provider: 'sandbox', due })
  expect(seen.toSorted()).toEqual(due.map(({ token }) => `POST /pay/${token} action=pay`).toSorted())
  expect(most).toBe(8)
  expect(result).toMatchObject({ answers: 40, statuses: { 303: 40 }, ranOut: true })
})

test('Stripe events are signed, one per payment', async () => {
  const bodies: string[] = []
  const signatures = new Set<string>()
  const port = await serve((request, body) => {
    signatures.add(String(request.headers['stripe-signature']))
    const { type, data } = JSON.parse(body)
    bodies.push(`${request.url} ${type} ${data.object.metadata.payment_id} ${data.object.amount_total}`)
    return { status: 200 }
  })
  await runPayments({ port, clients: 2, seconds: 30, provider: 'stripe', due: duePaymentsOf(3) })
  expect(bodies.toSorted()).toEqual(
    [0, 1, 2].map((n) => `/webhooks/stripe checkout.session.completed pay_${n} 1944`),
  )
  expect(signatures.size).toBe(3)
  for (const signature of signatures) expect(signature).toMatch(/^t=\d+,v1=[0-9a-f]{64}/)
})

const result = (more: Partial<LoadResult>): LoadResult => ({
  ...{ answers: 9, seconds: 1, p50: 1, p99: 2, statuses: { 303: 9 }, shortest: 0, longest: 0, ranOut: false },
  ...more,
})
test.each([
  [{}, null],
  [{ statuses: { 303: 8, 503: 1 } }, 'answers other than 303: {"503":1}'],
  [{ statuses: {} }, 'answers other than 303: {}'],
  // A 200 shows the payment page again: the buyer has not paid.
  [{ statuses: { 200: 9 } }, 'answers other than 303: {"200":9}'],
  [{ shortest: 10, longest: 900 }, 'answers of 10 and of 900 bytes'],
  [{ ranOut: true }, 'all payments that were due were paid before the time was over'],
] satisfies [Partial<LoadResult>, string | null][])(
  'responses to payments are checked: %j',
  (more, problem) => {
    expect(paymentProblem('sandbox', result(more))).toBe(problem)
  },
)

test.each([
  [[0, 5], null],
  [[0, 4], 'gateway: 5 done, but written: payments 4'],
])('payments counted as %j before and after are compared with the requests', async (counts, problem) => {
  const port = await serve(() => ({ status: 303 }))
  const left = [...counts]
  const side = withHoldCheck(paymentSide('gateway', payingFive(port)), async () => ({
    payments: left.shift() ?? 0,
  }))
  expect(await side.run(1)).toMatchObject({ requests: 5, problem })
})

test('the yardstick is the fastest candidate', async () => {
  const slow = sideOf('slow', 64, [roundOf(10), roundOf(1000)])
  const fast = sideOf('fast', 4, [roundOf(30, { seconds: 2 }), roundOf(7), roundOf(8)])
  const side = fastestOf([slow, fast])
  expect(await side.run(1)).toMatchObject({ requests: 30, problem: null })
  expect([await side.run(1), await side.run(1)]).toMatchObject([{ requests: 7 }, { requests: 8 }])
  expect(side).toMatchObject({ clients: 4 })
  // A failure of any candidate counts, even of a slow one.
  const broken = fastestOf([
    sideOf('slow', 64, [roundOf(1, { problem: 'slow: 1 done, but written: payments 0' })]),
    sideOf('fast', 4, [roundOf(30)]),
  ])
  expect(await broken.run(1)).toMatchObject({ problem: 'slow: 1 done, but written: payments 0' })
})

test('payment jobs have unique names, and those through PgBouncer need a PgBouncer', () => {
  const names = (hasPgbouncer: boolean) => paymentPlans({ hasPgbouncer }).map(({ name }) => name)
  const all = [...plans.map(({ name }) => name), ...names(true)]
  expect(new Set(all).size).toBe(all.length)
  expect(names(true).filter((name) => !names(false).includes(name))).toEqual([
    'payments-page-pgbouncer',
    'payments-stripe-pgbouncer',
  ])
  const reaches = paymentPlans({ hasPgbouncer: true }).map(({ name, reach }) => [name, reach] as const)
  expect(Object.fromEntries(reaches)).toEqual({
    'payments-page': { atLeast: 2 },
    'payments-stripe': { atLeast: 2 },
    'payments-page-pgbouncer': { atLeast: 1 },
    'payments-stripe-pgbouncer': { atLeast: 1 },
    'payments-beside-ready': { atMost: 3, by: 'medians' },
    'payments-beside-lookup': { atMost: 3, by: 'medians' },
    'payments-beside-checkout': { atMost: 3, by: 'medians' },
    'payments-beside-events': { atMost: 3, by: 'medians' },
    'sale-whole': null,
  })
})
