// Runs in: unit

import {
  buildSchema,
  type DocumentNode,
  execute,
  type GraphQLFieldResolver,
  GraphQLObjectType,
  getOperationAST,
  parse,
} from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import { beforeEach, expect, test } from 'vitest'
import {
  type CompiledOperation,
  compiledOperation,
} from '../../src/engine/graphql-server/compiler/compiled-operation.ts'
import {
  type ExecutionContext,
  limitedExecution,
  replayOutcomes,
  standardExecution,
} from '../../src/engine/graphql-server/compiler/plugin.ts'

// A separate schema, because the gateway's has no fields that fail, return wrong types or resolve late.
const schema = buildSchema(`
  directive @told on FIELD
  interface Thing { id: ID! }
  type Cat implements Thing { id: ID!, name: String, friends: [Thing!]!, mood: Mood, lives: Int!, liar: Int, gone: String!, heard: ID, home: Home, homes: [Home!]! }
  type Home { id: ID!, rooms(more: Int = 0): Int!, keeper: Cat }
  type Dog implements Thing { id: ID!, barks: Boolean!, friends(first: Int = 1): [Thing!]! }
  union Pet = Cat | Dog
  enum Mood { CALM WILD }
  input Near { lat: Float!, radius: Float = 5 }
  type Query {
    pets(first: Int = 9, near: Near): [Pet!]!
    cat: Cat
    late(ms: Int): Cat
    none: Cat
    must: Cat!
    broken: Cat
    lateBroken: Cat
    list: [Int]
    matrix: [[Int!]!]
    thing(id: ID!): Thing
    heard: ID
  }
  type Mutation { adopt(name: String!): Cat, fail: Cat, count: Int! }
`)

// More than the cache of recently serialized objects holds.
const homes = Array.from({ length: 20 }, (_, rooms) => ({ id: `home_${rooms}`, rooms }))
const dog = { __typename: 'Dog', id: 'dog', barks: true, friends: [] as object[] }
const cat = {
  __typename: 'Cat',
  id: 'cat',
  name: 'Tom',
  mood: 'CALM',
  lives: 9,
  liar: 1,
  gone: 'here',
  friends: [dog],
  homes,
  home: homes[0],
}
const late = async <Value>(value: () => Value): Promise<Value> => {
  await new Promise((resolve) => setImmediate(resolve))
  return value()
}

let made = 0
let counted = 0
beforeEach(() => {
  made = 0
  counted = 0
})
const make = <Value>(value: () => Value) =>
  late(() => {
    made++
    return value()
  })

const fail = () => {
  throw new Error('broken')
}
const resolvers: Record<string, Record<string, GraphQLFieldResolver<never, unknown>>> = {
  Query: {
    pets: (_root, { first }) => [cat, dog, cat].slice(0, first),
    cat: () => cat,
    late: () => late(() => cat),
    none: () => null,
    must: () => null,
    broken: fail,
    lateBroken: () => late(fail),
    list: () => [1, null, 3],
    matrix: () => [[1, 2], []],
    heard: (_root, _args, _ctx, { variableValues }) => variableValues.id,
    thing: async (_root, { id }) => [cat, dog].find((thing) => thing.id === id) ?? null,
  },
  Cat: {
    friends: ({ friends }: typeof cat) => late(() => friends),
    liar: () => 'not a number',
    gone: () => late(() => null),
    heard: (_cat, _args, _ctx, { variableValues }) => variableValues.id,
  },
  Home: {
    rooms: ({ rooms }: (typeof homes)[0], { more }) => {
      counted++
      return rooms + more
    },
    keeper: () => late(() => cat),
  },
  Dog: { friends: ({ friends }: typeof dog, { first }) => friends.slice(0, first) },
  Mutation: {
    adopt: (_root, { name }) => make(() => ({ ...cat, name })),
    fail: () => make(fail),
    count: () => late(() => made),
  },
}
for (const [type, fields] of Object.entries(resolvers)) {
  const found = schema.getType(type)
  for (const [name, resolve] of Object.entries(fields))
    if (found instanceof GraphQLObjectType) Object.assign(found.getFields()[name] ?? {}, { resolve })
}
replayOutcomes(schema)
const { home } = (schema.getType('Cat') as GraphQLObjectType).getFields()
if (home) home.extensions = { preload: () => [] }

const operations = new Map<string, CompiledOperation>()

