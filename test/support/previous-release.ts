import { execFile } from 'node:child_process'
import { access, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

// The release before this one, built from git history to run beside it.

const run = promisify(execFile)
const here = fileURLToPath(new URL('../../', import.meta.url))

// The clone may belong to another user than the one who runs the tests.
const gitIn =
  (clone: string) =>
  async (...args: string[]) =>
    (
      await run('git', ['-C', clone, '-c', 'safe.directory=*', ...args], { maxBuffer: 16 * 1024 ** 2 })
    ).stdout.trim()

/** Finds the commit of the previous release: the newest tag `v…` before HEAD. As long as there is none, the
 *  state of the first parents before the newest migration; HEAD if that migration is not committed yet, or is the
 *  first one, before which there is nothing.
 *  Throws if the clone has no such history. */
export async function findPreviousRelease(clone = here): Promise<string> {
  const git = gitIn(clone)
  const isClone = await git('rev-parse', 'HEAD').catch(() => '')
  if (!isClone)
    throw new Error('The previous release is built from git history, and there is none: use a full clone.')
  const tag = await git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD~1').catch(() => '')
  if (tag) return git('rev-parse', `${tag}^{commit}`)
  const journal = await readFile(join(clone, 'drizzle/meta/_journal.json'), 'utf8')
  const { entries } = JSON.parse(journal) as { entries: { tag: string }[] }
  if (entries.length === 1) return git('rev-parse', 'HEAD')
  const newest = entries.at(-1)?.tag
  const added = await git(
    ...['log', '--first-parent', '-m', '--no-renames', '--diff-filter=A', '--format=%H', '-1'],
    ...['HEAD', '--', `drizzle/${newest}.sql`],
  )
  if (!added) return git('rev-parse', 'HEAD')
  return git('rev-parse', '--verify', `${added}^1`).catch(() => {
    throw new Error(
      `The clone ends at the commit that added ${newest}.sql, so the release before it is missing: run git fetch --unshallow.`,
    )
  })
}

type Packages = { dependencies: Record<string, string> }

/** Lists the packages of the earlier state that the later one has in other versions. */
const differingPackages = (before: Packages, now: Packages): string[] =>
  Object.entries(before.dependencies)
    .filter(([name, version]) => version !== now.dependencies[name])
    .map(([name, version]) => `${name} ${now.dependencies[name] ?? 'missing'} instead of ${version}`)

export type PreviousRelease = {
  /** Folder with its `dist/` and `drizzle/`. */
  folder: string
  /** Its commit, and the packages that it runs with in other versions than its own. */
  description: string
  remove(): Promise<void>
}

const built = ['src', 'drizzle', 'package.json', 'tsconfig.json', 'tsconfig.build.json']

/** Builds the previous release, or the commit in PREVIOUS_RELEASE, in a temporary folder. It runs with the
 *  packages of this clone: a type error with these is ignored, and a package that it can't start without fails
 *  the test that starts it. */
export async function buildPreviousRelease(): Promise<PreviousRelease> {
  const git = gitIn(here)
  const commit = process.env.PREVIOUS_RELEASE ?? (await findPreviousRelease())
  const folder = await mkdtemp(join(tmpdir(), 'boxoffice-previous-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const archive = join(folder, 'archive.tar')
    await git('archive', '--format=tar', `--output=${archive}`, commit, ...built)
    await run('tar', ['-xf', archive, '-C', folder])
    await rm(archive)
    const packages = join(here, 'node_modules')
    await symlink(packages, join(folder, 'node_modules'))
    const tsc = run(join(packages, '.bin/tsc'), ['-p', 'tsconfig.build.json'], { cwd: folder })
    const errors = await tsc.then(
      () => '',
      ({ stdout }) => String(stdout),
    )
    const packagesOf = async (place: string) =>
      JSON.parse(await readFile(join(place, 'package.json'), 'utf8')) as Packages
    const description = [
      await git('log', '-1', '--format=%h %s', commit),
      ...differingPackages(await packagesOf(folder), await packagesOf(here)),
    ].join('\n')
    await access(join(folder, 'dist/server.js')).catch(() => {
      throw new Error(`The previous release could not be built.\n${description}\n${errors}`)
    })
    return { folder, description, remove }
  } catch (error) {
    await remove()
    throw error
  }
}
