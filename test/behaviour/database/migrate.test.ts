// Runs in: postgres

import { sql } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { issueChannelKey } from '../../../src/auth/issue-key.ts'
import { migrations, type OpenDatabase } from '../../../src/database/database.ts'
import { assignPositions } from '../../../src/domain/change/assign-positions.ts'
import { recordChanges } from '../../../src/domain/sale/record-changes.ts'
import { errorCode } from '../../../src/shared/errors.ts'
import {
  createTestDatabase,
  openTestDatabase,
  startGateway,
  type TestDatabase,
} from '../../support/harness.ts'

let empty: TestDatabase
let database: OpenDatabase

beforeEach(async () => {
  empty = await createTestDatabase({ empty: true })
  database = await empty.open()
})

afterEach(async () => {
  await database.close()
  await empty.drop()
})

const isTrue = async (condition: string): Promise<boolean> =>
  // A division by zero stands for false, because the drivers shape raw rows differently.
  database.db.execute(sql.raw(`select 1 / (${condition})::integer`)).then(
    () => true,
    () => false,
  )

test('migrate makes an empty database ready', async () => {
  expect(await database.ready()).toBe(false)
  await database.migrate()
  expect(await database.ready()).toBe(true)
  expect(await isTrue("to_regclass('public.events') is not null")).toBe(true)
})

