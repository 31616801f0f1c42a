// Runs in: postgres, slow-forms

import { eq, sql } from 'drizzle-orm'
import { beforeAll, expect, test } from 'vitest'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { aRateNamed } from '../../support/factories.ts'
import { restProblems, sharedSale } from '../../support/sale.ts'
import { holdTickets } from '../../support/tickets.ts'

// Lists of tickets over REST: pages by Link, CSV and NDJSON.

const names = [
  '=1+1',
  '+A',
  '-B',
  '@C',
  'Ana, "Ñ"',
  'Bo;=cmd|/c;',
  ...Array.from({ length: 114 }, (_, n) => `Person ${n}`),
]

const rates = [aRateNamed('1', { availability: { sold: 0, available: 1000 } })]
const sale = sharedSale({ rates, listen: true })
beforeAll(async () => {
  for (let from = 0; from < names.length; from += 40)
    await holdTickets(sale, {
      entries: names.slice(from, from + 40).map((full_name) => ({ full_name, phone: '+34600000000' })),
      referral_id: `part-${from}`,
    })
})

type Body = { _id: string; name: string; rate_name: string | null; created_at: string; updated_at: string }
const get = (url: string, headers: Record<string, string> = sale.channel) =>
  sale.rest('GET', url, { headers })
const linkOf = (link: unknown, rel: string) => {
  const url = String(link ?? '').match(new RegExp(`<([^>]*)>; rel="${rel}"`))?.[1]
  return url === undefined ? null : new URL(url)
}
const pathOf = ({ pathname, search }: URL) => pathname + search

test.each(['/tickets', '/integrations/tickets'])(
  'links of %s lead through the list and back',
  async (path) => {
    const headers = path === '/tickets' ? sale.channel : sale.integration.v1
    const pages: string[][] = []
    let url: string | null = `${path}?limit=50&order_by=created_asc`
    let last = ''
    while (url) {
      const answer = await get(url, headers)
      expect(answer.statusCode, answer.body).toBe(200)
      pages.push(answer.json<{ data: Body[] }>().data.map(({ _id }) => _id))
      const next = linkOf(answer.headers.link, 'next')
      last = String(answer.headers.link ?? '')
      url = next && pathOf(next)
    }
    expect(pages.map(({ length }) => length)).toEqual([50, 50, 20])
    expect(new Set(pages.flat()).size).toBe(120)
    const prev = linkOf(last, 'prev')
    const before = await get(pathOf(prev as URL), headers)
    expect(before.json<{ data: Body[] }>().data.map(({ _id }) => _id)).toEqual(pages[1])
  },
)

test('a ticket is as in the lookup, with its times', async () => {
  const [listed] = (await get('/integrations/tickets?limit=1', sale.integration.v2)).json<{ data: Body[] }>()
    .data
  const { created_at, updated_at, ...rest } = listed as Body
  expect(created_at).toBe(updated_at)
  const looked = await get(`/integrations/tickets/${rest._id}`, sale.integration.v2)
  expect(rest).toEqual(looked.json<{ data: Body }>().data)
})

test('a channel whose grant is gone keeps its tickets, without facts of their rates', async () => {
  const { db } = sale
  const [listed] = (await get('/tickets?limit=1')).json<{ data: Body[] }>().data
  expect(listed?.rate_name).toBe('Entrance')
  await db.execute(sql`create temporary table kept as select * from grants`).catch(() => {})
  await db.execute(sql`delete from grants`)
  const [without] = (await get('/tickets?limit=1')).json<{ data: Body[] }>().data
  expect(without).toMatchObject({ _id: listed?._id, rate_name: null, rate_slug: null })
  await db.execute(sql`insert into grants (channel_id, organization_id)
    select channel_id, organization_id from channel_organizations`)
})

const filters: [query: string, count: number][] = [
  ['event_id=evt_1', 120],
  ['event_id=evt_2', 0],
  ['ticket_rate_id=rate_1&status=pending', 120],
  ['ticket_rate_id=rate_1&status=cancelled', 0],
  ['sale_type=online', 120],
  ['sale_type=invitation', 0],
  ['referral_id=part-80', 40],
  ['paid_from=2000-01-01', 0],
]

test.each(filters)('%s finds its tickets', async (query, count) => {
  const { body } = await get(`/tickets.ndjson?${query}`)
  expect(body.trim() === '' ? [] : body.trim().split('\n')).toHaveLength(count)
})

const refused: [url: string, problem: string][] = [
  ['/tickets?limit=0', 'INVALID limit'],
  ['/tickets?nothing=1', 'UNKNOWN_FIELD nothing'],
  ['/tickets?cursor=x', 'INVALID cursor'],
  ['/tickets?before=x', 'INVALID before'],
  ['/tickets?status=x', 'INVALID status'],
  ['/tickets?status=pending&status=cancelled', 'INVALID status'],
  ['/tickets?email=x', 'INVALID email'],
  ['/tickets?name=-', 'INVALID name'],
  ['/tickets?order_by=x', 'INVALID order_by'],
  ['/tickets?order_by=paid_asc', 'INVALID order_by'],
  ['/tickets?name=a&order_by=created_asc', 'INVALID order_by'],
  ['/tickets?updated_since=2026-01-01', 'UNKNOWN_FIELD updated_since'],
  ['/tickets.csv?limit=1', 'INVALID limit'],
  ['/tickets.ndjson?before=x', 'INVALID before'],
  ['/tickets.csv?cursor=x', 'INVALID cursor'],
]

