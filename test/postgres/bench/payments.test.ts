import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { parseConfig } from '../../../src/app/settings.ts'
import { issueChannelKey } from '../../../src/domain/caller/issue-key.ts'
import { organizations } from '../../../src/domain/organization/table.ts'
import { openProvider } from '../../../src/domain/payment/open-provider.ts'
import { runSql } from '../../../src/engine/database/database.ts'
import {
  countPaid,
  createDue,
  type DuePayment,
  fillDue,
  type Provider,
  readDue,
  readPaymentRules,
} from '../../bench/due-payments.ts'
import { createTargets, openTargets } from '../../bench/hold-statements.ts'
import type { Ask } from '../../bench/http-client.ts'
import { payOnce } from '../../bench/pay-driver.ts'
import { eventAsk, pressAsk } from '../../bench/payment-load.ts'
import { createTestDatabase, type Gateway, startGateway, type TestDatabase } from '../../support/harness.ts'
import { seedDemo } from '../../support/imports.ts'
import { startStubStripe, stripeSettings } from '../../support/stub-stripe.ts'

// Checks that the bench makes before it prints a ratio of payments, on a small catalogue and without timing.

let database: TestDatabase
let sandbox: Gateway
let stripe: Gateway

beforeAll(async () => {
  database = await createTestDatabase()
  const fake = await startStubStripe()
  const settings = stripeSettings(fake.url)
  sandbox = await startGateway({ database })
  stripe = await startGateway({ database, settings, provider: await openProvider(parseConfig(settings)) })
  await fake.close()
  await seedDemo(sandbox.db, { events: 40 })
  const all = await sandbox.db.select({ id: organizations.id }).from(organizations)
  const organizationIds = all.map(({ id }) => id)
  await issueChannelKey(sandbox.db, { mode: 'live', name: 'bench', organizationIds })
  for (const statement of [createTargets, openTargets, ...createDue]) await rowsOf(statement)
})
afterAll(async () => {
  await stripe?.close()
  await sandbox?.close()
  await database?.drop()
})

type Row = Record<string, unknown>
const rowsOf = (statement: string, db: Pick<Gateway['db'], 'execute'> = sandbox.db) =>
  runSql<Row>(db, statement)
const inOneTransaction = (statements: string[]) =>
  sandbox.db.transaction(async (tx) => {
    for (const statement of statements) await rowsOf(statement, tx)
  })

async function makeDue(count: number, provider: Provider): Promise<DuePayment[]> {
  await inOneTransaction(fillDue(count, provider))
  return (await rowsOf(readDue)) as DuePayment[]
}
const paidSoFar = async () => {
  const [counts] = await rowsOf(countPaid)
  return Object.values(counts ?? {}).map(Number)
}
async function broken(db: Pick<Gateway['db'], 'execute'> = sandbox.db): Promise<string[]> {
  const found: string[] = []
  for (const [rule, statement] of Object.entries(await readPaymentRules()))
    if ((await rowsOf(statement, db)).length > 0) found.push(rule)
  return found
}
const ask = async (gateway: Gateway, { path, headers, body }: Ask) => {
  const answer = await gateway.rest('POST', path, { headers, body })
  return [answer.statusCode, answer.headers.location ?? answer.body]
}

/** Makes the bare payment with this number in the list. */
async function payByHand(number: number): Promise<void> {
  const driver = postgres(database.settings.DATABASE_URL ?? '', { max: 1, onnotice: () => {} })
  await payOnce(driver, number, 7).finally(() => driver.end())
}

/** Rows that a payment wrote, without its own identifiers. */
async function traceOf(id: string) {
  const [row] = await rowsOf(`
    select payments.status, paid_at is not null as "paidAt", tickets.status as ticket,
      activated_at is not null as "activatedAt", length(document_token) as token,
      payments.invoice_reference = tickets.invoice_reference as "sameReference",
      payments.invoice_reference = invoices.reference as "ownReference", invoices.amount = payments.total_amount as amount,
      invoices.currency = payments.currency as currency, invoices.organization_id = payments.organization_id as own,
      invoices.reference = 'F' || year || '-' || lpad(number::text, 6, '0') as numbered, invoices.kind
    from payments join tickets on tickets.payment_id = payments.id join invoices on invoices.payment_id = payments.id
    where payments.id = '${id}'`)
  return row
}

beforeEach(async () => {
  // Leftover payments must be of the same provider.
  await inOneTransaction([
    `update stock set held = 0`,
    `delete from tickets where status = 'held'`,
    `delete from payments where status = 'pending'`,
  ])
})

