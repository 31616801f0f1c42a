import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import postgres, { type Sql } from 'postgres'
import { inDatabase } from '../setup/database.ts'
import { type PostgresServer, startPostgres } from '../setup/postgres-server.ts'
import { countHolds, createTargets, openTargets } from './hold-statements.ts'
import type { Sample, Target } from './requests.ts'
import type { Holds } from './sides.ts'

const run = promisify(execFile)

// A sale that can be lost isn't sold: no checkout is compared without these.
const durability = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' }
const settings = { ...durability, autovacuum: 'on', shared_buffers: '512MB', max_wal_size: '4GB' }

const start: (settings: Record<string, string>) => Promise<PostgresServer> = startPostgres

export type BenchDatabase = {
  url: string
  version: string
  sql: Sql
  /** Why a commit here is not worth what a commit is; null where it is. */
  problem: string | null
  close(): Promise<void>
}

/** A database of this run's own, on the server that BENCH_DATABASE_URL names, else on one that is started for it. */
export async function createDatabase(): Promise<BenchDatabase> {
  const given = process.env.BENCH_DATABASE_URL
  const server = given ? { url: given, stop: async () => {} } : await start(settings)
  const name = `boxoffice_bench_${randomBytes(6).toString('hex')}`
  const onServer = postgres(server.url, { max: 1, onnotice: () => {} })
  try {
    await onServer`create database ${onServer(name)} template template0 encoding 'UTF8'`
    const url = inDatabase(server.url, name)
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    const shown = await sql<{ name: string; setting: string }[]>`
      select name, setting from pg_settings where name = any(${[...Object.keys(durability), 'server_version']})`
    const off = shown.flatMap(({ name, setting }) => (setting === 'off' ? [`${name} is off`] : []))
    return {
      url,
      version: shown.find(({ name }) => name === 'server_version')?.setting ?? '',
      sql,
      problem: off.length > 0 ? `commits are not durable: ${off.join(', ')}` : null,
      async close() {
        await sql.end()
        await onServer`drop database ${onServer(name)} with (force)`
        await onServer.end()
        await server.stop()
      },
    }
  } catch (error) {
    await onServer.end()
    await server.stop()
    throw error
  }
}

// The command line of the production build, as an operator would use it.
const boxoffice = async (url: string, ...args: string[]): Promise<string> =>
  (await run(process.execPath, ['dist/cli.js', ...args], { env: { ...process.env, DATABASE_URL: url } }))
    .stdout

/** Migrates and seeds, and issues a key that sees all of it. */
export async function fillDatabase({ url, sql }: BenchDatabase, events: number): Promise<{ apiKey: string }> {
  await boxoffice(url, 'migrate')
  await boxoffice(url, 'seed', '--events', String(events))
  const organizations = await sql<{ id: string }[]>`select id from organizations order by id`
  const issued: { key: string } = JSON.parse(
    await boxoffice(
      url,
      ...['key', 'issue', 'channel', '--name', 'bench', '--json'],
      ...organizations.flatMap(({ id }) => ['--organization', id]),
    ),
  )
  await sql.unsafe(createTargets)
  await sql.unsafe('alter table bench_targets add primary key (number)')
  await sql.unsafe(openTargets)
  await sql.unsafe('vacuum analyze')
  await sql.unsafe('checkpoint')
  return { apiKey: issued.key }
}

/** How many rows of each kind the catalogue has. */
export async function sizesOf({ sql }: BenchDatabase): Promise<Record<string, number>> {
  const tables = [
    'organizations',
    'locations',
    'events',
    'ticket_rates',
    'prices',
    'supplements',
    'questions',
  ]
  const sizes = await Promise.all(
    tables.map(async (table) => {
      const [row] = await sql<{ count: number }[]>`select count(*)::integer as count from ${sql(table)}`
      return [table, row?.count ?? 0] as const
    }),
  )
  return Object.fromEntries(sizes)
}

/** Something to look for: a word that about one event in fifty has in its name, and a place that has events. */
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

export async function targetsOf({ sql }: BenchDatabase): Promise<Target[]> {
  const targets = await sql<Target[]>`
    select rate_id as "rateId", price_id as "priceId" from bench_targets order by number`
  if (targets.length === 0) throw new Error('the catalogue has no rate that a ticket can be bought of')
  return targets
}

export async function holdsOf({ sql }: BenchDatabase): Promise<Holds> {
  const [counts] = await sql.unsafe<Record<string, string>[]>(countHolds)
  return Object.fromEntries(Object.entries(counts ?? {}).map(([kind, count]) => [kind, Number(count)]))
}
