import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../src/database.ts'
import { copyFolder } from './database.ts'

/** Makes an embedded database and migrates it, once; each test copies a folder. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'boxoffice-pglite-'))
  const empty = join(folder, 'empty')
  const template = join(folder, 'template')
  const made = await openDatabase({ databaseUrl: undefined, dataDir: empty })
  await made.close()
  await copyFolder(empty, template)
  const migrated = await openDatabase({ databaseUrl: undefined, dataDir: template })
  await migrated.migrate()
  await migrated.close()
  project.provide('database', { kind: 'pglite', folder, empty, template })
  return () => rm(folder, { recursive: true, force: true })
}