function operationOf(document: DocumentNode, name?: string | null): CompiledOperation | null {
  const operation = getOperationAST(document, name)
  const text = document.loc?.source.body ?? ''
  if (!operation) return null
  const found = operations.get(text) ?? compiledOperation(schema, document, operation)
  operations.set(text, found)
  return found
}

let standard: number
// Runs before the limits, so it sees only operations that graphql-js executes.
const watch: Plugin = {
  onExecute({ executeFn, setExecuteFn }) {
    setExecuteFn((args) => {
      standard++
      return executeFn(args)
    })
  },
}
type Asked = ExecutionContext & { document: DocumentNode }
const yoga = createYoga<Asked>({
  schema,
  plugins: [
    standardExecution,
    watch,
    limitedExecution(({ document }: Asked, name) => operationOf(document, name)),
  ],
  maskedErrors: false,
  logging: false,
})

// As the gateway asks: in compiled form, else Yoga, which goes on from there.
async function ask(query: string, variables: Record<string, unknown> = {}) {
  standard = 0
  const executed = await operationOf(parse(query))?.execute({}, variables)
  if (Buffer.isBuffer(executed)) return { text: executed.toString(), compiled: true }
  const body = JSON.stringify({ query, variables })
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const init = { method: 'POST', headers, body }
  const context = { document: parse(query), ...(executed && { outcomes: executed }) }
  const text = await (await yoga.fetch('http://test/graphql', init, context)).text()
  return { text, compiled: standard === 0 }
}

const expected = async (query: string, variables: Record<string, unknown> = {}) =>
  JSON.stringify(await execute({ schema, document: parse(query), variableValues: variables }))

const fragment = 'fragment Named on Thing { id ... on Cat { name mood } }'

test.each([
  ['{ cat { id name mood lives friends { id ... on Dog { barks } } } }', {}],
  ['{ pets { __typename ... on Cat { name } ... on Dog { barks friends { id } } } }', {}],
  ['query ($n: Int) { pets(first: $n) { ... on Thing { id } } }', { n: 1 }],
  ['query ($n: Int = 2) { pets(first: $n, near: { lat: 1 }) { ... on Thing { id } } }', {}],
  [`{ a: cat { ...Named } b: late { ...Named again: name } } ${fragment}`, {}],
  ['{ cat { id } cat { name friends { id } } cat { friends { ... on Dog { barks } } } }', {}],
  ['{ none { id } list matrix }', {}],
  ['query ($id: ID!) { thing(id: $id) { id __typename } other: thing(id: "nobody") { id } }', { id: 'dog' }],
  [
    'query ($yes: Boolean!) { cat { id @include(if: $yes) name @skip(if: $yes) } list @include(if: $yes) }',
    { yes: true },
  ],
  [
    'query ($yes: Boolean!) { cat { id @include(if: $yes) name @skip(if: $yes) } list @include(if: $yes) }',
    { yes: false },
  ],
  ['{ cat @told { id } __typename }', {}],
  ['{ pets { ... on Cat { home { id rooms } homes { id rooms } again: home { id rooms } } } }', {}],
  [
    '{ cat { home { id } other: home { rooms } more: home { rooms(more: 2) } homes { rooms(more: 1) } } }',
    {},
  ],
  ['{ a: cat { home { id keeper { home { id } } } } b: cat { home { id keeper { home { id } } } } }', {}],
  ['{ cat { home { ...At } homes { ...At } } late { home { ...At } } } fragment At on Home { rooms id }', {}],
  ['{ then: __typename cat { __proto__: id constructor: name toJSON: lives then: mood } }', {}],
  ['{ __typename late { name friends { id } mood } list again: late { friends { __typename } id } }', {}],
])('compiled execution matches graphql-js: %s %j', async (query, variables) => {
  const first = await ask(query, variables)
  expect(first).toEqual({ text: await expected(query, variables), compiled: true })
  expect(await ask(query, variables)).toEqual(first)
})

test('a repeated object in the same selection is serialized once and copied', async () => {
  await ask('{ pets { ... on Cat { home { rooms } } } }')
  expect(counted).toBe(1)
  await ask('{ pets { ... on Cat { home { rooms } } } }')
  expect(counted).toBe(2)
  await ask('{ cat { home { rooms } home2: home { more: rooms } } }')
  expect(counted).toBe(4)
})

