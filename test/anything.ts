import fc from 'fast-check'
import { anEntry } from './checkouts.ts'
import { aCatalogue, anEvent, aPrice, aQuestion, aRate, aSupplement } from './factories.ts'

// Whatever a client may send, for tests that nothing of ours fails by it.

/** One rate with everything that a checkout may name, and more places than a test takes. */
export const soldForever = () => {
  const rate = aRate({
    _id: 'rate_1',
    availability: { sold: 0, available: 1_000_000 },
    warranty: { enabled: true, percentage: 10, hours: 24 },
    prices: [aPrice({ _id: 'price_1' })],
    supplements: [aSupplement({ _id: 'sup_1' })],
    questions: [aQuestion({ _id: 'que_1', type: 'text', items: [] })],
  })
  return aCatalogue({ events: [anEvent({ _id: 'evt_1', ticket_rates: [rate] })] })
}

export const runs = { numRuns: 150, interruptAfterTimeLimit: 20_000 }

const ids = 'rate_1 price_1 sup_1 que_1 evt_1 org_1'.split(' ')
const dates =
  '0000-01-01 0001-01-01 2026-02-30 2026-01-01 2026-01-01T00:00:00.000Z 9999-12-31T23:59:59-23:59'.split(' ')
const oddities = ['', ' ', '\0', '\ud83c', '__proto__', '0', '-1', '1e400', 'NaN', '{}', '\u202e', 'ß']

/** Any unit of UTF-16, and what a parser or a database has stumbled over before. */
export const text = fc.oneof(
  fc.constantFrom(...ids, ...dates, ...oddities),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({
    unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    maxLength: 10,
  }),
  fc.emailAddress(),
  fc.webUrl(),
  fc.double().map(String),
)

export const number = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(0, -0, 5e-324, 1e-160, Number.POSITIVE_INFINITY, 2 ** 31, 2 ** 53),
)

export const json = fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 })
export const anything = fc.oneof(text, number, fc.boolean(), fc.constant(null), json)

/** Fields that are right, with up to two of them, or of those named, changed for anything. */
export const changed = (right: object, ...more: string[]) => {
  const name = fc.constantFrom(...Object.keys(right), ...more)
  return fc
    .array(fc.tuple(name, fc.oneof(text, anything)), { maxLength: 2 })
    .map((wrong) => ({ ...right, ...Object.fromEntries(wrong) }))
}

/** An entry of a checkout as REST takes it, more or less. */
export const entry = fc.oneof(
  changed(
    anEntry('price_1'),
    ...['qr_code', 'phone', 'gender', 'birthday', 'address', 'postal_code', 'country_code'],
    ...['personal_document_type', 'personal_document_number', 'answers', 'supplements', 'warranty'],
  ),
  fc
    .record({
      answers: fc.array(fc.record({ question_id: text, answer: text }), { maxLength: 2 }),
      supplements: fc.array(fc.record({ supplement_id: text }), { maxLength: 2 }),
    })
    .map((more) => anEntry('price_1', more)),
)
