import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'

// Rooms of src/, from the bottom up: a room imports from itself and from rooms below it. Those of one row know nothing
// of each other.
const rooms = [
  ['shared'],
  ['config'],
  ['database'],
  ['json'],
  ['data', 'http'],
  ['auth'],
  ['cache'],
  ['request'],
  ['graphql', 'rest'],
  ['domain'],
  ['graphql-server'],
  ['app'],
  // server.ts and cli.ts, the two ways in.
  ['.'],
]
// Rooms of the domain, by the same rule. Imports follow foreign keys; a verb that changes several kinds of rows is in
// sale, above all of them.
const domainRooms = [
  ['organization'],
  ['location'],
  ['event'],
  ['ticket-rate'],
  ['change'],
  ['payment'],
  ['ticket'],
  ['refund'],
  ['invoice'],
  ['delivery', 'webhook'],
  ['sale'],
  ['check-in'],
  ['catalogue'],
]
const exceptions = [
  // Keys and grants have foreign keys to the organizations that they belong to.
  { from: 'auth', to: 'domain/organization/table' },
  // Services name the port that payments are made through, and none of its adapters.
  { from: 'request', to: 'domain/payment/provider' },
]

// In the domain the last word of a file's name is its layer, and any other name is a verb. Each row says which layers a
// layer must not import.
const mustNotImport: Record<string, string[]> = {
  table: ['loaders', 'graphql', 'rest', 'body', 'page', 'verb'],
  loaders: ['graphql', 'rest', 'body', 'page', 'verb'],
  verb: ['graphql', 'rest', 'page'],
  body: ['graphql', 'rest', 'page', 'loaders'],
  graphql: ['rest', 'body', 'page'],
  rest: ['graphql', 'page'],
  page: ['graphql', 'rest', 'body'],
}
const mayUseDrizzle = /^(database|data|auth)\/|^domain\/(.*(table|loaders)$|catalogue\/)/
const mayTouchProcess = [
  'shared/fast',
  ...['server', 'cli', 'app/start', 'app/cluster', 'app/shutdown', 'app/unhandled'],
  'database/lock-folder',
]
const maxLines = 200

/** Text of each source file by its path under src/, without the extension. */
type Sources = Record<string, string>

type Rows = string[][]

const roomOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : '.')
const domainRoomOf = (file: string): string | null => file.match(/^domain\/([^/]+)\//)?.[1] ?? null
const layerOf = (file: string): string =>
  file.match(/(?:\/|-)(table|loaders|graphql|rest|body|page)$/)?.[1] ?? 'verb'

const heightOf = (rows: Rows, room: string): number => rows.findIndex((row) => row.includes(room))

const liesBelow = (rows: Rows, room: string, other: string): boolean =>
  room === other || heightOf(rows, other) < heightOf(rows, room)

const isException = (file: string, other: string): boolean =>
  exceptions.some(({ from, to }) => roomOf(file) === from && other === to)

const importsOf = (text: string): string[] =>
  [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)].map(([, name]) => name ?? '')

const ownImportsOf = (file: string, text: string): string[] =>
  importsOf(text)
    .filter((name) => name.startsWith('.'))
    .map((name) => posix.join(posix.dirname(file), name).replace(/\.ts$/, ''))

function cyclesIn(imports: Map<string, string[]>): string[] {
  const cycles: string[] = []
  const done = new Set<string>()
  const walk = (file: string, path: string[]) => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    if (done.has(file) || path.includes(file)) return
    for (const next of imports.get(file) ?? []) walk(next, [...path, file])
    done.add(file)
  }
  for (const file of imports.keys()) walk(file, [])
  return cycles
}

/** What is wrong with one file's import of another; null for nothing. */
function wrongImport(file: string, other: string): string | null {
  const [room, otherRoom] = [roomOf(file), roomOf(other)]
  if (isException(file, other)) return null
  if (!liesBelow(rooms, room, otherRoom)) return `${room} may not import ${otherRoom}`
  if (room !== 'domain' || otherRoom !== 'domain') return null
  const [own, its] = [domainRoomOf(file) ?? '', domainRoomOf(other) ?? '']
  if (!liesBelow(domainRooms, own, its)) return `${own} may not import ${its}`
  const [layer, itsLayer] = [layerOf(file), layerOf(other)]
  return mustNotImport[layer]?.includes(itsLayer) ? `${layer} may not import ${itsLayer}` : null
}

