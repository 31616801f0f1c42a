// Runs in: postgres, citus

import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { webhookDeliveries, webhooks } from '../../../src/domain/change/table.ts'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import { events } from '../../../src/domain/event/table.ts'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { openSessions } from '../../../src/domain/payment/queue/table.ts'
import { refunds as refundTable } from '../../../src/domain/refund/table.ts'
import { applyRetention } from '../../../src/domain/retention/retain.ts'
import { retentionTurns } from '../../../src/domain/retention/table.ts'
import { processDueRefunds } from '../../../src/domain/sale/refund/request-provider-refund.ts'
import { countBacklog, findTroubles, needsPerson } from '../../../src/domain/sale/report/count-backlog.ts'
import { measured } from '../../../src/domain/sale/report/measured.ts'
import { type QueueName, queues } from '../../../src/domain/sale/report/queues.ts'
import { runSql } from '../../../src/engine/database/database.ts'
import { createMetrics } from '../../../src/engine/telemetry/metrics.ts'
import { commandRunner } from '../../support/commands.ts'
import { buyDeliverable, deliveryCatalogue, sendDeliveriesOnce } from '../../support/deliveries.ts'
import { shared } from '../../support/harness.ts'
import { type MailServer, startMailServer } from '../../support/mail-server.ts'
import { parseMetrics, sumOf } from '../../support/metrics.ts'
import { endHolds } from '../../support/queued-payments.ts'
import { refundTicket } from '../../support/refunds.ts'
import { openStripeSale } from '../../support/stripe-sale.ts'
import { stripeSettings } from '../../support/stub-stripe.ts'
import { ticketOf } from '../../support/tickets.ts'
import { sendDueWebhooks, webhooksOf } from '../../support/webhooks.ts'

// What an operator is told of each queue of jobs that can't be done: by a gauge, by a line and by doctor.

let server: MailServer
let settings: Record<string, string>
let runner: ReturnType<typeof commandRunner>
const sale = shared(() =>
  openStripeSale(deliveryCatalogue, { settings: { WEBHOOKS_TO_PRIVATE_ADDRESSES: 'true' } }),
)
beforeAll(async () => {
  server = await startMailServer(0, { user: 'shop', password: 'right' })
  settings = {
    ...stripeSettings(sale.fake.url),
    MAIL_FROM: 'tickets@shop.example',
    PUBLIC_URL: 'https://tickets.example',
  }
  runner = commandRunner(() => sale.database, { settings })
})
afterAll(() => server.close())

const urlFor = (password: string) => server.url.replace('smtp://', `smtp://shop:${password}@`)
const threeTimes = async (run: () => Promise<unknown>) => {
  for (let times = 0; times < 3; times++) await run()
}

/** Makes jobs of a queue fail or wait as they do in operation, and names the code that an operator is told. */
type Cause = { code: string; advice: RegExp; happens(): Promise<unknown> }

const nobody = { code: 'LATE', advice: /no process does its background work/ }

