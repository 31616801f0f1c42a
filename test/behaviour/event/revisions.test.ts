// Runs in: postgres

import { sql } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { anEntry, checkOut } from '../../support/checkouts.ts'
import {
  aCatalogue,
  anEvent,
  anOrganization,
  aQuestion,
  aRateNamed,
  aSupplement,
  channelHeaders,
} from '../../support/factories.ts'
import { sharedSale } from '../../support/sale.ts'

const rate = (id: string) =>
  aRateNamed(id, {
    supplements: [aSupplement({ _id: `supp_${id}` })],
    questions: [aQuestion({ _id: `question_${id}` })],
  })

const catalogue = (name = 'Noche') =>
  aCatalogue({
    organizations: ['org_1', 'org_2'].map((_id) => anOrganization({ _id })),
    events: ['1', '2'].map((id) =>
      anEvent({
        _id: `evt_${id}`,
        name: `${name} ${id}`,
        organization_id: 'org_1',
        ticket_rates: [rate(id)],
      }),
    ),
  })

const sale = sharedSale(catalogue(), { settings: { SHARED_READS_MS: '0' } })

type Headers = Record<string, string>
const page = async (headers: Headers = sale.channel) =>
  (await sale.rest('GET', '/events?populate=*', { headers })).body
const query = `{ events { nodes { id name organization { id } ticketRates { id name available
  availability { sold available } prices { id name } currentPrice { id } supplements { id name } questions { id label } } } } }`
const overGraphql = async () => JSON.stringify((await sale.graphql(query, {}, sale.channel)).data)

/** Returns both surfaces' text, and the number of statements it took. */
async function readBoth(): Promise<{ text: string; statements: number }> {
  sale.statements.reset()
  const text = (await page()) + (await overGraphql())
  return { text, statements: sale.statements.length }
}

// Statements for rows already cached: authentication, event ids and stock, on each surface.
const cachedStatements = 6

beforeEach(async () => {
  await importCatalogue(sale.db, catalogue())
  await readBoth()
  expect((await readBoth()).statements).toBe(cachedStatements)
})

const run = (statement: string) => sale.db.execute(sql.raw(statement))

test.each([
  ['an event', `update events set name = 'Changed' where id = 'evt_1'`],
  ['a rate', `update ticket_rates set name = 'Changed' where id = 'rate_1'`],
  ['a price', `update prices set name = 'Changed' where id = 'price_1'`],
  ['a supplement', `update supplements set label = 'Changed' where id = 'supp_1'`],
  ['a question', `update questions set label = 'Changed' where id = 'question_1'`],
])('a write of %s by any client shows at once', async (_what, statement) => {
  const before = await readBoth()
  await run(statement)
  const after = await readBoth()
  expect(after.text).not.toBe(before.text)
  expect(after.text).toContain('Changed')
  expect(await readBoth()).toEqual({ text: after.text, statements: cachedStatements })
})

test.each([
  ['capacity', `capacity = capacity + 1`, `capacity = capacity - 1`, 'rate_1'],
  ['sold before', `sold_before = sold_before + 1`, `sold_before = sold_before - 1`, 'rate_1'],
  ['sold', `sold = sold + 1`, `sold = sold - 1`, 'rate_1'],
  ['held', `held = held + 1`, `held = held - 1`, 'rate_1'],
  ['quantity of a price', `capacity = 7`, `capacity = null`, 'price_1'],
  ['left of a price', `capacity = 7, held = 7`, `capacity = null, held = 0`, 'price_1'],
])('a stock change shows at once and reads nothing else again: %s', async (_what, to, back, id) => {
  const before = await readBoth()
  await run(`update stock set ${to} where id = '${id}'`)
  const after = await readBoth()
  expect(after.text).not.toBe(before.text)
  expect(after.statements).toBe(cachedStatements)
  await run(`update stock set ${back} where id = '${id}'`)
  expect(await readBoth()).toEqual(before)
})

const copied = {
  rates: `insert into ticket_rates select (jsonb_populate_record(row, '{"id": "rate_3", "position": 9}')).*
    from ticket_rates as row where id = 'rate_1'`,
  stock: (id: string, from: string) =>
    `insert into stock select (jsonb_populate_record(row, '{"id": "${id}"}')).* from stock as row where id = '${from}'`,
  prices: `insert into prices select (jsonb_populate_record(row, '{"id": "price_3", "position": 9}')).*
    from prices as row where id = 'price_1'`,
  supplements: `insert into supplements select (jsonb_populate_record(row, '{"id": "supp_3", "position": 9}')).*
    from supplements as row where id = 'supp_1'`,
  questions: `insert into questions select (jsonb_populate_record(row, '{"id": "question_3", "position": 9}')).*
    from questions as row where id = 'question_1'`,
}

test.each([
  ['rate', [copied.stock('rate_3', 'rate_1'), copied.rates], 'ticket_rates', 'rate_3'],
  ['price', [copied.stock('price_3', 'price_1'), copied.prices], 'prices', 'price_3'],
  ['supplement', [copied.supplements], 'supplements', 'supp_3'],
  ['question', [copied.questions], 'questions', 'question_3'],
])('a new %s shows at once and disappears once deleted', async (_what, statements, table, id) => {
  const before = await readBoth()
  for (const statement of statements) await run(statement)
  expect((await readBoth()).text).toContain(`"${id}"`)
  await run(`delete from ${table} where id = '${id}'`)
  await run(`delete from stock where id = '${id}'`)
  expect((await readBoth()).text).toBe(before.text)
})

