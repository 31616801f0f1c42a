// Runs in: unit

import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'

// Rooms of src/, from the bottom up: a room imports from itself and from rooms above in this list. The engine serves any
// product and knows none, the domain is the product, app puts the two together; '.' is the entry points, server.ts and
// cli.ts.
const rooms = [['engine'], ['domain'], ['app'], ['.']]
// Folders of src/engine/, by the same rule. Folders of one row do not import each other.
const engineFolders = [
  ['base'],
  ['json', 'config'],
  ['database'],
  ['data'],
  ['http'],
  ['cache'],
  ['request'],
  ['graphql', 'rest'],
  ['graphql-server'],
  ['telemetry'],
]
// Folders of src/domain/, and a file that lies below its folder, by the same rule. Imports follow foreign keys; a verb
// that changes several kinds of rows is in sale, which imports them all.
const domainFolders = [
  ['contract', 'language'],
  ['organization/table'],
  ['caller'],
  ['organization'],
  ['change'],
  ['location'],
  ['event'],
  ['stock'],
  ['ticket-rate'],
  ['discount', 'listing'],
  ['payment'],
  ['ticket'],
  ['refund'],
  ['invoice'],
  ['lists'],
  ['delivery', 'webhook'],
  ['sale'],
  ['check-in'],
  ['retention', 'verify'],
  ['import'],
]
// Folders inside of other folders, by the same rule; '.' is what lies beside them.
const innerFolders: Record<string, string[][]> = {
  engine: engineFolders,
  domain: domainFolders,
  'engine/database': [['pool'], ['.']],
  'domain/sale': [
    ['.'],
    ['refund', 'release', 'report'],
    ['settle'],
    ['checkout', 'payment-page'],
    ['box-office', 'attendee'],
  ],
}
// Words of the product, which nothing of the engine knows, in code or comments.
const productWords = [
  ...[
    'ticket',
    'checkout',
    'payment',
    'attendee',
    'supplement',
    'discount',
    'refund',
    'invoice',
    'webhook',
    'warranty',
  ],
  ...[
    'catalogue',
    'publishable',
    'channel',
    'integration',
    'stock',
    'buyer',
    'sold',
    'sale',
    'door',
    'price',
    'scan',
  ],
]
const productWord = new RegExp(
  `(?<![a-z])((${productWords.join('|')})s?|warranties)(?![a-z])|box[ -]office`,
  'i',
)

// Layers that each layer of src/domain/ must not import. The last word of a file's name is its layer; a file
// with any other name is a verb.
const mustNotImport: Record<string, string[]> = {
  table: ['loaders', 'graphql', 'rest', 'body', 'page', 'verb'],
  loaders: ['graphql', 'rest', 'body', 'page', 'verb'],
  verb: ['graphql', 'rest', 'page'],
  body: ['graphql', 'rest', 'page', 'loaders'],
  graphql: ['rest', 'body', 'page'],
  rest: ['graphql', 'page'],
  page: ['graphql', 'rest', 'body'],
}
// What the layers of all things build on: these folders have none.
const withoutLayers = /^domain\/(contract|language|caller)\//
const mayUseDrizzle = /^engine\/(database|data)\/|^domain\/(caller\/|.*(table|loaders)$|import\/)/
const mayTouchProcess = [
  'engine/base/fast',
  ...['cli', 'app/run', 'app/start', 'app/cluster', 'app/shutdown'],
  'engine/database/lock-folder',
  // For `nextTick` alone, by which DataLoader too ends a batch.
  'engine/data/loader',
]
// The seam of a distributed database: everything else gets or names an organization.
const mayAskIfDistributed = [
  ...[
    'data/array-params',
    'data/by-organization',
    'data/query',
    'database/inspect',
    'database/transaction',
  ].map((name) => `engine/${name}`),
]
const maxLines = 350

/** Text of each source file by its path under src/, without the extension. */
type Sources = Record<string, string>

type Rows = string[][]

const folderOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : '.')
/** Name of the row entry that a file inside of a folder belongs to: itself, if a row names it, or its folder. */
const innerFolderOf = (folder: string, rows: Rows, file: string): string | null => {
  if (!file.startsWith(`${folder}/`)) return null
  const path = file.slice(folder.length + 1)
  return heightOf(rows, path) >= 0 ? path : folderOf(path)
}
const layerOf = (file: string): string =>
  file.match(/(?:\/|-)(table|loaders|graphql|rest|body|page)$/)?.[1] ?? 'verb'

const heightOf = (rows: Rows, folder: string): number => rows.findIndex((row) => row.includes(folder))

const liesBelow = (rows: Rows, folder: string, other: string): boolean =>
  folder === other || heightOf(rows, other) < heightOf(rows, folder)

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

function wrongInnerImport(file: string, other: string): string | null {
  for (const [folder, rows] of Object.entries(innerFolders)) {
    const [own, its] = [innerFolderOf(folder, rows, file), innerFolderOf(folder, rows, other)]
    if (own && its && !liesBelow(rows, own, its)) return `${own} of ${folder} may not import ${its}`
  }
  return null
}

/** Returns the reason why one file must not import another; null if it may. */
function wrongImport(file: string, other: string): string | null {
  const [room, otherRoom] = [folderOf(file), folderOf(other)]
  if (other.startsWith('../')) return 'nothing outside of src/ is part of the service'
  if (!liesBelow(rooms, room, otherRoom)) return `${room} may not import ${otherRoom}`
  const wrongInner = wrongInnerImport(file, other)
  if (wrongInner) return wrongInner
  if (room !== 'domain' || otherRoom !== 'domain' || withoutLayers.test(other)) return null
  const [layer, itsLayer] = [layerOf(file), layerOf(other)]
  return mustNotImport[layer]?.includes(itsLayer) ? `${layer} may not import ${itsLayer}` : null
}

/** Finds a word of the product, also as a part of a name; null if there is none. */
function productWordIn(text: string): string | null {
  // A parameter of libpq.
  const words = text.replaceAll('channel_binding', '').replace(/([a-z\d])([A-Z])|_/g, '$1 $2')
  return productWord.exec(words)?.[0] ?? null
}

