import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { createYoga } from 'graphql-yoga'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { schema } from '../../../src/app/schema.ts'
import { sha256 } from '../../../src/engine/base/ids.ts'
import { yogaPlugins } from '../../../src/engine/graphql-server/execute.ts'
import { aCatalogue, anEvent, aRateOf } from '../../support/factories.ts'
import { fuzzRuns, seed } from '../../support/fuzz/seed.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { openSocket } from '../../support/sockets.ts'

// The operation that is executed is the one that was checked, whatever else a request says. An answer names its document:
// each has a response key of its own.

const documentOf = (key: string) => `{ ${key}: events(first: 1) { nodes { id } } }`
const asked = documentOf('asked')
const planted = documentOf('planted')
const encoded = encodeURIComponent(planted)

let folder: string
let sale: Sale
let strict: Sale
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'manifest-'))
  const file = join(folder, 'manifest.json')
  await writeFile(file, JSON.stringify({ asked }))
  const catalogue = aCatalogue({ events: [anEvent({ _id: 'evt_1', ticket_rates: [aRateOf(10)] })] })
  const settings = { SHARED_READS_MS: '60000', TRUSTED_DOCUMENTS: file }
  sale = await openSale(catalogue, { listen: true, settings })
  const only = { ...settings, TRUSTED_DOCUMENTS_ONLY: 'true' }
  strict = await openSale(catalogue, { listen: true, settings: only })
})
afterAll(async () => {
  await sale.close()
  await strict.close()
  await rm(folder, { recursive: true, force: true })
})

/** Sends bytes on a connection of their own and reads until it ends. */
async function sendRaw(url: string, bytes: string): Promise<string> {
  const socket = await openSocket(url)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.setTimeout(10_000, () => socket.destroy())
  socket.write(bytes)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString()
}

const persistedQuery = { version: 1, sha256Hash: sha256(asked) }
const forms: Record<string, unknown>[] = [
  { query: asked },
  { query: asked, id: 'planted', clientInfo: {} },
  { query: asked, operationName: '', extensions: { persistedQuery } },
  { documentId: 'asked' },
  { extensions: { persistedQuery } },
]

const inQuery = (form: Record<string, unknown>): string =>
  new URLSearchParams(
    Object.entries(form).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ).toString()

// Texts that lead a reader of URLs to another operation than the one that was checked.
const leads = [`/graphql?query=${encoded}&z=`, `\\graphql?query=${encoded}#`, `/?query=${encoded}`]
const hosts = [
  ...['x', 'x:80', '[::1]:80', '%', 'a:b', 'x:65536', '', '[', '@', 'x@y', 'é', '//', '?', '#'],
  ...leads.map((lead) => `x${lead}`),
  `x#?query=${encoded}`,
  `u:p@x${leads[0]}`,
]
const around: ((target: string) => string)[] = [
  (target) => target,
  (target) => `http://x${target}`,
  (target) => `http://%${target}`,
  (target) => `https://u:p@x:65536${target}`,
  (target) => `/${target}`,
  (target) => `\\${target}`,
  (target) => `${target}#?query=${encoded}`,
  (target) => `${target}&query[]=${encoded}&Query=${encoded}`,
  (target) => target.replace('?', '/?'),
  (target) => target.replace('?', ';'),
  (target) => target.replace('?', `\\?query=${encoded}&`),
  (target) => target.replace('?', '?%00='),
]
const otherHeaders = [
  `x-forwarded-host: x${leads[0]}`,
  `x-original-url: /graphql?query=${encoded}`,
  `x-rewrite-url: /graphql?query=${encoded}`,
  `x-forwarded-proto: http://x/graphql?query=${encoded}&z=`,
  'x-http-method-override: GET',
  `referer: http://x/graphql?query=${encoded}`,
  `content-location: /graphql?query=${encoded}`,
  `host: x${leads[0]}`,
  'accept: application/json',
  'content-type: application/json',
]
const accepts = ['application/json', 'application/graphql-response+json', 'text/event-stream', '*/*']

const rawRequest = fc.record({
  method: fc.constantFrom('GET', 'GET', 'POST', 'POST', 'HEAD', 'PUT', 'get'),
  form: fc.constantFrom(...forms),
  host: fc.oneof(fc.constantFrom(...hosts), fc.constant('x')),
  wrap: fc.oneof(fc.constantFrom(...around), fc.constantFrom(...around.slice(0, 2))),
  accept: fc.constantFrom(...accepts),
  others: fc.subarray(otherHeaders, { maxLength: 2 }),
  isKnown: fc.boolean(),
  throughYoga: fc.boolean(),
})
type RawRequest = typeof rawRequest extends fc.Arbitrary<infer Value> ? Value : never

