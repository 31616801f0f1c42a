import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'

// Who may import whom. A file of src/ is a layer of its own; in a domain's folder the last word of its name is the
// layer, and any other name is a verb. Leaves import nothing of ours, and anybody may import them.
const leaves = [
  ...[
    'errors',
    'database-url',
    'delivery-settings',
    'stripe-settings',
    'setting-types',
    'trust-proxy',
    'ids',
  ],
  ...['money', 'moment', 'case', 'html', 'request-limits'],
]
const verb = [
  ...[
    'batch',
    'batch-queue',
    'bulkhead',
    'given-rows',
    'per-database',
    'catalogue-version',
    'database',
    'due',
    'rows',
    'turn',
    'authenticate',
    'provider',
    'context',
    'scalars',
  ],
  ...['*/table', '*/loaders', '*/verb'],
]
const mayImport: Record<string, string[]> = {
  leaf: [],
  'http-settings': [],
  config: ['http-settings'],
  'lock-folder': [],
  scalars: [],
  database: [],
  migrate: ['database'],
  'migrate-postgres': ['find-host', 'migrate'],
  postgres: ['database', 'driver-over', 'find-host', 'migrate-postgres', 'statement-pool'],
  'driver-over': ['pool-connection', 'run-transaction', 'statement-pool'],
  'find-host': [],
  'pool-connection': ['database', 'find-host'],
  'run-transaction': ['pool-connection'],
  'statement-pool': ['database', 'find-host', 'pool-connection', 'run-transaction'],
  embedded: ['database', 'lock-folder', 'migrate'],
  replicas: ['database'],
  'open-database': ['config', 'database', 'postgres', 'embedded', 'replicas'],
  loader: [],
  rows: [],
  turn: ['database'],
  batch: ['database', 'rows'],
  'batch-queue': [],
  bulkhead: ['database', 'per-database'],
  'per-database': ['database'],
  'given-rows': ['batch'],
  reader: ['batch', 'database', 'loader', 'revised'],
  revised: ['database', 'loader'],
  'request-loaders': ['batch', 'database', 'reader', '*/loaders'],
  due: ['database'],
  repeat: [],
  '*/table': ['due', '*/table'],
  '*/loaders': ['batch', 'database', 'loader', 'reader', 'revised', 'rows', 'turn', '*/table', '*/loaders'],
  authenticate: ['batch', 'database', 'due', 'rows', 'turn', '*/table', 'authenticate'],
  door: ['authenticate', 'batch', 'database', 'turn', '*/loaders', '*/table'],
  provider: ['config', '*/table', 'provider'],
  'catalogue-version': ['database'],
  'remembered-callers': ['authenticate', 'catalogue-version', 'database'],
  'shared-reads': ['authenticate', 'catalogue-version', 'database', 'http', 'remembered-callers'],
  context: [
    ...['batch', 'catalogue-version', 'database', 'authenticate', 'door', 'provider', 'request-loaders'],
    ...['*/loaders', '*/table'],
  ],
  '*/verb': verb,
  builder: ['context', 'scalars'],
  'told-problems': [],
  refused: ['builder', 'told-problems'],
  connection: ['builder'],
  '*/graphql': [
    'builder',
    'connection',
    'refused',
    'context',
    'loader',
    'preload',
    'scalars',
    '*/table',
    '*/verb',
    '*/graphql',
  ],
  '*/body': ['scalars', '*/table', '*/verb', '*/body'],
  rest: ['http', 'authenticate', 'context', 'scalars', 'shared-reads', 'told-problems'],
  '*/rest': [
    'rest',
    'rate-limits',
    'body-writer',
    'context',
    'shared-reads',
    'scalars',
    '*/table',
    '*/verb',
    '*/body',
  ],
  '*/page': ['http', 'rate-limits', 'context', 'scalars', '*/table', '*/verb', '*/page'],
  // An import file has the shape of the answers.
  catalogue: [...verb, '*/body', 'catalogue'],
  literal: [],
  'json-writer': ['literal'],
  'body-writer': ['json-writer', 'literal'],
  run: ['json-writer'],
  'write-value': ['json-writer', 'run'],
  'write-again': ['json-writer', 'write-value'],
  'selected-field': ['run', 'write-value'],
  'compile-operation': ['json-writer', 'literal', 'run', 'selected-field', 'write-again', 'write-value'],
  'write-operation': ['compile-operation', 'json-writer', 'literal', 'run'],
  'compiled-execution': ['compile-operation', 'document-cache', 'run', 'write-operation', 'write-value'],
  preload: ['context', 'loader'],
  schema: ['builder', 'context', 'compiled-execution', '*/graphql'],
  'rate-limits': ['authenticate', 'database', 'http'],
  routes: ['config', 'rest', 'context', 'shared-reads', '*/rest'],
  http: ['database', 'scalars', 'told-problems', 'http'],
  'trial-cache': [],
  'document-cache': ['trial-cache'],
  'introspection-bound': [],
  'bounded-validation': ['introspection-bound'],
  yoga: ['bounded-validation', 'compiled-execution', 'context', 'document-cache', 'schema', 'http'],
  'graphql-params': ['scalars'],
  'decide-once': ['http', 'trial-cache'],
  'catalogue-documents': ['decide-once', 'http', 'schema'],
  'ticket-documents': ['decide-once', 'http'],
  'execute-graphql': [
    ...['compiled-execution', 'context', 'decide-once', 'document-cache', 'http', 'write-operation', 'yoga'],
  ],
  'graphql-route': [
    ...['authenticate', 'catalogue-documents', 'context', 'execute-graphql', 'http', 'shared-reads'],
    'ticket-documents',
  ],
  pages: ['context', 'rate-limits', '*/page', '*/rest'],
  'public-url': ['config'],
  app: [
    ...['authenticate', 'context', 'database', 'provider', 'http', 'rest', 'routes', 'schema'],
    ...['config', 'graphql-route', 'pages', 'public-url', 'rate-limits', 'shared-reads'],
  ],
  // What is done outside of requests: verbs, over and over.
  background: ['database', 'provider', 'repeat', '*/verb'],
  drain: [],
  unhandled: ['database', 'http'],
  serve: [
    ...['app', 'background', 'drain', 'http', 'context', 'database', 'provider', 'catalogue'],
    ...['config', 'public-url', 'unhandled', '*/verb'],
  ],
  workers: ['config', 'drain'],
  server: ['config', 'open-database', 'serve', 'workers'],
  'command-line': ['database', 'scalars', '*/verb', 'catalogue'],
  cli: ['command-line', 'config', 'database', 'open-database'],
  'print-schema': ['schema'],
}
// The parts of the HTTP machine that know no domain.
const http = [
  ...[
    'accept',
    'answer-in-time',
    'client-address',
    'close-connections',
    'connection-limits',
    'documentation',
    'graphiql',
    'graphiql-tabs',
    'graphql-errors',
    'graphql-params',
    'health',
    'home',
    'http-errors',
    'json-body',
    'json-bounds',
    'limit-counters',
    'mask',
    'peek-body',
  ],
  ...['content-coding', 'representation', 'request-log', 'security', 'send-read', 'unknown-routes'],
]
// What context is made of lies below it, whatever its folder.
const named: Record<string, string> = {
  'access/authenticate': 'authenticate',
  'access/key': 'authenticate',
  'access/known-credentials': 'authenticate',
  'payment/provider': 'provider',
  'payment/sandbox': 'provider',
  'payment/open-provider': 'provider',
  'payment/stripe': 'provider',
  'payment/stripe-amount': 'provider',
  'payment/stripe-events': 'provider',
  'payment/stripe-failure': 'provider',
  'payment/stripe-outcome': 'provider',
  'payment/stripe-signature': 'provider',
}
const mayUseDrizzle = [
  'database',
  'due',
  'postgres',
  'embedded',
  'replicas',
  'batch',
  'given-rows',
  'reader',
  'rows',
  'authenticate',
  '*/table',
  '*/loaders',
  '*/verb',
  'catalogue',
]
const mayTouchProcess = ['server', 'serve', 'unhandled', 'workers', 'drain', 'cli', 'lock-folder']
const maxLines = 200