test('due payments are pending, each with a held place', async () => {
  const due = await makeDue(5, 'sandbox')
  expect(new Set(due.map(({ token }) => token)).size).toBe(5)
  expect(await makeDue(3, 'sandbox')).toEqual(due)
  const more = await makeDue(7, 'sandbox')
  expect(more).toHaveLength(7)
  expect(more).toEqual(expect.arrayContaining(due))
  const [held] = await rowsOf(`select
    (select held from stock join bench_targets on number = 1 and rate_id = id and mode = 'live') as rate,
    (select held from stock join bench_targets on number = 1 and price_id = id and mode = 'live') as price`)
  expect(held).toEqual({ rate: 7, price: 7 })
  expect(await broken()).toEqual([])
})

test('a payment by the page, by Stripe and by hand writes the same rows and has the same counts', async () => {
  const before = await paidSoFar()
  const plus = (count: number) => before.map((value) => value + count)
  const [pressed] = await makeDue(1, 'sandbox')
  if (!pressed) throw new Error('nothing is due')
  expect(await ask(sandbox, pressAsk(pressed))).toEqual([
    303,
    expect.stringMatching(/^https:\/\/shop\.example\/done\?/),
  ])
  expect(await paidSoFar()).toEqual(plus(1))
  const [told] = await makeDue(1, 'stripe')
  if (!told) throw new Error('nothing is due')
  expect(await ask(stripe, eventAsk(told))).toEqual([200, expect.stringContaining('"done"')])
  expect(await paidSoFar()).toEqual(plus(2))
  const [byHand] = await makeDue(1, 'sandbox')
  await payByHand(1)
  expect(await paidSoFar()).toEqual(plus(3))
  expect(await broken()).toEqual([])
  const trace = await traceOf(byHand?.id ?? '')
  expect(trace).toMatchObject({ status: 'paid', ticket: 'active', sameReference: true, ownReference: true })
  expect(trace).toMatchObject({ amount: true, currency: true, own: true, numbered: true, kind: 'invoice' })
  const byGateway = await Promise.all([traceOf(pressed.id), traceOf(told.id)])
  // The gateway's document token may have another length.
  expect(byGateway.map((row) => ({ ...row, token: trace?.token }))).toEqual([trace, trace])
  // A second payment is refused.
  await expect(payByHand(1)).rejects.toThrow('payment 1 of the list was paid before')
  expect(await paidSoFar()).toEqual(plus(3))
})

const firstPaid = `(select id from payments where status = 'paid' limit 1)`
test.each([
  [
    'stock counters differ from the tickets',
    'update stock set sold = sold + 1 where id = (select rate_id from bench_targets where number = 1)',
  ],
  [
    'a ticket is held without an open payment, or not held with one',
    `update payments set status = 'cancelled' where status = 'pending'`,
  ],
  ['an invoice series has a gap', 'update invoice_series set last = last + 1'],
  ['an invoice series has a gap', 'update invoices set number = number + 1000'],
  [
    'a payment has an unexpected invoice',
    `update payments set invoice_reference = 'F2026-999999' where id = ${firstPaid}`,
  ],
  [
    'a payment has an unexpected invoice',
    `insert into invoices (id, organization_id, kind, year, number, reference, payment_id, amount, currency)
      select 'inv_twice', organization_id, kind, year, number + 1000, reference, payment_id, amount, currency
      from invoices where payment_id = ${firstPaid}`,
  ],
  ['a paid payment has no invoice', `delete from invoices where payment_id = ${firstPaid}`],
  [
    'a payment was charged twice or a wrong amount',
    `insert into charges (organization_id, id, payment_id, provider, reference, amount, currency)
      select organization_id, 'cha_twice', payment_id, provider, 'twice', amount, currency from charges limit 1`,
  ],
  ['a payment was charged twice or a wrong amount', 'update charges set amount = amount + 1'],
])('the check "%s" finds: %s', async (rule, breakIt) => {
  const [payment] = await makeDue(2, 'sandbox')
  if (payment) await ask(sandbox, pressAsk(payment))
  expect(await broken()).toEqual([])
  const rollback = new Error('rolled back')
  const found: string[] = []
  const breaking = sandbox.db.transaction(async (tx) => {
    await rowsOf(breakIt, tx)
    found.push(...(await broken(tx)))
    throw rollback
  })
  await expect(breaking).rejects.toBe(rollback)
  expect(found).toContain(rule)
})