function bytesOf({ method, form, host, wrap, accept, others, isKnown }: RawRequest, at: Sale): string {
  const isPost = method === 'POST'
  const body = isPost ? JSON.stringify(form) : ''
  const lines = [
    `${method} ${wrap(`/graphql?${isPost ? `query=${encoded}` : inQuery(form)}`)} HTTP/1.1`,
    `host: ${host}`,
    'connection: close',
    `accept: ${accept}`,
    ...(isPost ? ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`] : []),
    ...(isKnown ? [`x-api-key: ${at.channel['x-api-key']}`] : []),
    ...others,
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

// Key of the document that was executed.
const executedIn = (answer: string): string | undefined =>
  /\{"(?:errors":.*"data|data)":\{"(\w+)"/.exec(answer)?.[1]

const counts = { executed: 0, refused: 0 }

async function probe(url: string, at: Sale, request: RawRequest): Promise<void> {
  if (request.throughYoga) yogaPlugins.push({})
  const answer = await sendRaw(url, bytesOf(request, at)).finally(
    () => request.throughYoga && yogaPlugins.pop(),
  )
  // A server that takes no such request may close the connection without a word.
  expect(answer).toMatch(/^(HTTP\/1\.1 [234]\d\d |$)/)
  const key = executedIn(answer)
  expect([undefined, 'asked']).toContain(key)
  counts[key ? 'executed' : 'refused']++
}

const askHonestly = async (at: Sale) =>
  (await at.rest('POST', '/graphql', { headers: at.channel, body: { query: asked } })).json()

test.each(['any document is executed', 'only trusted documents are'])(
  `what is executed was checked, where %s (FUZZ_SEED=${seed})`,
  async (which) => {
    const at = which.startsWith('any') ? sale : strict
    Object.assign(counts, { executed: 0, refused: 0 })
    await at.rest('POST', '/graphql', {
      headers: at.channel,
      body: { query: asked, extensions: { persistedQuery } },
    })
    await fc.assert(
      fc.asyncProperty(rawRequest, (request) => probe(at.url, at, request)),
      fuzzRuns(200, 3),
    )
    // Neither is the answer that is kept for others that of another document.
    expect(await askHonestly(at)).toEqual({ data: { asked: { nodes: [{ id: 'evt_1' }] } } })
    // Control: many were answered, and many refused.
    expect(counts.executed).toBeGreaterThan(20)
    expect(counts.refused).toBeGreaterThan(20)
  },
)

const plain: RawRequest = {
  ...{
    method: 'GET',
    form: { query: asked },
    host: 'x',
    wrap: (target) => target,
    accept: 'application/json',
  },
  ...{ others: [], isKnown: true, throughYoga: false },
}

test.each([
  ['an absolute target', { wrap: (target: string) => `http://elsewhere${target}` }],
  ['one with a port', { wrap: (target: string) => `https://elsewhere:8443${target}` }],
])('%s is served by GET and POST', async (_what, more) => {
  for (const method of ['GET', 'POST'] as const)
    expect(await sendRaw(sale.url, bytesOf({ ...plain, ...more, method }, sale))).toContain(
      '{"data":{"asked":{"nodes":[{"id":"evt_1"}]}}}',
    )
})

test('control: a gateway that hands the raw request to Yoga is found', async () => {
  const yoga = createYoga({ schema, logging: false })
  const server = createServer(async (raw, reply) => {
    try {
      const sent = { raw, method: raw.method, headers: raw.headers, body: '' }
      const answer = await yoga.handleNodeRequest(sent as never)
      reply.end(await answer.text())
    } catch {
      reply.writeHead(500).end()
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const lead = { ...plain, host: `x${leads[0]}` }
  try {
    expect(executedIn(await sendRaw(url, bytesOf(plain, sale)))).toBe('asked')
    expect(executedIn(await sendRaw(url, bytesOf(lead, sale)))).toBe('planted')
    await expect(probe(url, sale, lead)).rejects.toThrow()
    await expect(probe(url, sale, { ...plain, host: '%' })).rejects.toThrow()
  } finally {
    server.close()
  }
})
