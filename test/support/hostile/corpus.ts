import { getIntrospectionQuery } from 'graphql'

/** A request that no well-meaning client sends. */
export type Hostile = {
  name: string
  method: 'GET' | 'POST'
  url: string
  headers?: Record<string, string>
  body?: string
}

// Just below the service's limit of a body.
const maxBodyBytes = 256 * 1024 - 512
const json = { 'content-type': 'application/json' }

/** Joins as many parts as fit into a body, leaving `less` bytes for the rest. */
function fill(part: (index: number) => string, less = 0, separator = ','): string {
  const parts: string[] = []
  for (let bytes = less, index = 0; ; index++) {
    const next = part(index)
    bytes += next.length + separator.length
    if (bytes > maxBodyBytes) return parts.join(separator)
    parts.push(next)
  }
}
const nested = (depth: number, open = '[', close = ']', inside = '') =>
  open.repeat(depth) + inside + close.repeat(depth)
const times = (count: number, part: (index: number) => string, separator = ' ') =>
  Array.from({ length: count }, (_, index) => part(index)).join(separator)

const graphql = (name: string, query: string, variables = '{}'): Hostile => ({
  name: `GraphQL: ${name}`,
  method: 'POST',
  url: '/graphql',
  headers: json,
  body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
})
const checkout = (name: string, body: string): Hostile => ({
  name: `REST: ${name}`,
  method: 'POST',
  url: '/tickets/checkout',
  headers: json,
  body,
})

const buy = 'mutation ($i: CheckoutInput!) { checkout(input: $i) { __typename } }'
const register =
  'mutation ($t: [ChangeType!]) { registerWebhook(input: { url: "https://a.example", types: $t, idempotencyKey: "once" }) { __typename } }'
const list = 'query ($s: String) { events(filter: { search: $s }) { nodes { id } } }'
const input = (inside: string) =>
  `{"i":{"items":[{"ticketRateId":"rate_1","tickets":[]}],"idempotencyKey":"once",${inside}}}`
const entries = (part: (index: number) => string) =>
  `{"i":{"items":[{"ticketRateId":"rate_1","tickets":[${fill(part, 400)}]}],"idempotencyKey":"once"}}`
const entry = '{"priceId":"price_1","attendee":{"fullName":"A","email":"a@b.co"}}'
const longName = 'x'.repeat(20_000)

const variables: Hostile[] = [
  graphql('tens of thousands of unknown fields', buy, `{"i":{${fill((index) => `"a${index}":1`, 400)}}}`),
  graphql(
    'entries that are not objects',
    buy,
    entries(() => '0'),
  ),
  graphql(
    'entries that are lists',
    buy,
    entries(() => '[]'),
  ),
  graphql(
    'empty entries',
    buy,
    entries(() => '{}'),
  ),
  graphql(
    'thousands of entries',
    buy,
    entries(() => entry),
  ),
  graphql('invalid enum values', register, `{"t":[${fill(() => '"PAYMENT_PAD"', 400)}]}`),
  graphql('nested lists instead of a list', register, `{"t":${nested(120_000)}}`),
  graphql('nested arrays in a string variable', list, `{"s":${nested(120_000)}}`),
  graphql('arrays nested 5,000 deep', list, `{"s":${nested(5_000)}}`),
  graphql('deeply nested objects', list, `{"s":${nested(40_000, '{"a":', '}', '1')}}`),
  graphql('deeply nested metadata', buy, input(`"metadata":${nested(40_000, '{"a":', '}', '1')}`)),
  graphql('wide metadata', buy, input(`"metadata":{${fill((index) => `"a${index}":[{}]`, 400)}}`)),
  graphql(
    'tens of thousands of supplements',
    buy,
    `{"i":{"items":[{"ticketRateId":"r","tickets":[{"supplements":[${fill(() => '1', 400)}]}]}]}}`,
  ),
  graphql('undeclared variables', list, `{${fill((index) => `"v${index}":[{}]`, 400)}}`),
  graphql('a long string', list, `{"s":"${'ñ'.repeat(120_000)}"}`),
  graphql('a string of escapes', list, `{"s":"${'\\u0000'.repeat(40_000)}"}`),
  graphql('a long name', buy, input(`"${'x'.repeat(250_000)}":1`)),
  graphql('long field names', buy, input(fill((index) => `"${'x'.repeat(1000)}${index}":1`, 600))),
  graphql('a number with 250,000 digits', list, `{"s":${'9'.repeat(250_000)}}`),
  graphql('numbers beyond the range', register, `{"t":[${fill(() => '1e400', 400)}]}`),
]

