import { type SQL, sql } from 'drizzle-orm'
import { issueChannelKey } from '../../../src/domain/caller/issue-key.ts'
import { channels } from '../../../src/domain/caller/table.ts'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import type { Database } from '../../../src/engine/database/database.ts'
import { anEventAtDoor, openDoors, scanTicket } from '../door.ts'
import { aCatalogue, aLocation, anEvent, anOrganization, aRateNamed, aSupplement } from '../factories.ts'
import { openSale } from '../sale.ts'
import type { ReadingServer } from './reading-server.ts'
import { buy, type ReadWorld } from './verbs.ts'

const rate = aRateNamed('1', {
  availability: { sold: 0, available: 1_000_000 },
  max: 50,
  warranty: { enabled: true, percentage: 10, hours: 1 },
  supplements: [aSupplement({ _id: 'sup_1' })],
})

/** Opens a sale of one organization in a new database, whose tables nobody has analyzed. */
export async function openReadWorld(server: ReadingServer): Promise<ReadWorld> {
  const database = await server.createDatabase()
  const catalogue = aCatalogue({
    locations: [aLocation()],
    events: [anEventAtDoor({ _id: 'evt_1', location_id: 'loc_1', ticket_rates: [rate] }, 1)],
  })
  const sale = await openSale(catalogue, { database, settings: openDoors })
  const [channel] = await sale.db.select().from(channels).where(sql`name = 'Shop'`)
  const origin = 'https://page.example'
  const page = await issueChannelKey(sale.db, {
    channelId: channel?.id ?? '',
    origins: [origin],
    mode: 'live',
  })
  return { sale, publishable: { 'x-api-key': page.key, origin } }
}

const others = 400
const ofEach = 100
const of = (prefix: string) => `'${prefix}_x' || o`
const eachOf = (prefix: string) => `'${prefix}_x' || o || '_' || n`

// Columns of a copy of one row that are another's.
const copied = {
  payments: { id: eachOf('pay'), organization_id: of('org'), channel_id: of('chn') },
  tickets: {
    id: eachOf('tkt'),
    payment_id: eachOf('pay'),
    organization_id: of('org'),
    channel_id: of('chn'),
    event_id: of('evt'),
    ticket_rate_id: of('rate'),
    price_id: of('price'),
    qr_code: eachOf('qr'),
    email: `${eachOf('a')} || '@example.com'`,
    document_token: eachOf('doc'),
  },
  changes: {
    id: eachOf('chg'),
    organization_id: of('org'),
    channel_id: of('chn'),
    subject_id: eachOf('tkt'),
    feed_position: 'n',
  },
  check_ins: {
    id: eachOf('chk'),
    organization_id: of('org'),
    integration_id: of('int'),
    idempotency_key: eachOf('non'),
    ticket_id: eachOf('tkt'),
    event_id: of('evt'),
  },
}

/** Inserts copies of one row of a table that is `like` this condition, `each` with other values, without triggers and
 *  foreign keys. */
export async function copyRows(
  db: Database,
  table: string,
  values: Record<string, string>,
  { each, like = sql`true` }: { each: SQL; like?: SQL },
): Promise<void> {
  const columns = await db
    .select({ name: sql<string>`column_name` })
    .from(sql`information_schema.columns`)
    .where(
      sql`table_name = ${table} and table_schema = 'public' and is_generated = 'NEVER' and is_identity = 'NO'`,
    )
  const names = columns.map(({ name }) => `"${name}"`)
  const copies = columns.map(({ name }) => values[name] ?? `"${name}"`)
  const named = sql.identifier(table)
  await db.execute(sql`alter table ${named} disable trigger all`)
  await db.execute(sql`insert into ${named} (${sql.raw(names.join(', '))}) select ${sql.raw(copies.join(', '))}
    from (select * from ${named} where ${like} limit 1) as one, ${each}`)
  await db.execute(sql`alter table ${named} enable trigger all`)
}

/** Fills tables of sales with those of thousands of small organizations, as copies of one row, and analyzes them. */
export async function fillWithOthers(world: ReadWorld): Promise<void> {
  const { db } = world.sale
  const numbers = Array.from({ length: others }, (_, index) => `x${index + 1}`)
  await importCatalogue(db, {
    organizations: numbers.map((name) => anOrganization({ _id: `org_${name}`, slug: name })),
    events: numbers.map((name) =>
      anEvent({
        _id: `evt_${name}`,
        organization_id: `org_${name}`,
        location_id: undefined,
        ticket_rates: [aRateNamed(name)],
      }),
    ),
  })
  // One row of each table, to copy.
  const [ticket] = (await buy(world)).tickets
  await scanTicket(world.sale, { ticketId: ticket?._id })
  const each = sql.raw(`generate_series(1, ${others}) as o, generate_series(1, ${ofEach}) as n`)
  for (const [table, values] of Object.entries(copied)) await copyRows(db, table, values, { each })
  await db.execute(sql`analyze`)
}
