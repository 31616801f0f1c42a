import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../../src/engine/database/open.ts'
import { inDatabase } from './database.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

/** Uses the server in TEST_DATABASE_URL, or starts one. Migrates a template once, which each test copies.
 *  Drops every database of this run at the end. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL
  // Without processes that read for it, the server makes a connection in four fifths of the time.
  const server: PostgresServer = given
    ? { url: given, stop: async () => {} }
    : await startPostgres({ io_method: 'sync' })
  const sql = postgres(server.url, { max: 1, onnotice: () => {} })
  const prefix = `boxoffice_test_${randomBytes(6).toString('hex')}`
  const tearDown = async () => {
    try {
      const left = await sql`select datname from pg_database where starts_with(datname, ${prefix})`
      for (const { datname } of left) await sql`drop database if exists ${sql(datname)} with (force)`
    } finally {
      await sql.end()
      await server.stop()
    }
  }
  try {
    const template = `${prefix}_template`
    await sql`create database ${sql(template)} template template0 encoding 'UTF8'`
    const database = await openDatabase({ databaseUrl: inDatabase(server.url, template), dataDir: '' })
    await database.migrate()
    await database.close()
    project.provide('database', {
      kind: 'postgres',
      server: server.url,
      prefix,
      empty: 'template0',
      template,
    })
    return tearDown
  } catch (error) {
    await tearDown()
    throw error
  }
}