test.each([
  ['rate', (to: string) => `update ticket_rates set event_id = 'evt_${to}' where id = 'rate_1'`],
  ['price', (to: string) => `update prices set ticket_rate_id = 'rate_${to}' where id = 'price_1'`],
  ['supplement', (to: string) => `update supplements set ticket_rate_id = 'rate_${to}' where id = 'supp_1'`],
  ['question', (to: string) => `update questions set ticket_rate_id = 'rate_${to}' where id = 'question_1'`],
])('a %s moved to another event shows there only', async (_what, move) => {
  const events = async () => JSON.parse(await page()).data.map((event: object) => JSON.stringify(event))
  const [one, other] = await events()
  await run(move('2'))
  const [left, joined] = await events()
  expect(left.length).toBeLessThan(one.length)
  expect(joined.length).toBeGreaterThan(other.length)
  await run(move('1'))
  expect(await events()).toEqual([one, other])
})

test('a write shows once committed, and never if rolled back', async () => {
  const before = await readBoth()
  const rollBack = new Error('back')
  const changing = sale.db.transaction(async (tx) => {
    await tx.execute(sql`update prices set name = 'Changed' where id = 'price_1'`)
    throw rollBack
  })
  await expect(changing).rejects.toBe(rollBack)
  expect(await readBoth()).toEqual(before)
  await sale.db.transaction(async (tx) => {
    // Its trigger finds that this transaction has already given the event a new revision.
    await tx.execute(sql`update prices set name = 'Changed once' where id = 'price_1'`)
    await tx.execute(sql`update supplements set label = 'Changed twice' where id = 'supp_1'`)
  })
  const { text } = await readBoth()
  expect(text).toContain('Changed once')
  expect(text).toContain('Changed twice')
})

test('an event list is never older than the last commit before its request', async () => {
  let committed = 0
  let goesOn = true
  const number = (text: string, kind: string) =>
    Number(new RegExp(`${kind} number (\\d+)`).exec(text)?.[1] ?? 0)
  async function write() {
    for (let next = 1; next <= 40; next++) {
      await sale.db.transaction(async (tx) => {
        await tx.execute(sql`update prices set name = ${`price number ${next}`} where id = 'price_1'`)
        await tx.execute(
          sql`update supplements set label = ${`supplement number ${next}`} where id = 'supp_1'`,
        )
      })
      committed = next
    }
    goesOn = false
  }
  async function read() {
    for (let pages = 0; goesOn; pages++) {
      const lastCommitted = committed
      const text = pages % 2 ? await page() : await overGraphql()
      const price = number(text, 'price')
      expect(price).toBeGreaterThanOrEqual(lastCommitted)
      // Everything listed under an event comes from one snapshot.
      expect(number(text, 'supplement')).toBe(price)
    }
  }
  await Promise.all([write(), read(), read(), read(), read()])
  expect(committed).toBe(40)
})

test('an import that changes one event gives only that one a new revision', async () => {
  const revisions = async () =>
    (await sale.db.execute(sql`select id, revision from events order by id`)) as unknown
  const file = JSON.parse(JSON.stringify(catalogue()))
  await importCatalogue(sale.db, file)
  const before = JSON.stringify(await revisions())
  await importCatalogue(sale.db, file)
  expect(JSON.stringify(await revisions())).toBe(before)
  file.events[0].ticket_rates[0].questions[0].label = 'Changed'
  await importCatalogue(sale.db, file)
  const after = JSON.stringify(await revisions())
  expect(after).not.toBe(before)
  // Matches an event and its revision in the spelling of either driver.
  const second = /evt_2[^}]*/
  expect(second.exec(after)?.[0]).toBe(second.exec(before)?.[0])
  expect((await readBoth()).text).toContain('Changed')
})

test('a sale shows at once and gives no event a new revision', async () => {
  const before = await readBoth()
  const body = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] }
  expect((await checkOut(sale, body)).statusCode).toBe(200)
  const after = await readBoth()
  expect(after.statements).toBe(cachedStatements)
  expect(after.text.match(/"available":99/g)).toHaveLength(2)
  expect(after.text.replaceAll('"available":99', '"available":100')).toBe(before.text)
})

test('cached events stay hidden from callers without a grant', async () => {
  const stranger = await channelHeaders(sale.db, 'org_2')
  expect(JSON.parse(await page(stranger)).data).toEqual([])
  const asked = '{ event(by: { id: "evt_1" }) { id } }'
  expect((await sale.graphql(asked, {}, sale.channel)).data).toEqual({ event: { id: 'evt_1' } })
  expect((await sale.graphql(asked, {}, stranger)).data).toEqual({ event: null })
})

test('control: without triggers a stale event list would show', async () => {
  await run('alter table questions disable trigger all')
  await run(`update questions set label = 'Changed' where id = 'question_1'`)
  expect((await readBoth()).text).not.toContain('Changed')
  await run('alter table questions enable trigger all')
  await run(`update questions set label = 'Changed again' where id = 'question_1'`)
  expect((await readBoth()).text).toContain('Changed again')
})