/** Text of each source file by its path under src/, without the extension. */
type Sources = Record<string, string>

function layerOf(file: string): string {
  if (named[file]) return named[file]
  if (leaves.includes(file)) return 'leaf'
  if (http.includes(file)) return 'http'
  if (!file.includes('/')) return file
  if (file.startsWith('catalogue/')) return 'catalogue'
  const last = file.match(/(?:\/|-)(table|loaders|graphql|rest|body|page)$/)?.[1]
  return `*/${last ?? 'verb'}`
}

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

/** Everything in the sources that is against the rules above. */
function trespassesIn(sources: Sources): string[] {
  const imports = new Map(Object.entries(sources).map(([file, text]) => [file, ownImportsOf(file, text)]))
  const inFile = Object.entries(sources).flatMap(([file, text]) => {
    const layer = layerOf(file)
    const row = mayImport[layer]
    if (!row) return [`${file} is in no layer: give it a row in the table`]
    const allowed = layer === 'leaf' ? row : ['leaf', ...row]
    const lines = text.trimEnd().split('\n').length
    return [
      ...(imports.get(file) ?? [])
        .filter((other) => !allowed.includes(layerOf(other)))
        .map((other) => `${file} imports ${other}: ${layer} may not import ${layerOf(other)}`),
      ...(importsOf(text).some((name) => name.startsWith('drizzle-orm')) && !mayUseDrizzle.includes(layer)
        ? [`${file} imports drizzle-orm`]
        : []),
      ...(/\bprocess(\.\w|\[)|['"](node:)?process['"]/.test(text) && !mayTouchProcess.includes(layer)
        ? [`${file} touches process`]
        : []),
      ...(lines > maxLines ? [`${file} has ${lines} lines: a file past ${maxLines} is two files`] : []),
    ]
  })
  return [...inFile, ...cyclesIn(imports)]
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

test('the house keeps to its own rules', () => {
  const sources = readSources()
  expect(Object.keys(sources).length).toBeGreaterThan(30)
  expect(trespassesIn(sources)).toEqual([])
})

test('a surface that imports the other is told', () => {
  const sources = { 'event/graphql': "import { eventBody } from './body.ts'", 'event/body': '' }
  expect(trespassesIn(sources)).toEqual(['event/graphql imports event/body: */graphql may not import */body'])
})

test.each([
  ["import type { Event } from './event/table.ts'", 'money imports event/table: leaf may not import */table'],
  ["export * from './ids.ts'", 'money imports ids: leaf may not import leaf'],
  ["const ids = await import('./ids.ts')", 'money imports ids: leaf may not import leaf'],
])('a leaf that imports something of ours is told: %s', (text, told) => {
  expect(trespassesIn({ money: text, ids: '', 'event/table': '' })).toEqual([told])
})

test('a cycle is told, and only once', () => {
  const sources = {
    'ticket/one': "import './two.ts'",
    'ticket/two': "import './three.ts'",
    'ticket/three': "import './one.ts'",
    'ticket/four': "import './one.ts'",
  }
  expect(trespassesIn(sources)).toEqual(['ticket/one → ticket/two → ticket/three → ticket/one'])
})

test.each([
  ["import { eq } from 'drizzle-orm'", 'event/body imports drizzle-orm'],
  ["import { pgTable } from 'drizzle-orm/pg-core'", 'event/body imports drizzle-orm'],
  ['const url = process.env.PUBLIC_URL', 'event/body touches process'],
  ["import { env } from 'node:process'", 'event/body touches process'],
])('what belongs to another layer is told: %s', (text, told) => {
  expect(trespassesIn({ 'event/body': text })).toEqual([told])
})

test('a file of 201 lines is told, one of 200 is not', () => {
  expect(trespassesIn({ 'event/body': 'line\n'.repeat(201) })).toEqual([
    'event/body has 201 lines: a file past 200 is two files',
  ])
  expect(trespassesIn({ 'event/body': 'line\n'.repeat(200) })).toEqual([])
})

test('a file that no layer was thought of for is told', () => {
  expect(trespassesIn({ helpers: '' })).toEqual(['helpers is in no layer: give it a row in the table'])
})