/** Lists the rules that a file breaks regardless of its imports. */
function wrongInside(file: string, text: string): string[] {
  const isPlaced =
    heightOf(rooms, folderOf(file)) >= 0 &&
    Object.entries(innerFolders).every(([folder, rows]) => {
      const own = innerFolderOf(folder, rows, file)
      return own === null || heightOf(rows, own) >= 0
    })
  const lines = text.trimEnd().split('\n').length
  const usesDrizzle = importsOf(text).some((name) => name.startsWith('drizzle-orm'))
  const isVerb = folderOf(file) === 'domain' && layerOf(file) === 'verb'
  const touchesProcess = /\bprocess(\.\w|\[)|['"](node:)?process['"]/.test(text)
  const word = folderOf(file) === 'engine' ? productWordIn(text) : null
  const asksIfDistributed = /import \{[^}]*\bisDistributed\b/.test(text)
  return [
    ...(asksIfDistributed && !mayAskIfDistributed.includes(file)
      ? [`${file} asks if the database is distributed`]
      : []),
    ...(word === null ? [] : [`${file} says ${word}, of which the engine knows nothing`]),
    ...(isPlaced ? [] : [`${file} is in no listed folder: add a row`]),
    ...(usesDrizzle && !mayUseDrizzle.test(file) && !isVerb ? [`${file} imports drizzle-orm`] : []),
    ...(touchesProcess && !mayTouchProcess.includes(file) ? [`${file} touches process`] : []),
    ...(lines > maxLines ? [`${file} has ${lines} lines: a file past ${maxLines} is two files`] : []),
  ]
}

/** Lists all violations of the rules above. */
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

function readSources(folder = 'src'): Sources {
  const root = new URL(`../../${folder}/`, import.meta.url)
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  return Object.fromEntries(
    files.map((name) => [name.replace(/\.ts$/, ''), readFileSync(new URL(name, root), 'utf8')]),
  )
}

test('every file of src/ imports only from its own folder and from lower ones', () => {
  const sources = readSources()
  expect(Object.keys(sources).length).toBeGreaterThan(200)
  expect(brokenRules(sources)).toEqual([])
})

test('an example imports nothing of the service: its start.js alone brings both together', () => {
  const sources = readSources('examples/shop/src')
  const outside = Object.entries(sources).flatMap(([file, text]) =>
    ownImportsOf(file, text).filter((other) => other.startsWith('../')),
  )
  expect(outside).toEqual([])
  const start = readFileSync(new URL('../../examples/shop/start.js', import.meta.url), 'utf8')
  expect(importsOf(start)).toEqual(['../../dist/app/run.js', './dist/demo/open-demo.js'])
})

test.each([
  ['engine/data/loader', "import { app } from '../../app/app.ts'", 'engine may not import app'],
  [
    'engine/base/money',
    "import type { Event } from '../../domain/event/table.ts'",
    'engine may not import domain',
  ],
  ['domain/event/table', "const app = await import('../../app/app.ts')", 'domain may not import app'],
  ['app/start', "import '../../examples/shop/src/page.ts'", 'nothing outside of src/ is part of the service'],
  ['engine/data/loader', "export * from '../http/html.ts'", 'data of engine may not import http'],
  [
    'engine/rest/snake-case',
    "const builder = await import('../graphql/input-of.ts')",
    'rest of engine may not import graphql',
  ],
  ['domain/ticket/find', "import '../sale/settle.ts'", 'ticket of domain may not import sale'],
  [
    'domain/caller/table',
    "import '../organization/loaders.ts'",
    'caller of domain may not import organization',
  ],
  ['engine/database/pool/pool', "import '../open.ts'", 'pool of engine/database may not import \\.'],
  [
    'domain/sale/refund/find',
    "import '../settle/settle-payment.ts'",
    'refund of domain/sale may not import settle',
  ],
  ['domain/event/graphql', "import { eventBody } from './body.ts'", 'graphql may not import body'],
  ['domain/event/table', "import './loaders.ts'", 'table may not import loaders'],
  ['domain/event/find-event', "import './graphql.ts'", 'verb may not import graphql'],
])('reports an import from a higher folder or layer: %s: %s', (file, text, reason) => {
  expect(brokenRules({ [file]: text })[0]).toMatch(new RegExp(`^${file} imports .*: ${reason}$`))
})

test.each([
  ['// A price of a rate', 'price'],
  ['const ticketsOf = () => []', 'tickets'],
  ["const column = 'sale_type'", 'sale'],
  ['/** Sells at the box office. */', 'box office'],
])('reports a word of the product in the engine: %s', (text, word) => {
  expect(brokenRules({ 'engine/data/loader': text })).toEqual([
    `engine/data/loader says ${word}, of which the engine knows nothing`,
  ])
  expect(brokenRules({ 'domain/event/find': text })).toEqual([])
})

test('lets a file that a row names be imported from below its folder', () => {
  const text = "import { organizations } from '../organization/table.ts'"
  expect(brokenRules({ 'domain/caller/table': text })).toEqual([])
  expect(brokenRules({ 'domain/language/table': text })).toHaveLength(1)
})

test('reports an import cycle once', () => {
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
  [
    "import { isDistributed } from '../../engine/database/database.ts'",
    'asks if the database is distributed',
  ],
])('reports a body with code of another layer: %s', (text, reason) => {
  expect(brokenRules({ 'domain/event/body': text })).toEqual([`domain/event/body ${reason}`])
})

test('reports a file of 351 lines, and not one of 350', () => {
  expect(brokenRules({ 'domain/event/body': 'line\n'.repeat(351) })).toEqual([
    'domain/event/body has 351 lines: a file past 350 is two files',
  ])
  expect(brokenRules({ 'domain/event/body': 'line\n'.repeat(350) })).toEqual([])
})

test.each(['helpers/text', 'engine/helpers/text', 'domain/helpers/text', 'domain/sale/helpers/text'])(
  'reports a file in no listed folder: %s',
  (file) => {
    expect(brokenRules({ [file]: '' })).toEqual([`${file} is in no listed folder: add a row`])
  },
)
