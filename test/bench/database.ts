import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import postgres, { type Sql } from 'postgres'
import { inDatabase } from '../support/setup/database.ts'
import { startPostgres } from '../support/setup/postgres-server.ts'
import { countHolds, createDiscounts, createTargets, openTargets } from './hold-statements.ts'
import type { Sample, Target } from './requests.ts'
import type { Holds } from './sides.ts'
import { countSold, sellTickets } from './sold-tickets.ts'

const run = promisify(execFile)

// Durability settings. Checkouts are compared only with these and on a real disk, because a sale must survive
// a crash.
const durability = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' }
const settings = { ...durability, autovacuum: 'on', shared_buffers: '512MB', max_wal_size: '4GB' }

export type BenchDatabase = {
  name: string
  url: string
  /** A single connection. */
  sql: Sql
  drop(): Promise<void>
}

export type BenchServer = {
  version: string
  /** Reason why commits here are not durable, or null. */
  problem: string | null
  /** Creates a database for this run: empty, or a copy of one without connections. */
  create(template?: BenchDatabase): Promise<BenchDatabase>
  stop(): Promise<void>
}

/** Uses the server in BENCH_DATABASE_URL, or starts one for this run. */
export async function openServer(): Promise<BenchServer> {
  const given = process.env.BENCH_DATABASE_URL
  const server = given ? { url: given, stop: async () => {} } : await startPostgres(settings, 'disk')
  const sql = postgres(server.url, { max: 1, onnotice: () => {} })
  const stop = async () => {
    await sql.end()
    await server.stop()
  }
  try {
    const shown = await sql<{ name: string; setting: string }[]>`
      select name, setting from pg_settings where name = any(${[...Object.keys(durability), 'server_version']})`
    const off = shown.flatMap(({ name, setting }) => (setting === 'off' ? [`${name} is off`] : []))
    return {
      version: shown.find(({ name }) => name === 'server_version')?.setting ?? '',
      problem: off.length > 0 ? `commits are not durable: ${off.join(', ')}` : null,
      async create(template) {
        const name = `boxoffice_bench_${randomBytes(6).toString('hex')}`
        await template?.sql.end()
        await sql`create database ${sql(name)} template ${sql(template?.name ?? 'template0')} encoding 'UTF8'`
        const url = inDatabase(server.url, name)
        const own = postgres(url, { max: 1, onnotice: () => {} })
        return {
          name,
          url,
          sql: own,
          async drop() {
            await own.end()
            await sql`drop database ${sql(name)} with (force)`
          },
        }
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

// Runs a program of the production build.
const runProgram = async (url: string, program: string, ...args: string[]): Promise<string> =>
  (await run(process.execPath, [program, ...args], { env: { ...process.env, DATABASE_URL: url } })).stdout

const boxoffice = (url: string, ...args: string[]) => runProgram(url, 'dist/cli.js', ...args)

async function issueKey(url: string, ...options: string[]): Promise<string> {
  const issued: { key: string } = JSON.parse(await boxoffice(url, 'key', 'issue', ...options, '--json'))
  return issued.key
}

/** Updates statistics and writes a checkpoint, so that measurements start from the same state. */
export async function settle({ sql }: BenchDatabase): Promise<void> {
  await sql.unsafe('vacuum analyze')
  await sql.unsafe('checkpoint')
}

/** Migrates and seeds the database, and issues keys to `channels` channels with all grants. */
export async function fillDatabase(
  database: BenchDatabase,
  { events, channels }: { events: number; channels: number },
): Promise<{ keys: string[] }> {
  const { url, sql } = database
  await boxoffice(url, 'migrate')
  await runProgram(url, 'examples/shop/dist/demo/seed.js', '--events', String(events))
  const organizations = await sql<{ id: string }[]>`select id from organizations order by id`
  const granted = organizations.flatMap(({ id }) => ['--organization', id])
  const keys: string[] = []
  for (let number = 1; number <= channels; number++)
    keys.push(await issueKey(url, 'channel', '--name', `bench ${number}`, ...granted))
  await sql.unsafe(createTargets)
  await sql.unsafe('alter table bench_targets add primary key (number)')
  await sql.unsafe(openTargets)
  await sql.unsafe(createDiscounts)
  await settle(database)
  return { keys }
}

/** Sells `count` tickets. Throws if counters and rows differ. */
export async function sell(database: BenchDatabase, count: number): Promise<void> {
  await database.sql.begin(async (tx) => {
    for (const statement of sellTickets(count)) await tx.unsafe(statement)
    const [sold] = await tx.unsafe<{ rows: string; counters: string }[]>(countSold)
    if (Number(sold?.rows) !== count || sold?.rows !== sold?.counters)
      throw new Error(`${count} tickets sold, but ${sold?.rows} rows and ${sold?.counters} in the counters`)
  })
  await settle(database)
}

/** Queues a mail for each sold ticket. */
export async function queue({ sql }: BenchDatabase): Promise<void> {
  await sql`insert into deliveries (organization_id, id, payment_id, medium, recipient)
    select organization_id, 'dlv_' || id, payment_id, 'email', email from tickets where status = 'active'`
}

/** Counts the queued mails. */
export async function queuedIn({ sql }: BenchDatabase): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from deliveries where status = 'pending'`
  return row?.count ?? 0
}

/** Issues a key to an integration of the organization that sold most tickets. Returns it with some tickets of its largest
 *  event, which nobody has entered with and of which much is left to refund. */
export async function ticketsOf({ url, sql }: BenchDatabase): Promise<{
  organizationId: string
  key: string
  eventId: string
  ids: string[]
  currency: string
}> {
  const [organization] = await sql<{ id: string; currency: string; eventId: string }[]>`
    select organization_id as id, currency, mode() within group (order by event_id) as "eventId"
    from tickets group by 1, 2 order by count(*) desc, 1 limit 1`
  if (!organization) throw new Error('no ticket is sold')
  const tickets = await sql<{ id: string }[]>`
    select id from tickets where event_id = ${organization.eventId} and entered = 0 and total_amount >= 1000 order by md5(id) limit 2000`
  const key = await issueKey(url, 'integration', '--name', 'bench', '--organization', organization.id)
  const { id: organizationId, currency, eventId } = organization
  return { organizationId, key, eventId, ids: tickets.map(({ id }) => id), currency }
}

/** Counts the rows of each kind. */
export async function sizesOf({ sql }: BenchDatabase): Promise<Record<string, number>> {
  const tables = [
    ...['organizations', 'locations', 'events', 'ticket_rates', 'prices', 'supplements', 'questions'],
    'tickets',
  ]
  const sizes = await Promise.all(
    tables.map(async (table) => {
      const [row] = await sql<{ count: number }[]>`select count(*)::integer as count from ${sql(table)}`
      return [table, row?.count ?? 0] as const
    }),
  )
  return Object.fromEntries(sizes)
}

/** Finds search terms: a word in the names of about one event in fifty, and a place with events. */
export async function sampleOf({ sql }: BenchDatabase): Promise<Sample> {
  const [word] = await sql<{ word: string }[]>`
    select word from ts_stat('select search_words from events where end_date > now()')
    where word ~ '^[a-z]{4,}$'
    order by abs(ndoc - (select count(*) from events where end_date > now()) / 50.0), word limit 1`
  const [place] = await sql<{ latitude: number; longitude: number }[]>`
    select latitude, longitude from locations join events on events.location_id = locations.id
    where latitude is not null and end_date > now()
    group by locations.id order by count(*) desc, locations.id limit 1`
  if (!word || !place) throw new Error('the catalogue has nothing to look for')
  return { word: word.word, latitude: place.latitude, longitude: place.longitude, radius: 25 }
}

/** Lists what can be bought, optionally of one organization. */
export async function targetsOf({ sql }: BenchDatabase, organizationId?: string): Promise<Target[]> {
  const targets = await sql<Target[]>`
    select rate_id as "rateId", price_id as "priceId" from bench_targets
    where organization_id = ${organizationId ?? sql`organization_id`} order by number`
  if (targets.length === 0) throw new Error('the catalogue has no rate that a ticket can be bought of')
  return targets
}

export async function holdsOf({ sql }: BenchDatabase): Promise<Holds> {
  const [counts] = await sql.unsafe<Record<string, string>[]>(countHolds)
  return Object.fromEntries(Object.entries(counts ?? {}).map(([kind, count]) => [kind, Number(count)]))
}

const countIn = async (
  { sql }: BenchDatabase,
  kind: string,
  table: string,
  where: string,
): Promise<Holds> => {
  const [row] = await sql.unsafe<{ count: number }[]>(
    `select count(*)::integer as count from ${table} where ${where}`,
  )
  return { [kind]: row?.count ?? 0 }
}

/** Counts the scans that let somebody in or out. */
export const scansOf = (database: BenchDatabase) => countIn(database, 'scans', 'check_ins', "outcome = 'OK'")

/** Counts the refunds that succeeded. */
export const refundsOf = (database: BenchDatabase) =>
  countIn(database, 'refunds', 'refunds', "status = 'succeeded'")