const parameters: Hostile[] = [
  graphql('deep extensions', list, `{},"extensions":{"a":${nested(120_000)}}`),
  graphql('wide extensions', list, `{},"extensions":{${fill((index) => `"v${index}":[]`, 500)}}`),
  graphql('unknown parameters', list, `{},${fill((index) => `"v${index}":[]`, 500)}`),
  { ...graphql('a batch', list), body: `[${fill(() => '{"query":"{a}"}')}]` },
  { ...graphql('nested arrays as the body', list), body: nested(125_000) },
  { ...graphql('strings similar to __proto__', list), body: `[${fill(() => '"__proto__ "')}]` },
  {
    name: 'GraphQL: nested variables in the URL',
    method: 'GET',
    url: `/graphql?query=${encodeURIComponent(list)}&variables=${encodeURIComponent('{"s":')}${nested(7_000)}${encodeURIComponent('}')}`,
  },
]

const everyType = `types { ${times(28, (index) => `a${index}: fields { args { name description type { name kind ofType { name kind ofType { name } } } } }`)} }`
const introspection = getIntrospectionQuery({ descriptions: true, inputValueDeprecation: true })
const [wholeSchema = '', ...fragments] = introspection.split(/(?=fragment )/)
const schemaSelection = wholeSchema.slice(
  wholeSchema.indexOf('__schema') + '__schema'.length,
  wholeSchema.lastIndexOf('}'),
)