test('a process is ready on the tables of a later version, and not where migrations of its own are missing', async () => {
  await database.migrate()
  const gateway = await startGateway({ database: { ...empty, open: async () => database } })
  const ready = async () => {
    const { statusCode, body } = await gateway.rest('GET', '/ready')
    return [statusCode, (JSON.parse(body) as { reason?: string }).reason]
  }
  const addLater = sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('later', 4102444800000)`
  await database.db.execute(addLater)
  expect(await ready()).toEqual([200, undefined])
  await database.db.execute(
    sql`delete from drizzle.__drizzle_migrations where created_at = ${readMigrationFiles(migrations).at(-1)?.folderMillis}`,
  )
  // As many rows as this version has migrations, and more.
  expect(await ready()).toEqual([503, 'MIGRATIONS_MISSING'])
  await database.db.execute(addLater)
  expect(await ready()).toEqual([503, 'MIGRATIONS_MISSING'])
  await gateway.app.close()
})

test('migrate twice does nothing', async () => {
  await database.migrate()
  await database.db.execute(
    sql`insert into organizations (id, name, slug, currency) values ('org_1', 'One', 'one', 'EUR')`,
  )
  await database.migrate()
  expect(await database.ready()).toBe(true)
  expect(await isTrue('(select count(*) from organizations) = 1')).toBe(true)
  expect(
    await isTrue(
      '(select count(*) from drizzle.__drizzle_migrations) = (select count(distinct hash) from drizzle.__drizzle_migrations)',
    ),
  ).toBe(true)
})

test('a test database is migrated and private to its test', async () => {
  const [one, other] = await Promise.all([openTestDatabase(), openTestDatabase()])
  expect(await one.ready()).toBe(true)
  await one.db.execute(
    sql`insert into organizations (id, name, slug, currency) values ('org_1', 'One', 'one', 'EUR')`,
  )
  const found = await other.db
    .execute(sql`select 1 / count(*)::integer from organizations`)
    .catch(() => 'none')
  expect(found).toBe('none')
  await Promise.all([one.close(), other.close()])
})

// Leaves the database as a version with this many migrations would, with a ticket sold.
async function migrateOnly(count: number): Promise<void> {
  const done = readMigrationFiles(migrations).slice(0, count)
  const statements = [
    'create schema drizzle',
    'create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)',
    ...done.flatMap((migration) => migration.sql),
    ...done.map(
      ({ hash, folderMillis }) =>
        `insert into drizzle.__drizzle_migrations (hash, created_at) values ('${hash}', ${folderMillis})`,
    ),
    "insert into organizations (id, name, slug, currency) values ('org_1', 'One', 'one', 'EUR')",
    "insert into channels (id, name) values ('chn_1', 'Shop')",
    `insert into events (id, organization_id, name, slug, start_date, end_date, search_words)
      values ('evt_1', 'org_1', 'One', 'one', now(), now(), '')`,
    ...['rate_1', 'rate_2'].flatMap((id) => [
      `insert into ticket_rates (id, organization_id, event_id, position, name, slug)
        values ('${id}', 'org_1', 'evt_1', 0, 'One', 'one')`,
      `insert into prices (id, ticket_rate_id, position, name, amount, currency)
        values ('price_of_${id}', '${id}', 0, 'One', 100, 'EUR')`,
    ]),
    `insert into payments (id, channel_id, organization_id, ticket_rate_id, provider, total_amount, currency, page_token, expires_at)
      values ('pay_1', 'chn_1', 'org_1', 'rate_1', 'sandbox', 100, 'EUR', 'token', now())`,
    `insert into tickets (id, payment_id, position, organization_id, channel_id, event_id, ticket_rate_id, price_id, qr_code,
        currency, price_amount, supplements_amount, organization_fee_amount, platform_fee_amount, warranty_amount,
        total_amount, warranty_hours, full_name, email)
      values ('tkt_1', 'pay_1', 0, 'org_1', 'chn_1', 'evt_1', 'rate_1', 'price_of_rate_1', 'code',
        'EUR', 100, 0, 0, 0, 0, 100, 0, 'Ana', 'ana@example.com')`,
  ]
  for (const statement of statements) await database.db.execute(sql.raw(statement))
}

test('migrate keeps tickets sold under an earlier version', async () => {
  await migrateOnly(3)
  expect(await database.ready()).toBe(false)
  await database.migrate()
  expect(await database.ready()).toBe(true)
  expect(await isTrue("(select count(*) from tickets where id = 'tkt_1' and payment_id = 'pay_1') = 1")).toBe(
    true,
  )
})

test('migrate gives rates and questions of an earlier version one of the documented types', async () => {
  await migrateOnly(7)
  for (const statement of [
    "insert into stock (id, capacity) values ('rate_1', 10), ('rate_2', null)",
    "update ticket_rates set type = 'vip'",
    `insert into questions (id, ticket_rate_id, position, label, type) values
      ('que_1', 'rate_1', 0, 'One', 'dropdown'), ('que_2', 'rate_1', 1, 'Two', 'essay')`,
  ])
    await database.db.execute(sql.raw(statement))
  await database.migrate()
  expect(
    await isTrue("(select string_agg(type, ' ' order by id) from ticket_rates) = 'limited unlimited'"),
  ).toBe(true)
  expect(await isTrue("(select string_agg(type, ' ' order by id) from questions) = 'dropdown text'")).toBe(
    true,
  )
})

test('migrate writes the decimals of organizations of an earlier version, by ISO 4217', async () => {
  await migrateOnly(19)
  for (const currency of ['JPY', 'HUF', 'KWD', 'CLF'])
    await database.db.execute(
      sql`insert into organizations (id, name, slug, currency) values (${currency}, 'One', 'one', ${currency})`,
    )
  await database.migrate()
  expect(
    await isTrue(`(select array_agg(currency || decimals order by currency) from organizations)
      = '{CLF4,EUR2,HUF2,JPY0,KWD3}'`),
  ).toBe(true)
})

test('migrate dates what was paid under an earlier version by the clock of its venue', async () => {
  await migrateOnly(20)
  for (const statement of [
    `insert into locations (id, organization_id, name, timezone) values ('loc_1', 'org_1', 'One', 'Pacific/Kiritimati')`,
    `update events set location_id = 'loc_1'`,
    `update tickets set status = 'active', activated_at = '2027-01-01T12:00:00Z', document_token = 'token'`,
  ])
    await database.db.execute(sql.raw(statement))
  await database.migrate()
  expect(await isTrue(`(select sold_on from tickets) = '2027-01-02'`)).toBe(true)
})

test('migrate finds the tickets of an earlier version by name, and dates their last change', async () => {
  await migrateOnly(10)
  const copyOf = (id: string, number: string, name: string, from = '') => `
    insert into tickets select copy.* from tickets as sold ${from}
    cross join jsonb_populate_record(null::tickets, to_jsonb(sold) || jsonb_build_object(
      'id', ${id}, 'qr_code', ${id}, 'position', ${number}, 'full_name', ${name})) as copy where sold.id = 'tkt_1'`
  for (const statement of [
    "insert into stock (id) values ('rate_1'), ('price_of_rate_1')",
    "insert into channel_organizations (channel_id, organization_id) values ('chn_1', 'org_1')",
    "insert into grants (channel_id, organization_id) values ('chn_1', 'org_1')",
    copyOf("'tkt_2'", '1', "'Bjørn  Öst-Ñandú'"),
    copyOf("'tkt_3'", '2', "U&'A\\0301NA Ruiz'"),
    // More than are folded at once.
    copyOf("'tkt_many_' || n", 'n', "'José ' || n", 'cross join generate_series(3, 1202) as n'),
    'update tickets set activated_at = now()',
  ])
    await database.db.execute(sql.raw(statement))
  await database.migrate()
  await database.close()
  const gateway = await startGateway({ database: empty })
  // The embedded database is open once at a time.
  database = { ...database, close: gateway.close }
  const { key } = await issueChannelKey(gateway.db, { channelId: 'chn_1', mode: 'live' })
  async function found(filter: Record<string, unknown>): Promise<string[]> {
    const query = `query ($filter: TicketFilter) {
      tickets(filter: $filter, first: 100) { nodes { id } } }`
    type Found = { tickets: { nodes: { id: string }[] } }
    const { data, errors } = await gateway.graphql<Found>(query, { filter }, { 'x-api-key': key })
    expect(errors).toBeUndefined()
    return data?.tickets.nodes.map(({ id }) => id) ?? []
  }
  // As the service folds names: without case and accents, words apart by one space.
  expect(await found({ name: 'bjorn ost nandu' })).toEqual(['tkt_2'])
  expect(await found({ name: 'Ana' })).toEqual(['tkt_1', 'tkt_3'])
  expect(await found({ name: 'jose 1202' })).toEqual(['tkt_many_1202'])
  expect(await found({ name: 'jose' })).toHaveLength(100)
  expect(await found({ email: 'ana@example.com' })).toHaveLength(100)
})

test('migrate refuses contradictory rows and leaves the database as it was', async () => {
  await migrateOnly(3)
  await database.db.execute(sql`update tickets set price_id = 'price_of_rate_2'`)
  expect(await database.migrate().catch(errorCode)).toBe('23503')
  expect(await database.ready()).toBe(false)
  await database.db.execute(sql`update tickets set price_id = 'price_of_rate_1'`)
  await database.migrate()
  expect(await database.ready()).toBe(true)
})

// Changes as the previous version wrote them, ordered by transaction and then by position. More of them than
// one batch assigns.
const oldRows = [
  ['first', 100, 3, 'org_1'],
  ['second', 100, 4, 'org_1'],
  ['third', 200, 1, 'org_1'],
  ['elsewhere', 150, 2, 'org_2'],
]
const many = 12_000
const oldChanges = [
  "insert into organizations (id, name, slug, currency) values ('org_2', 'Two', 'two', 'EUR')",
  "insert into channels (id, name) values ('chn_2', 'Other')",
  "insert into grants (channel_id, organization_id) values ('chn_2', 'org_2')",
  ...oldRows.map(
    ([id, transaction, position, organizationId]) =>
      `insert into changes (id, transaction_id, position, type, subject_id, sequence, organization_id, data)
        overriding system value values ('${id}', '${transaction}', ${position}, 'rate.sold_out', '${id}', 1, '${organizationId}', '{}')`,
  ),
  `insert into changes (id, transaction_id, position, type, subject_id, sequence, organization_id, data)
    overriding system value select 'many_' || n, '300', 1000 + n, 'rate.sold_out', 'many', n, 'org_1', '{}'
    from generate_series(1, ${many}) as n`,
]

const positionsAre = (organizationId: string, expected: string) =>
  isTrue(`(select string_agg(id || ' ' || feed_position, ', ' order by feed_position) from changes
    where organization_id = '${organizationId}' and subject_id <> 'many') = '${expected}'`)

test('migrate gives changes of an earlier version positions in their old order', async () => {
  await migrateOnly(5)
  for (const statement of oldChanges) await database.db.execute(sql.raw(statement))
  await database.migrate()
  expect(await positionsAre('org_1', 'first 1, second 2, third 3')).toBe(true)
  expect(await positionsAre('org_2', 'elsewhere 1')).toBe(true)
  expect(
    await isTrue(
      "(select count(*) from changes where subject_id = 'many' and feed_position = 3 + sequence) = 12000",
    ),
  ).toBe(true)
  expect(
    await isTrue(
      `(select count(*) from change_feeds where (organization_id, last_position) in (('org_1', ${many + 3}), ('org_2', 1))) = 2`,
    ),
  ).toBe(true)
  // A channel keeps the changes of what it sold and of what it is granted.
  expect(
    await isTrue(
      "(select count(*) from channel_organizations where (channel_id, organization_id) in (('chn_1', 'org_1'), ('chn_2', 'org_2'))) = 2",
    ),
  ).toBe(true)
  const change = { type: 'rate.available', organizationId: 'org_1', channelId: null, data: {} } as const
  await database.db.transaction((tx) => recordChanges(tx, [{ ...change, subjectId: 'new' }]))
  await assignPositions(database.db)
  expect(await isTrue(`(select feed_position from changes where subject_id = 'new') = ${many + 4}`)).toBe(
    true,
  )
})

test('migrate of positions resumes after an interruption', async () => {
  await migrateOnly(5)
  for (const statement of oldChanges) await database.db.execute(sql.raw(statement))
  // Done by then: the column, the table, and two changes of one organization.
  await database.db.execute(sql.raw('alter table changes add column feed_position bigint'))
  await database.db.execute(
    sql.raw(
      'create table change_feeds (organization_id text primary key, last_position bigint not null default 0)',
    ),
  )
  await database.db.execute(sql.raw("insert into change_feeds values ('org_1', 2)"))
  await database.db.execute(
    sql.raw("update changes set feed_position = position - 2 where id in ('first', 'second')"),
  )
  await database.migrate()
  expect(await database.ready()).toBe(true)
  expect(await positionsAre('org_1', 'first 1, second 2, third 3')).toBe(true)
  expect(await positionsAre('org_2', 'elsewhere 1')).toBe(true)
})