test.each(refused)('%s is refused: %s', async (url, problem) => {
  const answer = await get(url)
  expect(answer.statusCode, answer.body).toBe(400)
  expect(restProblems(answer)).toEqual([problem])
})

test('the other kind of caller is refused', async () => {
  for (const suffix of ['', '.csv', '.ndjson']) {
    expect((await get(`/tickets${suffix}`, sale.integration.v2)).statusCode).toBe(403)
    expect((await get(`/integrations/tickets${suffix}`)).statusCode).toBe(403)
  }
})

test.each([
  ['/tickets.ndjson', {}],
  ['/tickets', { accept: 'application/x-ndjson, application/json;q=0.5' }],
])('%s %j is a ticket a line, all of them', async (url, accept) => {
  const answer = await get(`${url}?order_by=created_asc`, { ...sale.channel, ...accept })
  expect(answer.headers['content-type']).toBe('application/x-ndjson')
  const lines = answer.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Body)
  expect(lines.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
})

test('CSV has a header, and no cell that a spreadsheet would run', async () => {
  const answer = await get('/tickets.csv?referral_id=part-0')
  expect(answer.headers['content-type']).toContain('text/csv')
  expect(answer.headers['content-disposition']).toBe('attachment; filename="tickets.csv"')
  const lines = answer.body.trimEnd().split('\r\n')
  expect(lines[0]).toMatch(/^"_id","activation_date",/)
  expect(lines).toHaveLength(41)
  for (const name of ["'=1+1", "'+A", "'-B", "'@C", 'Ana, ""Ñ""', "Bo;'=cmd|/c;", "'+34600000000"])
    expect(answer.body).toContain(`,"${name}",`)
  // Whatever a reader takes for the end of a cell.
  expect(answer.body).not.toMatch(/(^|[\n;,|\t])[" ]*[=+@-]/)
  // Every cell is quoted.
  for (const line of lines) expect(line).toMatch(/^"([^"]|"")*"(,"([^"]|"")*")*$/)
})

test('CSV has no line break in a cell, whoever wrote it, and a mark of its encoding if asked', async () => {
  const [{ _id = '' } = {}] = (await get('/tickets?referral_id=part-80')).json<{ data: Body[] }>().data
  const told = { address: 'Calle 1\r\n=cmd', postalCode: '\t@x\u2028+1\u0007' }
  await sale.db.update(tickets).set(told).where(eq(tickets.id, _id))
  const [plain, marked] = await Promise.all(
    ['', '&bom=true'].map((more) => get(`/tickets.csv?referral_id=part-80${more}`)),
  )
  expect(plain?.body.split(/\r\n|\n|\r|\u2028/)).toHaveLength(42)
  expect(plain?.body).toContain(`,"Calle 1 =cmd",`)
  expect(plain?.body).toContain(`," '@x +1 ",`)
  expect(plain?.body.startsWith('"_id"')).toBe(true)
  expect(marked?.body).toBe(`\ufeff${plain?.body}`)
  const accepted = await get('/tickets?bom=true', { ...sale.channel, accept: 'text/csv' })
  expect(accepted.body.startsWith('\ufeff"_id"')).toBe(true)
  expect(accepted.body.indexOf('\ufeff', 1)).toBe(-1)
  expect((await get('/tickets?bom=yes')).statusCode).toBe(400)
})

test('a page costs two statements, and an export one a page beside its key', async () => {
  const count = async (url: string) => {
    sale.statements.reset()
    await get(url)
    return sale.statements.length
  }
  expect(await count('/tickets?limit=50')).toBe(2)
  expect(await count('/tickets.csv')).toBe(3)
})

test('a database that goes away ends an export without its end', async () => {
  const answer = await fetch(`${sale.url}/tickets.ndjson`, { headers: sale.channel })
  expect(answer.status).toBe(200)
  await sale.db.execute(sql`alter table tickets rename to gone`)
  const read = answer.text()
  const outcome = await read.then(
    (text) => text.trimEnd().split('\n').length,
    () => 'broken',
  )
  await sale.db.execute(sql`alter table gone rename to tickets`)
  // Either all of it was read already, or the connection broke: never a clean end of a part.
  expect([120, 'broken']).toContain(outcome)
})

test('a client that goes away frees its place', async () => {
  for (let time = 0; time < 30; time++) {
    const gone = new AbortController()
    const answer = await fetch(`${sale.url}/tickets.ndjson`, { headers: sale.channel, signal: gone.signal })
    expect(answer.status).toBe(200)
    gone.abort()
    await answer.text().catch(() => {})
    await expect.poll(async () => (await get('/tickets.csv')).statusCode).toBe(200)
  }
})
