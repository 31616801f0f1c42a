import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { anEvent, aRateOf } from '../../support/factories.ts'
import { fuzzRuns, seed } from '../../support/fuzz/seed.ts'
import { countCheckoutRows, graphqlRefusal, noRows } from '../../support/refusals.ts'
import { sharedSale } from '../../support/sale.ts'

// Inputs of a wrong type are refused with their place, and what they say is not repeated: it may be personal.

const sale = sharedSale({ events: [anEvent({ ticket_rates: [aRateOf(100)] })] })
// No test here sells anything.
afterEach(async () => {
  expect(await countCheckoutRows(sale)).toEqual(noRows)
})

const ask = (query: string, variables?: object) =>
  sale.rest('POST', '/graphql', {
    headers: { ...sale.channel, accept: 'application/json' },
    body: { query, variables },
  })

const person = { fullName: 'Secretia; Field "x" is not', email: 'secretia@example.com' }
const number = '12345678Z'
const checkout = 'mutation ($input: CheckoutInput!) { checkout(input: $input) { __typename } }'
const withEntry = (entry: object, more = {}) => ({
  input: {
    items: [{ ticketRateId: 'rate_1', tickets: [{ priceId: 'price_1', attendee: person, ...entry }] }],
    idempotencyKey: 'once',
    ...more,
  },
})
const withAttendee = (attendee: object) => withEntry({ attendee: { ...person, ...attendee } })
const entryPath = 'input.items.0.tickets.0'

test.each<[what: string, variables: object, answer: string]>([
  ['no input', {}, 'BAD_REQUEST input'],
  ['a null input', { input: null }, 'BAD_REQUEST input'],
  ['a string as input', { input: person.email }, 'BAD_REQUEST input'],
  ['a list as input', { input: [withEntry({})] }, 'BAD_REQUEST input'],
  [
    'a missing rate',
    { input: { items: [{ tickets: [] }], idempotencyKey: 'once' } },
    'BAD_REQUEST input.items.0.ticketRateId',
  ],
  ['an unknown field', withAttendee({ dni: number }), `BAD_REQUEST ${entryPath}.attendee.dni`],
  [
    'a name in REST’s spelling',
    withAttendee({ full_name: person.fullName }),
    `BAD_REQUEST ${entryPath}.attendee.full_name`,
  ],
  [
    'a name beside its attendee',
    withEntry({ fullName: person.fullName }),
    `BAD_REQUEST ${entryPath}.fullName`,
  ],
  [
    'an e-mail address in a list',
    withAttendee({ email: [person.email] }),
    `BAD_REQUEST ${entryPath}.attendee.email`,
  ],
  [
    'an e-mail address in an object',
    withAttendee({ email: person }),
    `BAD_REQUEST ${entryPath}.attendee.email`,
  ],
  [
    'a number as document number',
    withAttendee({ identityDocument: { number: 12345678 } }),
    `BAD_REQUEST ${entryPath}.attendee.identityDocument.number`,
  ],
  ['a string as warranty', withEntry({ warranty: person.email }), `BAD_REQUEST ${entryPath}.warranty`],
  [
    'a string as supplement',
    withEntry({ supplements: [person.email] }),
    `BAD_REQUEST ${entryPath}.supplements.0`,
  ],
  ['a string as metadata', withEntry({}, { metadata: person.email }), 'BAD_REQUEST input.metadata'],
  ['a list as metadata', withEntry({}, { metadata: [person] }), 'BAD_REQUEST input.metadata'],
  ['a string as total', withEntry({}, { expectedTotal: person.email }), 'BAD_REQUEST input.expectedTotal'],
  [
    'a text as amount',
    withEntry({}, { expectedTotal: { amount: person.email, currency: 'EUR' } }),
    'BAD_REQUEST input.expectedTotal.amount',
  ],
  [
    'a text as currency',
    withEntry({}, { expectedTotal: { amount: '1.00', currency: person.email } }),
    'BAD_REQUEST input.expectedTotal.currency',
  ],
])('a checkout with %s is refused without quoting it', async (_what, variables, answer) => {
  const sent = await ask(checkout, variables)
  expect(sent.body).not.toMatch(/secretia|1234567/i)
  expect(graphqlRefusal(sent).replace(/^\d+ /, '')).toBe(answer)
})

test.each([
  ['a value of the wrong type', `attendee: { fullName: ["${person.email}"] }`],
  ['a value that is an object', `attendee: { fullName: { email: "${person.email}" } }`],
  ['an enum for a string', 'attendee: { fullName: secretia }'],
  ['a string for a boolean', `warranty: "${person.email}"`],
  ['a string out of place', `"${person.email}"`],
  ['a block string out of place', `"""${person.email}"""`],
])('a document with %s is refused without quoting it', async (_what, field) => {
  const input = `{ items: [{ ticketRateId: "rate_1", tickets: [{ priceId: "price_1", ${field} }] }], idempotencyKey: "once" }`
  const answer = await ask(`mutation { checkout(input: ${input}) { __typename } }`)
  expect(answer.body).not.toMatch(/secretia|1234567/i)
  expect(graphqlRefusal(answer)).toMatch(/^200( BAD_REQUEST)+$/)
})

