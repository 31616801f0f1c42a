import { sql } from 'drizzle-orm'
import { afterAll, beforeEach, expect, inject, test, vi } from 'vitest'
import { anEntry, checkOut } from '../../support/checkouts.ts'
import { aRateNamed } from '../../support/factories.ts'
import {
  countCheckoutRows,
  graphqlRefusal,
  internalDetails,
  noRows,
  refusal,
} from '../../support/refusals.ts'
import { sharedSale } from '../../support/sale.ts'

const rate = aRateNamed('1')
const body = {
  ticket_rate_id: 'rate_1',
  tickets: [anEntry('price_1', { personal_document_number: '12345678Z' })],
}

let lines: string[]
const sale = sharedSale({
  rates: [rate],
  settings: { LOG_LEVEL: 'trace' },
  onLog: (line) => lines.push(line),
})
beforeEach(() => {
  lines = []
})
// The last test closes the database.
afterAll(() => sale.app.close())

const list = () => sale.rest('GET', '/events?search=secretia', { headers: sale.channel })
const ask = (query: string) =>
  sale.rest('POST', '/graphql', { headers: { ...sale.channel, accept: 'application/json' }, body: { query } })
const lookUp = () => sale.rest('GET', '/integrations/tickets/tkt_1', { headers: sale.integration.v1 })

type Failed = { request_id: string; error: string; code: string; place?: string }

/** Returns the facts of the single log line of a failed request, which names the error by its code only. */
function failedLine(answer: { headers: Record<string, unknown> }): Failed {
  const failed = lines
    .map((line) => JSON.parse(line))
    .filter(
      ({ msg, request_id }) => msg === 'request failed' && request_id === answer.headers['x-request-id'],
    )
  expect(failed).toHaveLength(1)
  const { level, time, msg, place, ...facts } = failed[0]
  expect([level, msg]).toEqual(['error', 'request failed'])
  expect(place ?? 'src/x.ts:1').toMatch(/^src\/[\w/-]+\.ts:\d+$/)
  expect(internalDetails.exec(JSON.stringify(facts))?.[0]).toBeUndefined()
  expect(lines.join('')).not.toMatch(/secretia|12345678Z|example\.com|box_live_/)
  return facts
}

/** Renames a table, and puts `broken` in its place, while `run` runs. */
async function withBroken(table: string, broken: string, run: () => Promise<void>): Promise<void> {
  const kept = `${table}_kept`
  await sale.db.execute(sql.raw(`alter table ${table} rename to ${kept}`))
  try {
    if (broken) await sale.db.execute(sql.raw(broken))
    await run()
  } finally {
    // A refusal of a database that starts or ends closes its connection, and the pool refuses until it has another.
    await vi.waitFor(() => sale.db.execute(sql`select 1`), { timeout: 10_000 })
    if (broken) await sale.db.execute(sql.raw(`drop view ${table}`))
    await sale.db.execute(sql.raw(`alter table ${kept} rename to ${table}`))
  }
}

test('a missing table is 500 with the request id and nothing else', async () => {
  await withBroken('events', '', async () => {
    const answer = await list()
    expect(refusal(answer)).toBe('500 INTERNAL')
    expect(answer.json().message).toContain(answer.headers['x-request-id'])
    expect(failedLine(answer)).toMatchObject({ code: '42P01' })
  })
  expect((await list()).statusCode).toBe(200)
})

test('a missing table in GraphQL is the error of its field; other fields keep their values', async () => {
  await withBroken('events', '', async () => {
    const answer = await ask('{ event(by: { id: "evt_1" }) { id } ticketRate(id: "rate_1") { id } }')
    const { data, errors } = answer.json()
    expect(data).toEqual({ event: null, ticketRate: { id: 'rate_1' } })
    expect(errors).toMatchObject([{ path: ['event'], extensions: { code: 'INTERNAL' } }])
    expect(errors[0].message).toContain(answer.headers['x-request-id'])
    expect(internalDetails.exec(answer.body)?.[0]).toBeUndefined()
    expect(failedLine(answer)).toMatchObject({ code: '42P01' })
  })
})

