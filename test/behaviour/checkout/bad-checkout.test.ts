// Runs in: postgres, slow-forms

import { expect, test, vi } from 'vitest'
import { anEntry, checkOut, checkOutOverGraphql } from '../../support/checkouts.ts'
import { toFlatPath, toItems } from '../../support/contract-input.ts'
import { anEvent, aQuestion, aRateNamed, aSupplement } from '../../support/factories.ts'
import { countCheckoutRows, noRows, refusal } from '../../support/refusals.ts'
import { sharedSale } from '../../support/sale.ts'

const rate = aRateNamed('1', {
  warranty: { enabled: true, percentage: 10, hours: 24 },
  supplements: [aSupplement({ _id: 'sup_1' })],
  questions: [aQuestion({ _id: 'que_1', type: 'text', items: [] })],
})

const sale = sharedSale({ events: [anEvent({ ticket_rates: [rate] })] })

type Fields = Record<string, unknown>

const withEntry = (fields: Fields) => ({ ticket_rate_id: 'rate_1', tickets: [anEntry('price_1', fields)] })
const withFields = (fields: Fields) => ({ ...withEntry({}), ...fields })

const loneSurrogate = '\ud83c'
const nul = 'a\u0000b'

// Values that GraphQL's own types accept, but for the enum: both surfaces must refuse them in the same words.
const badText: Record<string, string[]> = {
  price_id: ['', ' price_1', 'price 1', nul, 'x'.repeat(65), 'prïce'],
  full_name: [
    ...['', ' \t', 'x'.repeat(201), nul, 'a\u001bb', loneSurrogate],
    // Lines of one's own in a mail, and names that read as another.
    ...[
      'Ana\nPay at https://evil.example',
      'Ana\r\nBcc: x',
      'Ana\u2028x',
      'A\u200bna',
      'anA\u202e',
      '\u2067Ana',
    ],
  ],
  email: [
    '',
    'ana',
    'ana@',
    '@example.com',
    'ana@example',
    'a b@example.com',
    'añá@example.com',
    'ana@ex\u202eample.com',
    nul,
  ],
  phone: ['600000000', '+0600000000', '+34 600 ext 1', '+34', '+1234567890123456', '+٣٤٦٠٠٠٠٠٠٠٠'],
  gender: ['10', 'x', '-1', '١', ' 1'],
  birthday: ['1990-02-30', '30-01-1990', '1990-1-1', '1990-01-01T00:00:00Z', '0000-01-01'],
  address: ['x'.repeat(501), nul, loneSurrogate],
  postal_code: ['x'.repeat(21), nul],
  country_code: ['E', 'ESP', 'XX', '11', 'ß', 'ﬁ', nul],
  personal_document_type: ['x'.repeat(51), 'vi\nsa', nul],
  personal_document_number: ['x'.repeat(51), nul, loneSurrogate],
  qr_code: ['x'.repeat(65), 'a b', 'ñ', nul],
}

async function expectRefused(field: string, value: string) {
  const body = withEntry({ [field]: value })
  expect(refusal(await checkOut(sale, body)), value).toBe(`400 INVALID tickets.0.${field}`)
  // Types of document are an enum in GraphQL, and it asks for no gender.
  if (field === 'personal_document_type' || field === 'gender') return
  const refused = await checkOutOverGraphql(sale, body)
  expect(refused.errors, value).toMatchObject([{ __typename: 'OtherError', code: 'INVALID' }])
  const path = toFlatPath(refused.errors[0]?.path ?? '')
  expect(path.toLowerCase()).toBe(`tickets.0.${field.replaceAll('_', '')}`)
  expect(refused.errors[0]?.path).toMatch(/^items\.0\.tickets\.0\./)
}

test('a checkout with an unknown type of document is refused by the type of the input', async () => {
  for (const personalDocumentType of ['', 'dni', 'VISA', 'a\u0000b']) {
    const entry = { priceId: 'price_1', fullName: 'Ana', email: 'ana@example.com', personalDocumentType }
    const { data, errors } = await sale.graphql(
      'mutation ($input: CheckoutInput!) { checkout(input: $input) { __typename } }',
      { input: { items: toItems('rate_1', [entry]), idempotencyKey: crypto.randomUUID() } },
      sale.channel,
    )
    expect(data).toBeUndefined()
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_REQUEST' })
    expect(errors?.[0]?.message).toMatch(/"IdentityDocumentType" enum/)
  }
})