test.each([
  [
    'a scan beside an idempotency key',
    '$v: String = "x"',
    'ticket: { qrCode: "secretia" }, idempotencyKey: $v',
  ],
  ['a ticket beside another', '$v: ID', 'ticket: { qrCode: "secretia", ticketId: $v }, idempotencyKey: "k"'],
  ['a block string', '$v: String = "x"', 'ticket: { qrCode: """secretia\n"""}, idempotencyKey: $v'],
  ['a number', '$v: String = "x"', 'ticket: { ticketId: 12345678 }, idempotencyKey: $v'],
])('a literal with a variable of null is refused without quoting it: %s', async (_what, declared, input) => {
  const answer = await ask(
    `mutation (${declared}) { checkInTicket(input: { eventId: "evt_1", ${input} }) { __typename } }`,
    {
      v: null,
    },
  )
  expect(answer.json().errors).toHaveLength(1)
  expect(answer.body).not.toMatch(/secretia|1234567/i)
})

// Tokens of a checkout, and of what may stand in the place of one: texts and numbers that must not come back.
const tokens =
  `mutation ( $v : String = "secretia" $b : Boolean = true ) { checkout ( input : { items : [ { ticketRateId : "secretia" ,
  tickets : [ { priceId : "secretia" , warranty : $b , attendee : { fullName : "secretia" , email : $v , birthday : "secretia" ,
  identityDocument : { type : PASSPORT , number : "12345678Z" } } } ] } ] , redirectUrl : "secretia" , expectedTotal : { amount : 1234567 ,
  currency : "secretia" } , metadata : { a : "secretia" , b : [ 1234567 , 12345.67e3 ] } } ) { __typename } }`.split(
    /\s+/,
  )
const substitutes = [
  ...[
    '"secretia"',
    '"""secretia"""',
    '"""\nsecretia\n  x"""',
    '1234567',
    '-1234567.5',
    '12345678901234567890',
    '$v',
    '$b',
  ],
  ...[
    'null',
    'true',
    'PASSPORT',
    '',
    '{',
    '}',
    '[',
    ']',
    ':',
    '(',
    '@skip(if: $b)',
    '"secretia',
    '01234567',
    '"\\q secretia"',
  ],
]

test(`no document quotes the values that are wrong in it (FUZZ_SEED=${seed})`, async () => {
  const changes = fc.array(fc.tuple(fc.nat({ max: tokens.length - 1 }), fc.constantFrom(...substitutes)), {
    minLength: 1,
    maxLength: 2,
  })
  let refused = 0
  const property = fc.asyncProperty(
    changes,
    fc.constantFrom(null, undefined, 'x'),
    async (changes, value) => {
      const changed = [...tokens]
      for (const [place, text] of changes) changed[place] = text
      const { body } = await ask(changed.join(' '), { v: value, b: value === 'x' ? true : value })
      expect(body).not.toMatch(/secretia|1234567/i)
      if (body.includes('"errors"')) refused++
    },
  )
  await fc.assert(property, fuzzRuns(150, 3))
  expect(refused).toBeGreaterThan(20)
})

test.each([
  ['id and slug', { id: 'x', slug: { organizationSlug: 'a', eventSlug: 'b' } }, 'by'],
  ['nothing', {}, 'by'],
  ['a null', { id: null }, 'by.id'],
  ['a null within it', { slug: { organizationSlug: null, slug: 'x' } }, 'by.slug.organizationSlug'],
  ['something missing within it', { slug: { slug: 'x' } }, 'by.slug.organizationSlug'],
  ['an unknown field', { name: 'x' }, 'by.name'],
  ['a value of another type', { id: {} }, 'by.id'],
])('a variable of one field with %s is refused at its place', async (_what, by, path) => {
  const { errors } = (await ask('query ($by: EventBy!) { event(by: $by) { id } }', { by })).json()
  expect(errors.map(({ extensions }: { extensions: { path: string } }) => extensions.path)).toContain(path)
})

const withMetadata = (metadata: string) =>
  ask(`mutation { checkout(input: { items: [{ ticketRateId: "rate_1", tickets: [{ priceId: "price_1", attendee: { fullName: "A", email: "a@example.com" } }] }],
    idempotencyKey: "once", metadata: ${metadata} }) { __typename ... on Refused { errors { code message path } } } }`)

test.each(['{ __proto__: { a: 1 } }', '{ a: { __proto__: 1 } }', '{ a: [[{ __proto__: null }]] }'])(
  'a literal of JSON with %s is refused, and not taken without it',
  async (metadata) => {
    const answer = await withMetadata(metadata)
    expect(graphqlRefusal(answer)).toBe('200 BAD_REQUEST')
    expect(answer.body).toContain('JSON must have no field named __proto__.')
  },
)

test.each(['{ a: 12345678901234567890 }', '{ a: [{ b: -9007199254740993 }] }'])(
  'a literal of JSON with integers that lose digits is refused: %s',
  async (metadata) => {
    const { data } = (await withMetadata(metadata)).json()
    expect(data.checkout.errors).toMatchObject([{ code: 'INVALID', path: 'metadata' }])
  },
)
