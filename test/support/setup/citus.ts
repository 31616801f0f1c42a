import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import type { TestProject } from 'vitest/node'
import { copiedTables } from '../../../src/domain/caller/table.ts'
import { openDatabase } from '../../../src/engine/database/open.ts'
import { inDatabase } from './database.ts'

type Cluster = { server: string; prefix: string }

// Fewer shards than in production: each table is created once for each of them.
const shards = 4

const run = async (url: string, ...statements: string[]) => {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    for (const statement of statements) await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}

/** Addresses of the maintenance database of the coordinator and of each worker. */
async function nodesOf(server: string): Promise<{ coordinator: URL; workers: URL[] }> {
  const sql = postgres(server, { max: 1 })
  const found = await sql`select groupid, nodename, nodeport from pg_dist_node order by groupid`.finally(() =>
    sql.end(),
  )
  const addresses = found.map(({ nodename, nodeport }) => {
    const url = new URL(inDatabase(server, 'postgres'))
    url.hostname = nodename
    url.port = String(nodeport)
    return url
  })
  const [coordinator, ...workers] = addresses
  if (!coordinator) throw new Error(`${server} is no coordinator of a Citus cluster`)
  return { coordinator, workers }
}

/** Creates a database on every server of the cluster: a copy of `template`, or an empty one of joined servers. */
export async function createCitusDatabase(
  { server }: Cluster,
  name: string,
  template?: string,
): Promise<string> {
  const { coordinator, workers } = await nodesOf(server)
  await Promise.all(
    [coordinator, ...workers].map(async ({ href }) => {
      await run(href, `create database ${name} template ${template ?? `template0 encoding 'UTF8'`}`)
      if (!template) await run(inDatabase(href, name), 'create extension citus')
    }),
  )
  const databaseUrl = inDatabase(server, name)
  if (template) return databaseUrl
  await run(
    databaseUrl,
    `alter database ${name} set citus.shard_count = ${shards}`,
    `select citus_set_coordinator_host('${coordinator.hostname}', ${coordinator.port})`,
    ...workers.map(({ hostname, port }) => `select citus_add_node('${hostname}', ${port})`),
  )
  return databaseUrl
}

// Brings the tables of a database up to date and distributes them. Then nobody connects to it any more, not even
// Citus, because a database with connections can't be copied.
async function makeTemplate(cluster: Cluster, name: string): Promise<void> {
  const database = await openDatabase({
    databaseUrl: await createCitusDatabase(cluster, name),
    dataDir: '',
  })
  try {
    await database.migrate()
    await database.distribute(copiedTables)
  } finally {
    await database.close()
  }
  const { coordinator, workers } = await nodesOf(cluster.server)
  for (const { href } of [coordinator, ...workers])
    await run(
      href,
      `alter database ${name} allow_connections false`,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
    )
}

/** Drops a database on every server of the cluster. */
export async function dropCitusDatabase({ server }: Cluster, name: string): Promise<void> {
  const { coordinator, workers } = await nodesOf(server)
  await Promise.all(
    [coordinator, ...workers].map(({ href }) => run(href, `drop database if exists ${name} with (force)`)),
  )
}

/** Uses the Citus cluster in TEST_CITUS_URL. Drops every database of this run at the end. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const server = process.env.TEST_CITUS_URL
  if (!server)
    throw new Error('TEST_CITUS_URL is not set: set it to the address of the coordinator of a Citus cluster.')
  const cluster = { server, prefix: `boxoffice_test_${randomBytes(6).toString('hex')}` }
  const template = `${cluster.prefix}_template`
  await makeTemplate(cluster, template)
  project.provide('database', { kind: 'citus', ...cluster, empty: '', template })
  return async () => {
    const sql = postgres(server, { max: 1, onnotice: () => {} })
    const left = await sql`select datname from pg_database where starts_with(datname, ${cluster.prefix})`
    await sql.end()
    for (const { datname } of left) await dropCitusDatabase(cluster, datname)
  }
}