const causes: Record<QueueName, Cause> = {
  deliveries: {
    code: 'SMTP_535',
    advice: /until a person acts: look at the mail server, its login/,
    async happens() {
      await buyDeliverable(sale, [{ email: 'secretia@example.com' }])
      await threeTimes(async () => {
        await sale.db.update(deliveries).set({ dueAt: sql`now()` })
        await sendDeliveriesOnce(sale, { SMTP_URL: urlFor('wrong') })
      })
    },
  },
  webhooks: {
    code: 'STATUS',
    advice: /tell the owners/,
    async happens() {
      await webhooksOf(sale).register(`${sale.fake.url}/nowhere`, ['PAYMENT_PAID'])
      await buyDeliverable(sale, [{}], { send_resourcers: false })
      sale.fake.setFault(500)
      await threeTimes(async () => {
        await sale.db.update(webhookDeliveries).set({ dueAt: sql`now()` })
        await sale.db.update(webhooks).set({ pausedUntil: null })
        await sendDueWebhooks(sale)
      })
      sale.fake.setFault(null)
    },
  },
  refunds: {
    code: 'HTTP_403',
    advice: /until a person acts: the provider/,
    async happens() {
      const checkout = await sale.checkOut()
      const { id } = await sale.goToStripe(checkout)
      await sale.deliver(sale.fake.pay(id))
      // A key that may sell and not refund.
      sale.fake.setFault(({ path }) => (path.includes('refunds') ? 403 : null))
      const { refund } = await refundTicket(sale, ticketOf(checkout))
      expect(refund?.status).toBe('PENDING')
      await threeTimes(async () => {
        await sale.db.update(refundTable).set({ dueAt: sql`now()` })
        await processDueRefunds(sale.db, sale.provider)
      })
      sale.fake.setFault(null)
    },
  },
  sessions: {
    code: 'HTTP_401',
    advice: /until a person acts: the provider/,
    async happens() {
      const checkout = await sale.checkOut()
      await sale.goToStripe(checkout)
      sale.fake.setFault(401)
      await threeTimes(() => sale.closeDue())
      sale.fake.setFault(null)
    },
  },
  holds: {
    ...nobody,
    async happens() {
      await sale.checkOut()
      await endHolds(sale.db, sql`status = 'pending'`)
      await sale.db.execute(sql`update expiries set expires_at = now() - interval '11 minutes'`)
    },
  },
  retention: {
    code: '42P01',
    advice: /the log says why/,
    async happens() {
      await sale.db.execute(sql`alter table check_ins rename to check_ins_kept`)
      const kept = {
        retainUnpaidDays: null,
        retainPersonalMonths: null,
        retainWebhookDays: null,
        retainProviderEventDays: null,
      }
      const options = {
        db: sale.db,
        settings: { ...kept, retainChangeMonths: null, retainCheckInMonths: 1, retainMailDays: null },
        mailFolder: '',
        stopping: new AbortController().signal,
      }
      await threeTimes(async () => {
        await sale.db.update(retentionTurns).set({ dueAt: sql`now()` })
        await expect(applyRetention(options)).rejects.toThrow()
      })
      await sale.db.execute(sql`alter table check_ins_kept rename to check_ins`)
    },
  },
  feed: {
    ...nobody,
    happens: () => sale.db.execute(sql`update changes set created_at = now() - interval '11 minutes'`),
  },
  notices: {
    ...nobody,
    async happens() {
      const [event] = deliveryCatalogue.events ?? []
      const start_date = '2099-07-11T23:30:00.000Z'
      await importCatalogue(sale.db, { ...deliveryCatalogue, events: [{ ...event, start_date }] })
      const [moved] = await sale.db.select({ from: events.movedFrom }).from(events)
      expect(moved?.from).toMatchObject({ since: expect.any(String) })
      const since = new Date(Date.now() - 660_000).toISOString()
      await sale.db.update(events).set({ movedFrom: Object.assign({ ...moved?.from }, { since }) as never })
    },
  },
}

const gauges = async () => {
  const { registry } = createMetrics({
    poolUsage: () => ({}),
    isReady: async () => true,
    ...measured,
    count: () => countBacklog(sale.db, 'stripe'),
    inspectServers: async () => ({ unreachableShards: 0, preparedTransactions: 0 }),
  })
  const samples = parseMetrics(await registry.metrics())
  return (queue: string) =>
    ['late', 'failing'].map((name) => sumOf(samples, `boxoffice_jobs_${name}`, { queue }))
}
const lines = () => findTroubles(sale.db, { provider: 'stripe' })
const workFound = async () => {
  const { output } = await runner.run('doctor', '--json')
  const { findings } = JSON.parse(output) as { findings: { check: string; level: string; text: string }[] }
  return findings
    .filter(({ check, level }) => check === 'work' && level === 'attention')
    .map(({ text }) => text)
}

test('control: nothing is told of a service whose jobs are done', async () => {
  const gauge = await gauges()
  for (const queue of Object.keys(queues)) expect([queue, ...gauge(queue)]).toEqual([queue, 0, 0])
  expect(await lines()).toEqual([])
  expect(await workFound()).toEqual([])
})

