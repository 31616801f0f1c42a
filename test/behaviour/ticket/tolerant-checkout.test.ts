// Runs in: postgres, slow-forms

import { expect, test } from 'vitest'
import { anEntry, checkOut, checkOutOverGraphql, mustCheckOut } from '../../support/checkouts.ts'
import { aQuestion, aRateNamed } from '../../support/factories.ts'
import { refusal } from '../../support/refusals.ts'
import { sharedSale } from '../../support/sale.ts'

// What people type in a form is taken, in the form that is kept, where its meaning is plain.

const rate = aRateNamed('1', { questions: [aQuestion({ _id: 'que_1', items: ['Cafe\u0301', 'Te'] })] })

const sale = sharedSale({ rates: [rate] })

type Fields = Record<string, unknown>
const bodyOf = (entry: Fields, more: Fields = {}) => ({
  ticket_rate_id: 'rate_1',
  tickets: [anEntry('price_1', entry)],
  ...more,
})
const ticketOf = async (entry: Fields, more?: Fields) =>
  (await mustCheckOut(sale, bodyOf(entry, more))).tickets[0] as unknown as Fields

test.each([
  ['email', ' ana@example.com ', 'ana@example.com'],
  ['email', 'info@münchen.de', 'info@xn--mnchen-3ya.de'],
  ['email', 'a@почта.рф', 'a@xn--80a1acny.xn--p1ai'],
  ['email', `${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
  ['email', `a@${'b'.repeat(63)}.example`, `a@${'b'.repeat(63)}.example`],
  ['email', 'Info@Example.COM', 'Info@Example.COM'],
  ['phone', '+34 600-00 (00)\u00a000', '+34600000000'],
  ['phone', '+44 (0)20 7946.0958', '+442079460958'],
  ['personal_document_type', 'DNI', 'dni'],
  ['personal_document_type', 'Cédula', 'cédula'],
])('the %s «%s» is kept as «%s»', async (field, given, kept) => {
  expect(await ticketOf({ [field]: given })).toMatchObject({ [field]: kept })
})

test.each(['phone', 'gender', 'birthday', 'address', 'postal_code', 'country_code', 'qr_code'])(
  'an empty %s counts as absent on both surfaces',
  async (field) => {
    const absent = await ticketOf({ [field]: null })
    const empty = await ticketOf({ [field]: '' })
    if (field !== 'qr_code') expect(empty[field]).toEqual(absent[field])
    // GraphQL asks for no gender.
    if (field === 'gender') return
    const { __typename } = await checkOutOverGraphql(sale, bodyOf({ [field]: ' ' }))
    expect(__typename).toBe('CheckoutPayload')
  },
)

test('empty addresses, codes and languages count as absent, and an empty name is refused', async () => {
  const more = { redirect_url: '', error_url: '', language: '', referral_id: '', discount_code: '' }
  expect(await ticketOf({}, more)).toMatchObject({ status: 'active' })
  const refused = await checkOut(sale, bodyOf({ full_name: '', phone: '', email: 'ana' }))
  expect(refusal(refused)).toBe('400 INVALID tickets.0.full_name INVALID tickets.0.email')
})

test('an address with other letters before the @ is refused in words that say why', async () => {
  const refused = await checkOut(sale, bodyOf({ email: 'peña@example.com' }))
  expect(refused.json().message).toContain('only ASCII letters before the @')
})

test.each([
  ['a'.repeat(65), 'example.com', 'at most 64 characters before the @'],
  ['a', `${'b'.repeat(64)}.example`, 'an e-mail address'],
  ['a', 'b-.example', 'an e-mail address'],
  ['a', '-b.example', 'an e-mail address'],
  ['a', 'example.c0m', 'an e-mail address'],
  ['a', `${'b.'.repeat(126)}example`, 'at most 254 characters'],
])('an address that no mail server may have is refused: %s@%s', async (local, domain, why) => {
  const body = bodyOf({ email: `${local}@${domain}` })
  const refused = await checkOut(sale, body)
  expect(refusal(refused)).toBe('400 INVALID tickets.0.email')
  expect(refused.json().message).toContain(why)
})

test.each(['fil-PH', 'gsw-CH', 'yue-HK', 'und'])('the language %s counts as absent', async (language) => {
  const { _id } = await ticketOf({}, { language })
  const answer = await sale.graphql<{ ticket: { attendee: { language: string } } }>(
    'query ($id: ID!) { ticket(id: $id) { attendee { language } } }',
    { id: _id },
    sale.channel,
  )
  expect(answer.data?.ticket.attendee.language).toBe('en')
})

test('a malformed language is refused', async () => {
  expect(refusal(await checkOut(sale, bodyOf({}, { language: 'en_' })))).toBe('400 INVALID language')
})

test('an answer is an item however its accents are typed', async () => {
  const answers = (answer: string) => ({ answers: [{ question_id: 'que_1', answer }] })
  for (const answer of ['Caf\u00e9', 'Cafe\u0301'])
    expect(await ticketOf(answers(answer))).toMatchObject(answers('Caf\u00e9'))
  expect(refusal(await checkOut(sale, bodyOf(answers('Cafe'))))).toMatch(/ANSWER_NOT_OFFERED/)
})

test('whoever referred the buyer may have any letters', async () => {
  const { _id } = await ticketOf({}, { referral_id: 'José' })
  const answer = await sale.graphql<{ ticket: Fields }>(
    'query ($id: ID!) { ticket(id: $id) { referralId } }',
    { id: _id },
    sale.channel,
  )
  expect(answer.data?.ticket).toMatchObject({ referralId: 'José' })
})

test('GraphQL shows another type of document as OTHER', async () => {
  const { _id } = await ticketOf({ personal_document_type: 'visa' })
  const answer = await sale.graphql<{ ticket: Fields }>(
    'query ($id: ID!) { ticket(id: $id) { attendee { identityDocument { type } } } }',
    { id: _id },
    sale.channel,
  )
  expect(answer.data?.ticket).toEqual({ attendee: { identityDocument: { type: 'OTHER' } } })
})