test.each(Object.keys(badText))(
  'a checkout with a malformed %s is refused on both surfaces',
  async (field) => {
    for (const value of badText[field] ?? []) await expectRefused(field, value)
  },
)

test('a birthday that is refused says why, on both surfaces', async () => {
  const reasonOf = async (birthday: string) => {
    const response = await checkOut(sale, withEntry({ birthday }))
    const { errors } = await checkOutOverGraphql(sale, withEntry({ birthday }))
    const [rest] = response.json().errors ?? []
    expect(errors?.[0]?.message?.replace(/^\S+/, '')).toBe(rest?.message.replace(/^\S+/, ''))
    return rest?.message
  }
  expect(await reasonOf('1899-12-31')).toMatch(/ must be 1900-01-01 or later/)
  expect(await reasonOf('2999-01-01')).toMatch(/ must be in the past/)
})

test('a checkout with a birthday tomorrow is refused in the last millisecond of today', async () => {
  vi.setSystemTime('2030-06-15T23:59:59.999Z')
  try {
    await expectRefused('birthday', '2030-06-16')
  } finally {
    vi.useRealTimers()
  }
})

const badAddresses = ['example.com', '/thanks', 'ftp://example.com', 'javascript:alert(1)', 'http://', '//x']
const unfollowable = ['http://example.com/\u0000', 'http://example.com/a b', loneSurrogate]

test.each(['redirect_url', 'error_url'])('a checkout with a malformed %s is refused', async (field) => {
  for (const url of [...badAddresses, ...unfollowable, `http://example.com/${'x'.repeat(2048)}`])
    expect(refusal(await checkOut(sale, withFields({ [field]: url }))), url).toBe(`400 INVALID ${field}`)
})

const anyType = [0, 1.5, true, 'text', [], {}, [[]], null]
const takes: Record<string, (value: unknown) => boolean> = {
  tickets: Array.isArray,
  send_resourcers: (value) => typeof value === 'boolean' || value === null,
  metadata: (value) => (typeof value === 'object' && !Array.isArray(value)) || value === null,
}

test.each(['ticket_rate_id', 'tickets', 'redirect_url', 'error_url', 'send_resourcers', 'metadata'])(
  'a checkout with a %s of the wrong type is refused',
  async (field) => {
    const isTaken = takes[field] ?? ((value) => value === null && field.endsWith('url'))
    for (const value of anyType.filter((value) => !isTaken(value) && value !== 'text'))
      expect(refusal(await checkOut(sale, withFields({ [field]: value })))).toMatch(`400 INVALID ${field}`)
  },
)

test.each([...Object.keys(badText), 'answers', 'supplements', 'warranty'])(
  'a checkout with an entry whose %s has the wrong type is refused',
  async (field) => {
    for (const value of [0, {}, [[]], [null], 'text']) {
      if (value === 'text' && field in badText) continue
      const actual = refusal(await checkOut(sale, withEntry({ [field]: value })))
      expect(actual, JSON.stringify(value)).toMatch(new RegExp(`^400 INVALID tickets\\.0\\.${field}(\\.0)?$`))
    }
  },
)