const documents: Hostile[] = [
  graphql(
    'introspection under 30 aliases',
    `{ ${times(30, (index) => `a${index}: __schema ${schemaSelection}`)} } ${fragments.join(' ')}`
      .replace(/\s+/g, ' ')
      .slice(0, 50_000),
  ),
  graphql(
    'introspection by fragment under 30 aliases',
    `{ ${times(30, (index) => `a${index}: __schema { ...S }`)} } fragment S on __Schema ${schemaSelection} ${fragments.join(' ')}`,
  ),
  graphql('types under 28 aliases', `{ __schema { ${everyType} } }`),
  graphql(
    'fields of fields',
    '{ __schema { types { fields { type { fields { args { type { ofType { name enumValues { name } ofType { name } } } } } } } } } }',
  ),
  graphql('a wide selection', `{ ${times(1_990, () => '__typename')} }`),
  graphql('a wide selection of one field', `{ events { nodes { ${times(600, () => 'id name')} } } }`),
  graphql('unknown fields', `{ ${times(1_900, (index) => `f${index}`)} }`),
  graphql(
    'unknown fields before many lines',
    `{ ${times(1_900, (index) => `f${index}`)} ${'\n'.repeat(35_000)} ${'x '.repeat(80)} }`,
  ),
  graphql(
    'many lines before unknown fields',
    `{ ${'\n'.repeat(40_000)} ${times(1_500, (index) => `f${index}`)} }`,
  ),
  graphql(
    'conflicting selections',
    `{ ${times(190, (index) => `a: event(by: { id: "${index}" }) { id }`)} }`,
  ),
  graphql(
    'deeply nested conflicting selections',
    `{ ${times(70, (index) => `events(first: ${index}) { nodes { ticketRates { prices { a: id } } } }`)} }`,
  ),
  graphql(
    'unused fragments',
    `{ __typename } ${times(280, (index) => `fragment F${index} on Event { id }`)}`,
  ),
  graphql(
    'a chain of fragments',
    `{ events { nodes { ...F0 } } } ${times(220, (index) => `fragment F${index} on Event { ...F${index + 1} }`)} fragment F220 on Event { id }`,
  ),
  graphql(
    'cycles of fragments',
    `{ events { nodes { ...F0 } } } ${times(240, (index) => `fragment F${index} on Event { ...F${(index * 7) % 240} id }`)}`,
  ),
  graphql(
    'fragments that spread each other',
    `{ events { nodes { ...F0 } } } ${times(40, (index) => `fragment F${index} on Event { ${times(15, (other) => `...F${(index + other + 1) % 40}`)} }`)}`,
  ),
  graphql(
    'fragments that double at each level',
    `{ events { nodes { ...F0 } } } ${times(100, (index) => `fragment F${index} on Event { ...F${index + 1} ...F${index + 1} }`)} fragment F100 on Event { id }`,
  ),
  graphql('directives', `{ __typename ${times(600, () => '@include(if: true)')} }`),
  graphql('unknown directives', `{ __typename ${times(990, () => '@x')} }`),
  graphql(
    'directives with variables',
    `query (${times(30, (index) => `$v${index}: Boolean = true`)}) { ${times(200, (index) => `__typename @include(if: $v${index % 30})`)} }`,
  ),
  graphql(
    'operations',
    times(280, (index) => `query Q${index} { __typename }`),
  ),
  graphql(
    'operations that spread a chain of fragments',
    `${times(90, (index) => `query Q${index} { ...F0 }`)} ${times(110, (index) => `fragment F${index} on Query { ...F${index + 1} }`)} fragment F110 on Query { __typename }`,
  ),
  graphql(
    'an operation with a long name',
    `query ${longName} { events(first: 1) { ${times(900, (index) => `f(a: $v${index})`)} } }`,
  ),
  graphql('variables', `query (${times(480, (index) => `$v${index}: Int`)}) { __typename }`),
  graphql(
    'variables all used with a wrong type',
    `query Q(${times(240, (index) => `$v${index}: Int`)}) { ${times(29, (index) => `a${index}: events(filter: { ${times(8, (arg) => `search: $v${index * 8 + arg}`)} }) { totalCount }`)} }`,
  ),
  graphql(
    'variables all with wrong values',
    `query (${times(330, (index) => `$v${index}: Int`)}) { event(by: { id: "x" }) { id } }`,
    `{${times(330, (index) => `"v${index}":"${'x'.repeat(700)}"`, ',')}}`,
  ),
  graphql('a deeply nested literal', `{ event(by: ${nested(980)}) { id } }`),
  graphql(
    'a wide object literal',
    `mutation { checkout(input: { ${times(600, (index) => `a${index}: 1`)} }) { __typename } }`,
  ),
  graphql(
    'a long list literal of wrong items',
    `mutation { checkout(input: { items: [{ ticketRateId: "a", tickets: [${times(1_900, () => '1')}] }] }) { __typename } }`,
  ),
  graphql(
    'invalid enum literals',
    `mutation { registerWebhook(input: { url: "a", types: [${times(1_900, () => 'PAYMENT_PAD')}], idempotencyKey: "once" }) { __typename } }`,
  ),
  graphql(
    'a long name in many errors',
    `query ($${longName}: Int) { ${times(29, (index) => `a${index}: event(by: $${longName.slice(0, 900)}${index}) { id }`)} }`,
  ),
  graphql('a long string literal', `{ event(by: { id: "${'x'.repeat(49_000)}" }) { id } }`),
  graphql('a block string of many lines', `{ event(by: """${' \n'.repeat(24_000)}""") { id } }`),
  graphql('an integer literal with many digits', `{ events(first: ${'9'.repeat(49_000)}) { totalCount } }`),
  graphql('comments', `{ ${'#\n'.repeat(24_900)} __typename }`),
  graphql('commas', `{ __typename ${','.repeat(49_900)} }`),
  graphql('an unterminated document', `{ ${'a { '.repeat(990)}`),
]

const restEntry = '{"price_id":"price_1","full_name":"A","email":"a@b.co"}'
const restEntries = (part: (index: number) => string) =>
  `{"ticket_rate_id":"rate_1","tickets":[${fill(part, 100)}]}`
const inEntry = (inside: string) =>
  `{"ticket_rate_id":"rate_1","tickets":[{"price_id":"price_1","full_name":"A","email":"a@b.co",${inside}}]}`

