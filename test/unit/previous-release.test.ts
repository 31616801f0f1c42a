// Runs in: unit

import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findPreviousRelease } from '../support/previous-release.ts'

// The commit that the upgrade test builds, in repositories of its own.

let folder: string
let clone: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-git-'))
  clone = join(folder, 'clone')
  await mkdir(join(clone, 'drizzle/meta'), { recursive: true })
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const author = ['-c', 'user.name=Ana', '-c', 'user.email=ana@example.com', '-c', 'commit.gpgsign=false']
const gitAt = (place: string, ...args: string[]) =>
  execFileSync('git', ['-C', place, ...author, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim()
const git = (...args: string[]) => gitAt(clone, ...args)

/** Writes migrations and the journal that lists them. */
async function write(...tags: string[]): Promise<void> {
  for (const tag of tags) await writeFile(join(clone, `drizzle/${tag}.sql`), `-- ${tag}`)
  const entries = tags.map((tag) => ({ tag }))
  await writeFile(join(clone, 'drizzle/meta/_journal.json'), JSON.stringify({ entries }))
}
function commit(subject: string): string {
  git('add', '-A')
  git('commit', '-q', '--allow-empty', '-m', subject)
  return git('rev-parse', 'HEAD')
}

test('the previous release is the state before the newest migration, until a release has a tag', async () => {
  git('init', '-q', '-b', 'main')
  await write('0000_create')
  commit('create')
  const before = commit('before')
  // There is nothing before the first.
  expect(await findPreviousRelease(clone)).toBe(before)
  // Not committed yet.
  await write('0000_create', '0001_widen')
  expect(await findPreviousRelease(clone)).toBe(before)
  commit('widen')
  expect(await findPreviousRelease(clone)).toBe(before)
  const released = commit('after')
  expect(await findPreviousRelease(clone)).toBe(before)

  // Added and renamed on a branch, while another migration came to the main one.
  git('checkout', '-q', '-b', 'branch')
  await write('0000_create', '0001_widen', '0002_early')
  commit('early')
  git('mv', 'drizzle/0002_early.sql', 'drizzle/0003_late.sql')
  await write('0000_create', '0001_widen', '0003_late')
  commit('late')
  git('checkout', '-q', 'main')
  const main = commit('meanwhile')
  git('merge', '-q', '--no-ff', '-m', 'merge', 'branch')
  expect(await findPreviousRelease(clone)).toBe(main)

  git('tag', '-a', '-m', 'first', 'v1.0.0', released)
  expect(await findPreviousRelease(clone)).toBe(released)
  // A release is compared with the one before it, and other tags are none.
  git('tag', '-a', '-m', 'second', 'v1.1.0')
  git('tag', 'version-of-today', 'HEAD~1')
  expect(await findPreviousRelease(clone)).toBe(released)
})

test('a clone without that history is refused with what to do', async () => {
  await write('0000_create')
  await expect(findPreviousRelease(clone)).rejects.toThrow('use a full clone')
  git('init', '-q', '-b', 'main')
  commit('create')
  await write('0000_create', '0001_widen')
  commit('widen')
  commit('after')
  const shallow = join(folder, 'shallow')
  gitAt(folder, 'clone', '-q', '--depth', '2', `file://${clone}`, shallow)
  await expect(findPreviousRelease(shallow)).rejects.toThrow('git fetch --unshallow')
})
