import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

// Packages that run code when they are installed: those that package.json names, and no others.

type Locked = { name?: string; hasInstallScript?: boolean }
const read = (path: string) => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'))
const { allowScripts } = read('package.json') as { allowScripts: Record<string, boolean> }

const nameOf = (path: string, { name }: Locked) => name ?? path.split('node_modules/').at(-1) ?? ''
const lockedIn = (file: string) => Object.entries(read(file).packages as Record<string, Locked>)
const withScripts = (file: string) =>
  new Set(lockedIn(file).flatMap(([path, locked]) => (locked.hasInstallScript ? [nameOf(path, locked)] : [])))

const lockFiles = [
  'package-lock.json',
  'test/clients/package-lock.json',
  'test/bench/mercurius/package-lock.json',
]

test.each(lockFiles)('%s installs no script that package.json does not allow', (file) => {
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name])
  expect([...withScripts(file)].filter((name) => !allowed.includes(name))).toEqual([])
  expect(lockedIn(file).map(([path, locked]) => nameOf(path, locked))).not.toContain('@scarf/scarf')
})

test('control: a package with an install script is seen', () => {
  expect([...withScripts('package-lock.json')]).toContain('esbuild')
})
