import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { aCatalogue, anEvent, aRateOf } from '../../support/factories.ts'
import { countCheckoutRows, graphqlRefusal, noRows } from '../../support/refusals.ts'
import { openSale, type Sale } from '../../support/sale.ts'

// Inputs of a wrong type are refused with their place, and what they say is not repeated: it may be personal.

let sale: Sale
beforeAll(async () => {
  sale = await openSale(aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(100)] })] }))
})
// No test here sells anything.
afterEach(async () => {
  expect(await countCheckoutRows(sale)).toEqual(noRows)
})
afterAll(() => sale.close())

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
  ['a missing rate', { input: { items: [{ tickets: [] }] } }, 'BAD_REQUEST input.items.0.ticketRateId'],
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
  const input = `{ items: [{ ticketRateId: "rate_1", tickets: [{ priceId: "price_1", ${field} }] }] }`
  const answer = await ask(`mutation { checkout(input: ${input}) { __typename } }`)
  expect(answer.body).not.toMatch(/secretia|1234567/i)
  expect(graphqlRefusal(answer)).toMatch(/^200( BAD_REQUEST)+$/)
})