test('failing authentication fails the whole request on both surfaces', async () => {
  await withBroken('keys', '', async () => {
    const answer = await list()
    expect(refusal(answer)).toBe('500 INTERNAL')
    failedLine(answer)
    const graphqlAnswer = await ask('{ events { nodes { id } } }')
    expect(graphqlRefusal(graphqlAnswer)).toBe('500 INTERNAL')
    failedLine(graphqlAnswer)
  })
})

test('a checkout that fails half-way writes nothing and logs no personal data', async () => {
  await sale.db.execute(sql`alter table tickets add constraint broken check (full_name = '') not valid`)
  const answer = await checkOut(sale, body, { 'idempotency-key': 'once' })
  expect(refusal(answer)).toBe('500 INTERNAL')
  expect(answer.body).not.toMatch(/Ana|12345678Z|example\.com|broken/)
  expect(failedLine(answer)).toMatchObject({
    code: '23514',
    sqlstate: '23514',
    table: 'tickets',
    constraint: 'broken',
  })
  expect(await countCheckoutRows(sale)).toEqual(noRows)
  await sale.db.execute(sql`alter table tickets drop constraint broken`)
  expect((await checkOut(sale, body, { 'idempotency-key': 'once' })).statusCode).toBe(200)
})

const refusing = (table: string) => `create view ${table} as select * from ${table}_kept where refuse_now()`

test('a database that cancels statements is 503 with Retry-After', async () => {
  await sale.db.execute(sql`create function refuse_now() returns boolean language plpgsql as
    $$ begin raise exception 'select secretia' using errcode = '57014'; end $$`)
  await withBroken('integrations', refusing('integrations'), async () => {
    const answer = await lookUp()
    expect(refusal(answer)).toBe('503 BUSY')
    expect(answer.headers['retry-after']).toBe('1')
    failedLine(answer)
  })
  await withBroken('keys', refusing('keys'), async () => {
    const graphqlAnswer = await ask('{ events { nodes { id } } }')
    expect(graphqlRefusal(graphqlAnswer)).toBe('503 BUSY')
    expect(graphqlAnswer.headers['retry-after']).toBe('1')
    failedLine(graphqlAnswer)
  })
})

test('a mutation that meets such a database is null beside its error, and so 200', async () => {
  const { payment_id } = (await checkOut(sale, body)).json<{ data: { payment_id: string } }>().data
  await withBroken('payments', refusing('payments'), async () => {
    const answer = await ask(
      `mutation { cancelPayment(input: { paymentId: "${payment_id}" }) { __typename } }`,
    )
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toMatchObject({
      data: { cancelPayment: null },
      errors: [{ extensions: { code: 'BUSY', retryAfter: 1 } }],
    })
    failedLine(answer)
  })
})

test('a database that starts or ends is told of once a second, however many it refuses', async () => {
  const linesOf = async (code: string) => {
    await sale.db.execute(
      sql.raw(`create or replace function refuse_now() returns boolean language plpgsql as
        $$ begin raise exception 'select secretia' using errcode = '${code}'; end $$`),
    )
    lines = []
    const begin = performance.now()
    await withBroken('integrations', refusing('integrations'), async () => {
      for (let times = 0; times < 12; times++) expect(refusal(await lookUp())).toBe('503 BUSY')
    })
    const failed = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request failed')
    return { count: failed.length, seconds: Math.ceil((performance.now() - begin) / 1000) }
  }
  const starting = await linesOf('57P03')
  expect(starting.count).toBeGreaterThan(0)
  expect(starting.count).toBeLessThanOrEqual(starting.seconds)
  // Control: anything else is told each time.
  expect((await linesOf('57014')).count).toBe(12)
})

test('a closed database is 503 and not ready', async () => {
  await sale.database.close()
  const isEmbedded = inject('database').kind === 'pglite'
  // PGlite runs in this process, so losing it is a fault and not a condition.
  const expected = isEmbedded ? '500 INTERNAL' : '503 BUSY'
  const answer = await list()
  expect(refusal(answer)).toBe(expected)
  failedLine(answer)
  expect(graphqlRefusal(await ask('{ events { nodes { id } } }'))).toBe(expected)
  expect((await sale.rest('GET', '/health')).statusCode).toBe(200)
  expect((await sale.rest('GET', '/ready')).statusCode).toBe(503)
})
