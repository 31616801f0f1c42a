// Runs in: pglite

import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { localFiles, makeOwnFolder } from '../../../src/engine/base/files.ts'
import { openDatabase } from '../../../src/engine/database/open.ts'
import { isDataFolder, restoreEmbedded } from '../../../src/engine/database/pglite.ts'
import { copyFolder } from '../../support/setup/database.ts'

// Other users of the machine: what is sold holds addresses and secrets of webhooks.

let parent: string
let folder: string
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'boxoffice-own-'))
  await chmod(parent, 0o755)
  folder = join(parent, 'data')
})
afterEach(() => rm(parent, { recursive: true, force: true }))

const open = () => openDatabase({ databaseUrl: undefined, dataDir: folder })

async function copyTemplate(): Promise<void> {
  const given = inject('database')
  if (given.kind !== 'pglite') throw new Error('the template is a folder of the embedded database')
  await copyFolder(given.template, folder)
}

/** Modes of a folder and of all that is in it which let others do anything. */
async function openToOthers(path: string): Promise<string[]> {
  const names = await readdir(path, { recursive: true })
  const modes = await Promise.all(
    ['', ...names].map(async (name) => [name, (await stat(join(path, name))).mode] as const),
  )
  return modes.flatMap(([name, mode]) =>
    (mode & 0o077) === 0 ? [] : `${name} ${(mode & 0o777).toString(8)}`,
  )
}

// Nobody, if this process may become that; else this process itself, which the modes alone are asked for.
const isRoot = process.getuid?.() === 0
const nobody = 65_534
function readAsNobody(path: string): string {
  const program = `console.log(require('node:fs').readFileSync(${JSON.stringify(path)}).length)`
  const { stderr } = spawnSync(process.execPath, ['--eval', program], {
    uid: nobody,
    gid: nobody,
    encoding: 'utf8',
  })
  return /E[A-Z]+/.exec(stderr)?.[0] ?? 'read'
}

test('a database that others could read is closed to them, and so are a backup and what is restored of it', async () => {
  await copyTemplate()
  await chmod(join(folder, 'postgres'), 0o755)
  await chmod(folder, 0o777)
  const database = await open()
  await database.db.execute('create table made_since (id integer)')
  const backup = join(parent, 'backup.tgz')
  await localFiles.write(backup, await database.dump())
  await database.close()
  expect((await stat(backup)).mode & 0o777).toBe(0o600)
  const restored = join(parent, 'restored')
  await restoreEmbedded(restored, { backup: await readFile(backup), name: 'backup.tgz', replace: false })
  for (const path of [folder, restored]) {
    expect((await stat(path)).mode & 0o777).toBe(0o700)
    expect(await openToOthers(join(path, 'postgres'))).toEqual([])
  }
  if (!isRoot) return
  await writeFile(join(parent, 'open'), 'x', { mode: 0o644 })
  expect(readAsNobody(join(parent, 'open'))).toBe('read')
  for (const path of [folder, restored])
    expect(readAsNobody(join(path, 'postgres', 'global', 'pg_control'))).toBe('EACCES')
})

test('a folder that is made, is empty or holds a database is closed to others; another keeps its mode', async () => {
  const modeAfter = async (mode: number | null, ...names: string[]) => {
    if (mode !== null) await mkdir(folder)
    for (const name of names) await writeFile(join(folder, name), '')
    if (mode !== null) await chmod(folder, mode)
    await makeOwnFolder(folder, 'DATA_DIR', isDataFolder)
    const made = (await stat(folder)).mode & 0o7777
    await rm(folder, { recursive: true })
    return made
  }
  expect(await modeAfter(null)).toBe(0o700)
  for (const mode of [0o755, 0o777, 0o770, 0o701]) {
    expect(await modeAfter(mode)).toBe(0o700)
    expect(await modeAfter(mode, 'lock.3')).toBe(0o700)
  }
  expect(await modeAfter(0o755, 'letters')).toBe(0o755)
  expect(await modeAfter(0o1755)).toBe(0o1755)
})

test('a folder that users share is refused, and left as it is', async () => {
  for (const [mode, name] of [
    [0o1777, 'postgres'],
    [0o777, 'letters'],
    [0o775, 'letters'],
  ] as const) {
    await mkdir(join(folder, name), { recursive: true })
    await chmod(folder, mode)
    await expect(open()).rejects.toThrow(
      `Others may write in the folder ${folder}: set DATA_DIR to one of this user alone, such as ${join(folder, 'boxoffice')}.`,
    )
    expect((await stat(folder)).mode & 0o7777).toBe(mode)
    expect(await readdir(folder)).toEqual([name])
    await rm(folder, { recursive: true })
  }
})

test('a backup is for its user alone, though somebody left an open file for it', async () => {
  await mkdir(folder)
  const file = join(folder, 'backup.tgz')
  await writeFile(`${file}.part`, 'of before', { mode: 0o666 })
  await chmod(`${file}.part`, 0o666)
  await localFiles.write(file, Buffer.from('backup'))
  expect([(await stat(file)).mode & 0o777, await readFile(file, 'utf8')]).toEqual([0o600, 'backup'])
})

test('a full disk is told with the folder and its setting', async () => {
  await mkdir(folder)
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]).status === 0
  console.log(isMounted ? 'a file system of 64 kB is full' : 'no file system can be mounted')
  if (!isMounted) return
  try {
    await chmod(folder, 0o700)
    await writeFile(join(folder, 'letters'), Buffer.alloc(60_000)).catch(() => {})
    await writeFile(join(folder, 'more'), Buffer.alloc(60_000)).catch(() => {})
    await expect(open()).rejects.toThrow(
      `The folder ${folder} (DATA_DIR) can't be written (ENOSPC): make room on its disk, or name another.`,
    )
  } finally {
    spawnSync('umount', ['-l', folder])
  }
})
