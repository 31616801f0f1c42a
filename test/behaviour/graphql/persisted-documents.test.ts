import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Caller } from '../../../src/domain/caller/caller.ts'
import { persistDocuments } from '../../../src/engine/graphql-server/persisted-documents.ts'
import { aCatalogue, anEvent, aRateOf } from '../../support/factories.ts'
import { scopedHeaders } from '../../support/modes.ts'
import { openSale, type Sale } from '../../support/sale.ts'

// Documents that clients name by an identifier: automatic and trusted ones.

const hash = (text: string, algorithm = 'sha256') => createHash(algorithm).update(text).digest('hex')

const byRelay = 'query RelayQuery($id: ID!) { event(by: { id: $id }) { id } }'
const byCodegen = 'query CodegenQuery { events(first: 1) { nodes { id } } }'
const byApollo = 'query ApolloQuery { __typename }'
const cancel = 'mutation Cancel { cancelTickets(input: { of: { ticketId: "tkt_0" } }) { __typename } }'

let folder: string
let sale: Sale
let strict: Sale
const catalogue = aCatalogue({ events: [anEvent({ _id: 'evt_1', ticket_rates: [aRateOf(10)] })] })
const trusted = {
  [hash(byRelay, 'md5')]: byRelay,
  [hash(byCodegen)]: byCodegen,
  [hash(cancel)]: cancel,
}
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'manifests-'))
  const file = await manifestOf(trusted)
  sale = await openSale(catalogue, { settings: { TRUSTED_DOCUMENTS: file } })
  strict = await openSale(catalogue, {
    settings: { TRUSTED_DOCUMENTS: file, TRUSTED_DOCUMENTS_ONLY: 'true' },
  })
})
afterAll(async () => {
  await sale.close()
  await strict.close()
  await rm(folder, { recursive: true, force: true })
})

test('the schema is told to anybody, but not where only trusted documents are executed', async () => {
  const read = async (at: Sale) => {
    const page = await at.rest('GET', '/')
    const { statusCode } = await at.rest('GET', '/schema.graphql')
    return [statusCode, page.body.includes('schema.graphql')]
  }
  expect(await read(sale)).toEqual([200, true])
  expect(await read(strict)).toEqual([404, false])
})