test.each<[what: string, body: Fields, answer: string]>([
  ['no fields', {}, '400 REQUIRED ticket_rate_id REQUIRED tickets'],
  [
    'an empty entry',
    withFields({ tickets: [{}] }),
    '400 REQUIRED tickets.0.price_id REQUIRED tickets.0.full_name REQUIRED tickets.0.email',
  ],
  ['null as entry', withFields({ tickets: [null] }), '400 INVALID tickets.0'],
  ['an unknown field', withFields({ discount: 1 }), '400 UNKNOWN_FIELD discount'],
  [
    'a name in GraphQL’s spelling',
    { ticketRateId: 'rate_1', tickets: [] },
    '400 REQUIRED ticket_rate_id UNKNOWN_FIELD ticketRateId',
  ],
  ['an unknown field of an entry', withEntry({ price: 1 }), '400 UNKNOWN_FIELD tickets.0.price'],
  [
    'an empty answer',
    withEntry({ answers: [{}] }),
    '400 REQUIRED tickets.0.answers.0.question_id REQUIRED tickets.0.answers.0.answer',
  ],
  [
    'an answer of white space',
    withEntry({ answers: [{ question_id: 'que_1', answer: ' ' }] }),
    '400 INVALID tickets.0.answers.0.answer',
  ],
  [
    'an answer that is too long',
    withEntry({ answers: [{ question_id: 'que_1', answer: 'x'.repeat(501) }] }),
    '400 INVALID tickets.0.answers.0.answer',
  ],
  [
    'an unknown field of a supplement',
    withEntry({ supplements: [{ supplement_id: 'sup_1', price: 0 }] }),
    '400 UNKNOWN_FIELD tickets.0.supplements.0.price',
  ],
  ['a lone surrogate in metadata', withFields({ metadata: { a: loneSurrogate } }), '400 INVALID metadata'],
  ['NUL in metadata', withFields({ metadata: { a: [nul] } }), '400 INVALID metadata'],
  ['NUL in a name of metadata', withFields({ metadata: { [nul]: 1 } }), '400 INVALID metadata'],
  [
    'metadata of 1025 bytes',
    withFields({ metadata: { a: 'x'.repeat(1017) } }),
    '413 METADATA_TOO_LARGE metadata',
  ],
  [
    'metadata of 700 characters of two bytes',
    withFields({ metadata: { a: 'ñ'.repeat(700) } }),
    '413 METADATA_TOO_LARGE metadata',
  ],
])('a checkout with %s is refused', async (_what, body, answer) => {
  const sent = await sale.rest('POST', '/tickets/checkout', { headers: sale.channel, body })
  expect(refusal(sent)).toBe(answer)
})

const asText = (metadata: string) =>
  sale.rest('POST', '/tickets/checkout', {
    headers: { ...sale.channel, 'content-type': 'application/json' },
    body: JSON.stringify(withFields({ metadata: 0 })).replace('"metadata":0', `"metadata":${metadata}`),
  })

test.each([
  ['nested past any stack', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, '400 BAD_REQUEST'],
  ['an infinite number', '{"a":1e400}', '400 INVALID metadata'],
  ['an integer whose last digit is lost', '{"a":9007199254740993}', '400 INVALID metadata'],
  ['a long negative integer in a list', '{"a":[{"b":-12345678901234567890}]}', '400 INVALID metadata'],
  ['a prototype', '{"__proto__":{"a":1}}', '400 BAD_REQUEST'],
])('a checkout with metadata that is %s is refused', async (_what, metadata, answer) => {
  expect(refusal(await asText(metadata))).toBe(answer)
})

test.each(['', 'x'.repeat(256), 'a b', 'ñ'])('a checkout with the idempotency key «%s»', async (key) => {
  const answer = await checkOut(sale, withEntry({}), { 'idempotency-key': key })
  expect(refusal(answer)).toBe('400 INVALID idempotency-key')
})

test('a checkout with every field is sold, and no refused one was', async () => {
  expect(await countCheckoutRows(sale)).toEqual(noRows)
  const metadata = { a: 'x'.repeat(1000), '\\u0000': 1 }
  const entry = {
    full_name: ' Ana\u200dÑandú 🎫 ',
    phone: '+34600000000',
    gender: '0',
    birthday: '1900-01-01',
    address: 'Calle Mayor, 1\n2º',
    postal_code: '28013',
    country_code: 'es',
    personal_document_type: 'dni',
    personal_document_number: '00000000T',
    answers: [{ question_id: 'que_1', answer: '¡Sí!' }],
    supplements: [{ supplement_id: 'sup_1' }],
    warranty: true,
    qr_code: '~!',
  }
  const urls = { redirect_url: 'https://shop.example/ñ?a=b#c', error_url: 'http://127.0.0.1:1/x' }
  const body = { ...withEntry(entry), ...urls, send_resourcers: false, metadata }
  const answer = await checkOut(sale, body, { 'idempotency-key': 'x'.repeat(255) })
  expect(answer.statusCode, answer.body).toBe(200)
  expect(answer.json().data.tickets).toMatchObject([
    {
      ...entry,
      full_name: 'Ana\u200dÑandú 🎫',
      gender: 0,
      country_code: 'ES',
      supplements: [{}],
      warranty: {},
    },
  ])
  expect(await countCheckoutRows(sale)).toEqual({ payments: 1, tickets: 1, keys: 1, places: 2 })
})