// The variant compiled for one request must not serve another with different directive variables.
test('@include and @skip are evaluated for each request', async () => {
  const query =
    'query ($a: Boolean!, $b: Boolean!) { cat { id @include(if: $a) ... @skip(if: $b) { name } } }'
  for (const variables of [
    { a: true, b: false },
    { a: false, b: true },
    { a: true, b: true },
    { a: false, b: false },
  ])
    expect((await ask(query, variables)).text).toBe(await expected(query, variables))
})

test('variants of an operation beyond the maximum fall back to graphql-js', async () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const query = `query (${names.map((name) => `$${name}: Boolean!`)}) { cat { ${names.map((name) => `${name}: id @include(if: $${name})`).join(' ')} } }`
  const ways: boolean[] = []
  for (let variant = 0; variant < 32; variant++) {
    const variables = Object.fromEntries(names.map((name, bit) => [name, (variant >> bit) % 2 === 1]))
    const { text, compiled } = await ask(query, variables)
    expect(text).toBe(await expected(query, variables))
    ways.push(compiled)
  }
  expect(ways.filter(Boolean)).toHaveLength(16)
})

test.each([
  ['a field that fails', '{ cat { id } broken { id } }'],
  ['one that fails late', '{ lateBroken { id } late { id } a: lateBroken { id } }'],
  ['one that fails at once behind one that fails late', '{ lateBroken { id } broken { id } }'],
  ['a value of another type', '{ cat { id liar } }'],
  ['null where there must be a value', '{ cat { id gone } list }'],
  ['null that takes the whole answer with it', '{ must { id } cat { id } }'],
  ['introspection', '{ __type(name: "Cat") { name fields { name } } }'],
])('compiled execution falls back to graphql-js: %s', async (_what, query) => {
  for (let times = 0; times < 2; times++) {
    const { text, compiled } = await ask(query)
    expect(JSON.parse(text)).toEqual(JSON.parse(await expected(query)))
    expect(compiled).toBe(false)
  }
})

test('a resolver reads the variables at the root; one below the root falls back to graphql-js', async () => {
  const variables = { id: 'dog' }
  const atRoot = 'query ($id: ID!) { thing(id: $id) { id } heard }'
  expect(await ask(atRoot, variables)).toEqual({ text: await expected(atRoot, variables), compiled: true })
  const below = 'query ($id: ID!) { thing(id: $id) { id } cat { heard } }'
  const { text, compiled } = await ask(below, variables)
  expect(text).toBe('{"data":{"thing":{"id":"dog"},"cat":{"heard":"dog"}}}')
  expect(compiled).toBe(false)
})

test('mutation fields execute serially', async () => {
  const query = 'mutation { before: count adopt(name: "Tim") { name friends { id } } after: count }'
  const { text, compiled } = await ask(query)
  expect(JSON.parse(text)).toEqual({
    data: { before: 0, adopt: { name: 'Tim', friends: [{ id: 'dog' }] }, after: 1 },
  })
  expect(compiled).toBe(true)
})

test('a mutation executes once even if completing its result fails', async () => {
  const query =
    'mutation { one: adopt(name: "Tim") { name gone } fail { id } two: adopt(name: "Tam") { name } count }'
  const { text } = await ask(query)
  const { data, errors } = JSON.parse(text)
  expect(data).toEqual({ one: null, fail: null, two: { name: 'Tam' }, count: 3 })
  expect(errors.map(({ path }: { path: string[] }) => path.join('.'))).toEqual(['one.gone', 'fail'])
  expect(made).toBe(3)
})

test('variables that graphql-js rejects are rejected', async () => {
  const query = 'query ($near: Near) { pets(near: $near) { __typename } }'
  for (const near of [{ lat: 'x' }, { lat: 1, far: 2 }, {}, [], 'here']) {
    const { text, compiled } = await ask(query, { near })
    expect(JSON.parse(text)).not.toHaveProperty('data')
    expect(JSON.parse(text).errors[0].message).toMatch(/^Variable "\$near" got invalid value/)
    expect(compiled).toBe(true)
  }
  expect((await ask(query, { near: { lat: 1 } })).compiled).toBe(true)
})

test('the number of variable errors is limited, compiled or not', async () => {
  const near = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`far${index}`, index]))
  for (const fields of [
    'pets(near: $near) { __typename }',
    '__schema { __typename } pets(near: $near) { __typename }',
  ]) {
    const { errors } = JSON.parse((await ask(`query ($near: Near) { ${fields} }`, { near })).text)
    expect(errors).toHaveLength(11)
    expect(errors[10].message).toMatch(/^Too many errors processing variables/)
  }
})