const bodies: Hostile[] = [
  checkout(
    'entries that are not objects',
    restEntries(() => '0'),
  ),
  checkout(
    'empty entries',
    restEntries(() => '{}'),
  ),
  checkout(
    'blank fields that are required',
    `{"ticket_rate_id":"rate_1","tickets":[${times(1_000, () => '{"price_id":"","full_name":" ","email":""}', ',')}]}`,
  ),
  checkout(
    'thousands of entries',
    restEntries(() => restEntry),
  ),
  checkout(
    'entries with fields of wrong types',
    restEntries(() => '{"price_id":1,"full_name":2,"email":3,"gender":4}'),
  ),
  checkout('unknown fields', `{${fill((index) => `"a${index}":1`)}}`),
  checkout('unknown fields in an entry', inEntry(fill((index) => `"a${index}":1`, 200))),
  checkout('deeply nested arrays', nested(125_000)),
  checkout('nested arrays in an entry', inEntry(`"phone":${nested(120_000)}`)),
  checkout(
    'nested objects in metadata',
    `{"ticket_rate_id":"a","tickets":[],"metadata":${nested(40_000, '{"a":', '}', '1')}}`,
  ),
  checkout(
    'wide metadata',
    `{"ticket_rate_id":"a","tickets":[],"metadata":{${fill((index) => `"a${index}":[{}]`, 100)}}}`,
  ),
  checkout('long metadata', `{"ticket_rate_id":"a","tickets":[],"metadata":{"a":"${'ñ'.repeat(120_000)}"}}`),
  checkout(
    'tens of thousands of supplements',
    inEntry(`"supplements":[${fill(() => '{"supplement_id":"a"}', 200)}]`),
  ),
  checkout('answers of wrong types', inEntry(`"answers":[${fill(() => '{"a":[]}', 200)}]`)),
  checkout('a long name', `{"${'x'.repeat(250_000)}":1}`),
  checkout('a long postal address', inEntry(`"address":"${'x '.repeat(120_000)}"`)),
  checkout(
    'a long redirect URL',
    inEntry(`"redirect_url":1`).replace('{', `{"redirect_url":"http://${'a.'.repeat(120_000)}",`),
  ),
  checkout('a long e-mail address', inEntry(`"email":"${'a.'.repeat(60_000)}@${'b.'.repeat(60_000)}"`)),
  checkout('a long telephone number', inEntry(`"phone":"+${'1'.repeat(240_000)}"`)),
  checkout('a number with 250,000 digits', `{"ticket_rate_id":${'9'.repeat(250_000)}}`),
  checkout('a truncated body', `{"a":"${'\\'.repeat(250_000)}`),
  checkout('white space', ' '.repeat(maxBodyBytes)),
  {
    name: 'REST: unknown parameters',
    method: 'GET',
    url: `/events?${times(3_500, (index) => `${index.toString(36)}`, '&')}`,
  },
  { name: 'REST: a search of many words', method: 'GET', url: `/events?search=${'a+'.repeat(7_000)}` },
  { name: 'REST: one parameter 1,800 times', method: 'GET', url: `/events?${'limit=1&'.repeat(1_800)}` },
  {
    name: 'page: a form of many fields',
    method: 'POST',
    url: '/pay/x',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: fill((index) => `a${index}=1`, 0, '&'),
  },
]

/** Useless requests of at most 256 kB each. */
export const corpus: Hostile[] = [...variables, ...parameters, ...documents, ...bodies]

const slow = new Set([
  'GraphQL: tens of thousands of unknown fields',
  'GraphQL: entries that are not objects',
  'GraphQL: entries that are lists',
  'GraphQL: empty entries',
  'GraphQL: invalid enum values',
  'GraphQL: tens of thousands of supplements',
  'GraphQL: long field names',
  'GraphQL: numbers beyond the range',
  'GraphQL: introspection by fragment under 30 aliases',
  'REST: entries that are not objects',
  'REST: empty entries',
])

/** Requests that block a service without limits for at least 0.2 s. */
export const slowRequests = corpus.filter(({ name }) => slow.has(name))
