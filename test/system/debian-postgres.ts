import { execFile } from 'node:child_process'
import { access, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { openDatabase } from '../../src/engine/database/open.ts'
import type { TestDatabase } from '../support/harness.ts'
import { inDatabase } from '../support/setup/database.ts'
import type { PostgresServer } from '../support/setup/postgres-server.ts'

const versions = '/usr/lib/postgresql'

/** Finds the newest PostgreSQL of Debian's package `postgresql`, which has programs that the npm package
 *  lacks. */
export async function findDebianPostgres(): Promise<string> {
  const found = await readdir(versions).catch(() => [])
  for (const version of found.sort((one, other) => Number(other) - Number(one))) {
    const folder = join(versions, version)
    const programs = ['postgres', 'initdb', 'pg_dump', 'psql'].map((name) =>
      access(join(folder, 'bin', name)),
    )
    const isWhole = await Promise.all(programs).then(
      () => true,
      () => false,
    )
    if (isWhole) return folder
  }
  throw new Error('PostgreSQL is missing. Install the package postgresql: apt-get install postgresql')
}

/** Runs one of its programs and returns the output. */
export const runProgram = (folder: string, name: string, ...args: string[]) =>
  promisify(execFile)(join(folder, 'bin', name), args, { env: { PATH: process.env.PATH, LC_ALL: 'C' } })

/** Creates an empty database and returns its connection string. */
export async function emptyDatabase({ url }: PostgresServer, name: string): Promise<string> {
  const root = postgres(url, { max: 1, onnotice: () => {} })
  await root.unsafe(`create database ${name}`).finally(() => root.end())
  return inDatabase(url, name)
}

/** A database that the test itself created, and that goes with its server. */
export const databaseAt = (url: string): TestDatabase => ({
  settings: { DATABASE_URL: url },
  open: (options) => openDatabase({ databaseUrl: url, dataDir: '' }, options),
  drop: async () => {},
})
