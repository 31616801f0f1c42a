import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payments } from '../../src/domain/payment/table.ts'
import { anEntry, mustCheckOut } from '../support/checkouts.ts'
import { aRateOf } from '../support/factories.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { mustStartServer } from '../support/processes.ts'
import { movePayments } from '../support/queued-payments.ts'
import { openSale, type Sale } from '../support/sale.ts'

// Processes that serve requests, and processes that run the background jobs.

let database: TestDatabase
let sale: Sale
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-roles-'))
  database = await createTestDatabase()
  sale = await openSale({ rates: [aRateOf(10)], database })
})
afterAll(async () => {
  await sale?.close()
  await database?.drop()
  await rm(folder, { recursive: true, force: true })
})

const settings = () => ({
  ...database.settings,
  MAIL_DIR: join(folder, 'mail'),
  PUBLIC_URL: 'https://tickets.example',
})

/** Checks out and lets the hold expire. */
async function makeOverdue(): Promise<string> {
  const body = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] }
  const { payment_id: id } = await mustCheckOut(sale, body)
  await movePayments(sale.db, eq(payments.id, id), { expiresAt: sql`now() - interval '1 second'` })
  return id
}

async function statusOf(id: string): Promise<string | undefined> {
  const [payment] = await sale.db.select().from(payments).where(eq(payments.id, id))
  return payment?.status
}

const get = async (url: string) => {
  const answer = await fetch(url)
  return { status: answer.status, body: await answer.json() }
}

test('a process without background jobs serves, and one of nothing else does the work', async () => {
  const web = await mustStartServer({ ...settings(), BACKGROUND: 'off' })
  const id = await makeOverdue()
  expect((await fetch(`${web.url}/openapi.json`)).status).toBe(200)
  // Three times as long as a job waits.
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  expect(await statusOf(id)).toBe('pending')
  const background = await mustStartServer({
    ...settings(),
    BACKGROUND: 'only',
    DRAIN_SECONDS: '600',
    SHUTDOWN_SECONDS: '600',
  })
  await expect.poll(() => statusOf(id)).toBe('expired')
  expect(await get(`${background.url}/health`)).toEqual({ status: 200, body: { status: 'ok' } })
  expect(await get(`${background.url}/ready`)).toEqual({ status: 200, body: { status: 'ready' } })
  for (const path of ['/', '/graphql', '/events', '/openapi.json', '/docs', '/payments/x'])
    expect([path, (await get(background.url + path)).status]).toEqual([path, 404])
  // Nobody sends requests there, so it has no drain to wait for.
  expect(await background.stop()).toBe(0)
  expect(await web.stop()).toBe(0)
})

test('a process with background jobs mails the tickets, with links to PUBLIC_URL', async () => {
  const background = await mustStartServer({ ...settings(), BACKGROUND: 'only' })
  const body = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')], send_resourcers: true }
  const { payment_url: page } = await mustCheckOut(sale, body)
  const paid = await sale.rest('POST', new URL(page).pathname, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'action=pay',
  })
  expect(paid.statusCode).toBeLessThan(400)
  const mails = join(folder, 'mail')
  const written = () => readdir(mails).then((names) => names.filter((name) => name.endsWith('.eml')))
  await expect.poll(() => written().catch(() => [])).toHaveLength(1)
  const [mail = ''] = await written()
  expect(await readFile(join(mails, mail), 'utf8')).toContain('https://tickets.example')
  expect(await background.stop()).toBe(0)
})