let files = 0
async function manifestOf(content: unknown): Promise<string> {
  const path = join(folder, `manifest-${files++}.json`)
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const post = async (
  body: object,
  { at = sale, headers = at.channel }: { at?: Sale; headers?: object } = {},
) => {
  const answer = await at.rest('POST', '/graphql', { headers: { ...headers }, body })
  return { status: answer.statusCode, ...answer.json() }
}
const get = async (parameters: Record<string, unknown>, at = sale) => {
  const texts = Object.entries(parameters).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  const answer = await at.rest('GET', `/graphql?${new URLSearchParams(texts)}`, { headers: at.channel })
  return { status: answer.statusCode, ...answer.json() }
}
const persisted = (text: string, sha256Hash = hash(text)) => ({
  extensions: { persistedQuery: { version: 1 as const, sha256Hash } },
})

const notFound = {
  status: 200,
  errors: [
    {
      message: 'PersistedQueryNotFound',
      extensions: { code: 'PERSISTED_QUERY_NOT_FOUND', path: 'extensions.persistedQuery.sha256Hash' },
    },
  ],
}

test.each([
  ['POST', post],
  ['GET', get],
])('a document is executed by its hash alone once it was sent with it by %s', async (method, ask) => {
  const query = `query By${method}($id: ID!) { event(by: { id: $id }) { id } }`
  const variables = { id: 'evt_1' }
  expect(await ask({ ...persisted(query), variables })).toMatchObject(notFound)
  const answer = { status: 200, data: { event: { id: 'evt_1' } } }
  expect(await ask({ query, ...persisted(query), variables })).toEqual(answer)
  for (let time = 0; time < 3; time++) expect(await ask({ ...persisted(query), variables })).toEqual(answer)
  // The other method finds it as well.
  for (const other of [post, get]) expect(await other({ ...persisted(query), variables })).toEqual(answer)
})

test('a known hash is answered without the document, compiled, and in as many statements', async () => {
  const query = 'query Known { events(first: 1) { nodes { id ticketRates { id } } } }'
  await post({ query, ...persisted(query) })
  await post({ query })
  const count = async (body: object) => {
    sale.statements.reset()
    await post(body)
    return sale.statements.length
  }
  expect(await count(persisted(query))).toBe(await count({ query }))
})

test('a mutation is not executed by GET, whichever way it is named', async () => {
  await post({ query: cancel, ...persisted(cancel) })
  for (const named of [persisted(cancel), { documentId: hash(cancel) }])
    expect(await get(named)).toMatchObject({
      status: 405,
      errors: [{ extensions: { code: 'METHOD_NOT_ALLOWED' } }],
    })
})

test('a hash of another document is refused, and not kept', async () => {
  const query = 'query Other { __typename }'
  for (const wrong of [hash('other'), hash(query).toUpperCase(), 'x', hash(query, 'md5')]) {
    expect(await post({ query, ...persisted(query, wrong) })).toMatchObject({
      status: 400,
      errors: [
        {
          message: 'provided sha does not match query',
          extensions: { code: 'INVALID', path: 'extensions.persistedQuery.sha256Hash' },
        },
      ],
    })
    expect(await post(persisted(query, wrong))).toMatchObject(notFound)
  }
})

test.each([
  [
    'another version',
    { persistedQuery: { version: 2, sha256Hash: 'x' } },
    'extensions.persistedQuery.version',
  ],
  ['no hash', { persistedQuery: { version: 1 } }, 'extensions.persistedQuery.sha256Hash'],
  ['a number', { persistedQuery: { version: 1, sha256Hash: 7 } }, 'extensions.persistedQuery.sha256Hash'],
  [
    'a long hash',
    { persistedQuery: { version: 1, sha256Hash: 'x'.repeat(257) } },
    'extensions.persistedQuery.sha256Hash',
  ],
  ['a text', { persistedQuery: 'x' }, 'extensions.persistedQuery'],
])('a persisted query with %s is refused at its place', async (_what, extensions, path) => {
  for (const ask of [post, get]) {
    const { status, errors } = await ask({ extensions })
    expect(status).toBe(400)
    expect(errors[0].extensions.path).toBe(path)
  }
})

test.each([
  ['documentId', { documentId: hash(byCodegen) }],
  ['documentId with its algorithm', { documentId: `sha256:${hash(byCodegen)}` }],
  ['id', { id: hash(byCodegen) }],
  ['doc_id', { doc_id: hash(byCodegen) }],
  ['the hash of a persisted query', persisted(byCodegen)],
])('a trusted document is executed by %s', async (_form, named) => {
  for (const at of [sale, strict])
    for (let time = 0; time < 3; time++)
      expect(await post(named, { at })).toEqual({
        status: 200,
        data: { events: { nodes: [{ id: 'evt_1' }] } },
      })
  expect(await get(named)).toMatchObject({ status: 200 })
})

test('a trusted document takes variables, and obeys the rights of the caller', async () => {
  const named = { doc_id: hash(byRelay, 'md5'), query: null, variables: { id: 'evt_1' } }
  expect(await post(named)).toEqual({ status: 200, data: { event: { id: 'evt_1' } } })
  expect(await post(named, { headers: {} })).toMatchObject({
    errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
  })
  const atDoor = await scopedHeaders(sale, 'door')
  expect(await post({ documentId: hash(byCodegen) }, { headers: atDoor })).toMatchObject({
    errors: [{ extensions: { code: 'FORBIDDEN' } }],
  })
})

test.each([
  [{ documentId: 'unknown' }, 'PERSISTED_QUERY_NOT_FOUND', 'documentId'],
  [{ id: '__proto__' }, 'PERSISTED_QUERY_NOT_FOUND', 'id'],
  [{ documentId: '' }, 'REQUIRED', 'query'],
  [{ documentId: 7, id: 'b' }, 'INVALID', 'documentId'],
  [{ doc_id: 7 }, 'INVALID', 'doc_id'],
  [{ id: 'x'.repeat(257) }, 'INVALID', 'id'],
  [{ documentId: 'a', id: hash(byCodegen) }, 'PERSISTED_QUERY_NOT_FOUND', 'documentId'],
  [{}, 'REQUIRED', 'query'],
  [{ query: null, documentId: null }, 'REQUIRED', 'query'],
])('%j is refused as %s', async (body, code, path) => {
  expect((await post(body)).errors[0].extensions).toMatchObject({ code, path })
})

test.each([
  [
    'a document beside any name',
    { query: byCodegen, documentId: hash(cancel), id: hash(byRelay), doc_id: 7 },
  ],
  ['documentId beside an operation of a client', { documentId: hash(byCodegen), id: 'AppQuery', doc_id: {} }],
  ['a hash beside other names', { ...persisted(byCodegen), documentId: hash(cancel), id: 'AppQuery' }],
  ['an identifier beside empty ones', { query: '', documentId: '', id: '', doc_id: hash(byCodegen) }],
])('one names the document, and the rest is ignored: %s', async (_what, body) => {
  for (const at of [sale, strict])
    for (const answer of [await post(body, { at }), await get(body, at)])
      expect(answer).toEqual({ status: 200, data: { events: { nodes: [{ id: 'evt_1' }] } } })
})

test('only trusted documents are executed where the operator says so', async () => {
  const untrusted = { status: 403, errors: [{ extensions: { code: 'UNTRUSTED_DOCUMENT', path: 'query' } }] }
  for (const query of [
    'query Any { __typename }',
    '{ __schema { types { name } } }',
    `${byCodegen} # more`,
    'not a document',
  ]) {
    expect(await post({ query }, { at: strict })).toMatchObject(untrusted)
    expect(await post({ query, ...persisted(query) }, { at: strict })).toMatchObject(untrusted)
    expect(await post(persisted(query), { at: strict })).toMatchObject(notFound)
    expect(await get({ query }, strict)).toMatchObject(untrusted)
  }
  expect(await post({ query: byCodegen }, { at: strict })).toMatchObject({ status: 200 })
  // Control: the same documents are executed where any is.
  expect(await post({ query: 'query Any { __typename }' })).toMatchObject({ status: 200 })
})

test('only trusted documents: there is no GraphiQL, and the home page links none', async () => {
  const headers = { accept: 'text/html,*/*;q=0.8' }
  const page = await strict.app.inject({ url: '/graphql', headers })
  expect([page.statusCode, page.headers['content-type']]).toEqual([400, 'application/json; charset=utf-8'])
  expect((await strict.app.inject({ url: '/' })).body).not.toContain('GraphiQL')
  expect((await sale.app.inject({ url: '/graphql', headers })).headers['content-type']).toContain('text/html')
  expect((await sale.app.inject({ url: '/' })).body).toContain('GraphiQL')
})

test('a manifest of Apollo is read', async () => {
  const operations = [{ id: 'apollo-1', name: 'ApolloQuery', type: 'query', body: byApollo }]
  const file = await manifestOf({ format: 'apollo-persisted-query-manifest', version: 1, operations })
  const other = await openSale(catalogue, { settings: { TRUSTED_DOCUMENTS: file } })
  try {
    expect(await post({ ...persisted('', 'apollo-1') }, { at: other })).toEqual({
      status: 200,
      data: { __typename: 'Query' },
    })
  } finally {
    await other.close()
  }
})

test.each([
  ['no JSON', '{'],
  ['a list', []],
  ['nothing', {}],
  ['a number', { a: 1 }],
  ['an empty document', { a: '' }],
  ['an empty identifier', { '': byApollo }],
  ['a malformed document', { a: 'query {' }],
  ['a document that is too long', { a: `${byApollo}${' '.repeat(50_000)}` }],
  ['a document of too many tokens', { a: `{ ${'a '.repeat(2_001)} }` }],
  ['another version', { format: 'apollo-persisted-query-manifest', version: 2, operations: [] }],
  [
    'two documents of one identifier',
    {
      format: 'apollo-persisted-query-manifest',
      version: 1,
      operations: [
        { id: 'a', body: byApollo },
        { id: 'a', body: byCodegen },
      ],
    },
  ],
])('a manifest with %s stops the start and names the setting', async (_what, content) => {
  const opening = openSale(catalogue, { settings: { TRUSTED_DOCUMENTS: await manifestOf(content) } })
  await expect(opening).rejects.toThrow(/TRUSTED_DOCUMENTS: /)
})

test('a manifest that is missing stops the start and names the setting', async () => {
  const opening = openSale(catalogue, { settings: { TRUSTED_DOCUMENTS: join(folder, 'none.json') } })
  await expect(opening).rejects.toThrow("TRUSTED_DOCUMENTS: the manifest can't be read (ENOENT)")
})

const organizationIds = ['org_1']
const channel: Caller = { kind: 'channel', channelId: 'chn_1', organizationIds, mode: 'live' }
const publishable: Caller = { ...channel, kind: 'publishable', origin: '', origins: [] }

test.each<[string, Caller | null]>([
  ['strangers', null],
  ['publishable keys', publishable],
])('%s evict only what they registered', (_who, caller) => {
  const documents = persistDocuments(new Map(), false)
  const register = (query: string, by: Caller | null) => {
    const sent = { query, ...persisted(query) }
    documents.resolve(sent)
    documents.keep(sent, by, { isPublic: by?.kind === 'publishable' })
    return sent
  }
  const own = register('query Own { __typename }', channel)
  const first = register(`query Stranger { __typename } #${'x'.repeat(10_000)}`, caller)
  for (let index = 0; index < 1_000; index++)
    register(`query S${index} { __typename } #${'x'.repeat(10_000)}`, caller)
  expect(documents.resolve({ extensions: own.extensions }).query).toBe(own.query)
  expect(() => documents.resolve({ extensions: first.extensions })).toThrow('PersistedQueryNotFound')
})
