import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../../src/engine/database/open.ts'
import { copyFolder } from './database.ts'
import { makeDatabaseFolder } from './temporary-folder.ts'

// Allocating the default 128 MB of buffers dominates the start of PGlite.
const fewBuffers = '\nshared_buffers = 16MB\n'

/** Creates and migrates an embedded database once; each test copies its folder. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = await makeDatabaseFolder('pglite')
  // Removes the folder as soon as the pipe closes, even if this process was killed.
  const keeper = spawn('sh', ['-c', 'cat; until rm -rf "$1"; do sleep 0.1; done', 'sh', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const empty = join(folder, 'empty')
  const template = join(folder, 'template')
  const made = await openDatabase({ databaseUrl: undefined, dataDir: empty })
  await made.close()
  await appendFile(join(empty, 'postgres/postgresql.conf'), fewBuffers)
  await copyFolder(empty, template)
  const migrated = await openDatabase({ databaseUrl: undefined, dataDir: template })
  await migrated.migrate()
  await migrated.close()
  project.provide('database', { kind: 'pglite', folder, empty, template })
  return async () => {
    const removed = once(keeper, 'exit')
    keeper.stdin.end()
    await removed
  }
}