test.each(Object.entries(causes))(
  'a queue that is not worked off is told of: %s',
  async (name, { code, advice, happens }) => {
    await happens()
    const failing = code !== 'LATE'
    const [late = 0, inVain = 0] = (await gauges())(name)
    expect({ late: late > 0, inVain: inVain > 0 }).toEqual({ late: name !== 'webhooks', inVain: failing })
    const told = (await lines()).filter(({ queue }) => queue === name)
    expect(told).toContainEqual({ queue: name, code, count: expect.any(Number) })
    expect(JSON.stringify(told)).not.toContain('secretia')
    const found = (await workFound()).filter((text) =>
      text.includes(failing ? `failing with ${code}` : ', late'),
    )
    expect(found).toContainEqual(expect.stringMatching(advice))
    // Control: it is not due, so that nothing but its tries tells of it.
    if (failing) {
      const { table } = queues[name as QueueName]
      const due = sql.raw(`select from ${table} where due_at <= now() - interval '1 minute'`)
      expect(await sale.db.$count(sql`(${due}) as due`)).toBe(0)
    }
  },
)

test('refunds that need a person are listed by the query of docs/payments.md', async () => {
  const { readFile } = await import('node:fs/promises')
  const text = await readFile(new URL('../../../docs/payments.md', import.meta.url), 'utf8')
  const [, query = ''] = /```sql\n(select id, payment_id[^`]*);\n```/.exec(text) ?? []
  const rows = await sale.db.$count(sql.raw(`(${query}) as listed`) as never)
  expect(rows).toBe(1)
})

test('a refund that the provider has taken, and a session that a bank decides, may wait for days', async () => {
  await sale.db.update(refundTable).set({ attempts: 9, lastError: null, reference: 're_1' })
  expect((await lines()).filter(({ queue }) => queue === 'refunds')).toEqual([])
  await sale.db.delete(openSessions)
  const { id } = await sale.goToStripe(await sale.checkOut())
  await sale.deliver(sale.fake.order(id))
  const tries = async () => (await sale.db.select().from(openSessions)).map(({ attempts }) => attempts)
  sale.fake.setFault(500)
  for (let times = 0; times < 2; times++) await sale.closeDue()
  expect(await tries()).toEqual([2])
  sale.fake.setFault(null)
  for (let times = 0; times < 4; times++) await sale.closeDue()
  expect(await tries()).toEqual([0])
})

test('every table of jobs is a queue that is watched', async () => {
  const watched = new Set(Object.values(queues).map(({ table }) => table))
  const unwatched = async () => {
    const found = await runSql<{ name: string }>(
      sale.db,
      sql`select table_name as name from information_schema.columns where column_name = 'due_at' and table_schema = 'public'`,
    )
    return found.map(({ name }) => name).filter((name) => !watched.has(name))
  }
  expect(await unwatched()).toEqual([])
  await sale.db.execute(sql`create table later_jobs (due_at timestamptz)`)
  expect(await unwatched()).toEqual(['later_jobs'])
  await sale.db.execute(sql`drop table later_jobs`)
})

test.each([
  ['HTTP_401', true],
  ['HTTP_403', true],
  ['SMTP_535', true],
  ['EAUTH', true],
  ['HTTP_500', false],
  ['SMTP_550', false],
  ['ECONNREFUSED', false],
  ['LATE', false],
])('a code that a person must act on is an error in the log: %s %s', (code, isError) => {
  expect(needsPerson(code)).toBe(isError)
})

test.each([
  ['right', /^the mail server answers and takes the login$/, 'ok'],
  ['wrong', /\(SMTP_535\)$/, 'attention'],
])('doctor logs in at the mail server, and sends nothing: password %s', async (password, text, level) => {
  const { run } = commandRunner(() => sale.database, {
    settings: { ...settings, SMTP_URL: urlFor(password) },
  })
  const { findings } = JSON.parse((await run('doctor', '--json')).output) as { findings: { check: string }[] }
  expect(findings.find(({ check }) => check === 'mail')).toEqual({
    check: 'mail',
    level,
    text: expect.stringMatching(text),
  })
  expect(server.mails).toEqual([])
})

test('doctor names the code of a mail server that is out of reach', async () => {
  const SMTP_URL = 'smtp://127.0.0.1:1'
  const { run } = commandRunner(() => sale.database, { settings: { ...settings, SMTP_URL } })
  expect((await run('doctor')).output).toMatch(/^look +mail .*\(E\w+\)$/m)
})