/** Rules above that a file breaks by itself. */
function wrongInside(file: string, text: string): string[] {
  const isPlaced =
    heightOf(rooms, roomOf(file)) >= 0 &&
    (roomOf(file) !== 'domain' || heightOf(domainRooms, domainRoomOf(file) ?? '') >= 0)
  const lines = text.trimEnd().split('\n').length
  const usesDrizzle = importsOf(text).some((name) => name.startsWith('drizzle-orm'))
  const isVerb = roomOf(file) === 'domain' && layerOf(file) === 'verb'
  const touchesProcess = /\bprocess(\.\w|\[)|['"](node:)?process['"]/.test(text)
  return [
    ...(isPlaced ? [] : [`${file} is in no room: give it a row`]),
    ...(usesDrizzle && !mayUseDrizzle.test(file) && !isVerb ? [`${file} imports drizzle-orm`] : []),
    ...(touchesProcess && !mayTouchProcess.includes(file) ? [`${file} touches process`] : []),
    ...(lines > maxLines ? [`${file} has ${lines} lines: a file past ${maxLines} is two files`] : []),
  ]
}

/** Everything in the sources that is against the rules above. */
function brokenRules(sources: Sources): string[] {
  const imports = new Map(Object.entries(sources).map(([file, text]) => [file, ownImportsOf(file, text)]))
  const wrong = Object.entries(sources).flatMap(([file, text]) => [
    ...(imports.get(file) ?? []).flatMap((other) => {
      const reason = wrongImport(file, other)
      return reason ? [`${file} imports ${other}: ${reason}`] : []
    }),
    ...wrongInside(file, text),
  ])
  return [...wrong, ...cyclesIn(imports)]
}

function readSources(): Sources {
  const root = new URL('../../src/', import.meta.url)
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  return Object.fromEntries(
    files.map((name) => [name.replace(/\.ts$/, ''), readFileSync(new URL(name, root), 'utf8')]),
  )
}

test('every file of src/ imports from its own room and from rooms below it', () => {
  const sources = readSources()
  expect(Object.keys(sources).length).toBeGreaterThan(200)
  expect(brokenRules(sources)).toEqual([])
})

test.each([
  ['data/loader', "import { app } from '../app/app.ts'", 'data may not import app'],
  ['data/loader', "export * from '../http/html.ts'", 'data may not import http'],
  ['rest/route', "const builder = await import('../graphql/builder.ts')", 'rest may not import graphql'],
  ['shared/money', "import type { Event } from '../domain/event/table.ts'", 'shared may not import domain'],
  ['domain/ticket/find', "import '../sale/settle.ts'", 'ticket may not import sale'],
  ['domain/event/graphql', "import { eventBody } from './body.ts'", 'graphql may not import body'],
  ['domain/event/table', "import './loaders.ts'", 'table may not import loaders'],
  ['domain/event/find-event', "import './graphql.ts'", 'verb may not import graphql'],
])('an import from above is found: %s: %s', (file, text, reason) => {
  expect(brokenRules({ [file]: text })[0]).toMatch(new RegExp(`^${file} imports .*: ${reason}$`))
})

test('an import of an exception is allowed to its room alone', () => {
  const text = "import { organizations } from '../domain/organization/table.ts'"
  expect(brokenRules({ 'auth/table': text })).toEqual([])
  expect(brokenRules({ 'cache/table': text })).toHaveLength(1)
})

test('an import cycle is found, once', () => {
  const sources = {
    'domain/ticket/one': "import './two.ts'",
    'domain/ticket/two': "import './three.ts'",
    'domain/ticket/three': "import './one.ts'",
    'domain/ticket/four': "import './one.ts'",
  }
  expect(brokenRules(sources)).toEqual([
    'domain/ticket/one → domain/ticket/two → domain/ticket/three → domain/ticket/one',
  ])
})

test.each([
  ["import { eq } from 'drizzle-orm'", 'imports drizzle-orm'],
  ["import { pgTable } from 'drizzle-orm/pg-core'", 'imports drizzle-orm'],
  ['const url = process.env.PUBLIC_URL', 'touches process'],
  ["import { env } from 'node:process'", 'touches process'],
])('a body that does what belongs to another layer is found: %s', (text, reason) => {
  expect(brokenRules({ 'domain/event/body': text })).toEqual([`domain/event/body ${reason}`])
})

test('a file of 201 lines is too long, one of 200 is not', () => {
  expect(brokenRules({ 'domain/event/body': 'line\n'.repeat(201) })).toEqual([
    'domain/event/body has 201 lines: a file past 200 is two files',
  ])
  expect(brokenRules({ 'domain/event/body': 'line\n'.repeat(200) })).toEqual([])
})

test.each(['helpers/text', 'domain/helpers/text'])('a file in no room is found: %s', (file) => {
  expect(brokenRules({ [file]: '' })).toEqual([`${file} is in no room: give it a row`])
})
