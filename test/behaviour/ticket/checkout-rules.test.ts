// Runs in: postgres, slow-forms

import { beforeAll, expect, test } from 'vitest'
import { changeGrant } from '../../../src/domain/caller/change-grant.ts'
import { grants } from '../../../src/domain/caller/table.ts'
import { payments } from '../../../src/domain/payment/table.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { eventsNotOnSale, ratesNotOnSale, withStranger } from '../../support/box-office-catalogue.ts'
import { anEntry, checkOut, checkOutOverGraphql, countersOf, toCamelCase } from '../../support/checkouts.ts'
import { toFlatPath } from '../../support/contract-input.ts'
import { anEvent, aQuestion, aRate, aRateNamed, aSupplement } from '../../support/factories.ts'
import { restProblems, sharedSale } from '../../support/sale.ts'

// Years until the event, so that its minimum age refuses people already born.
const year = new Date().getUTCFullYear() + 4
const onSaleAt = `${year - 1}-01-01T00:00:00.000Z`

const left = (available: number) => ({ sold: 0, available })

const sale = sharedSale({
  organizations: withStranger(),
  events: [
    anEvent({
      age: '+18',
      start_date: `${year}-06-01T22:30:00Z`,
      end_date: `${year}-06-02T04:00:00Z`,
      ticket_rates: [
        aRateNamed('open', {
          supplements: [aSupplement({ _id: 'sup_open' })],
          questions: [
            aQuestion({ _id: 'que_size', label: 'Size?', required: true, items: ['S', 'M'] }),
            aQuestion({ _id: 'que_free', type: 'text', items: [] }),
            aQuestion({ _id: 'que_terms', type: 'checkbox', items: [] }),
          ],
        }),
        aRateNamed('few', { min: 2, max: 4 }),
        aRateNamed('two_left', { availability: { sold: 8, available: 2 } }),
        aRateNamed('sold_out', { availability: { sold: 8, available: 0 } }),
        ...ratesNotOnSale(onSaleAt),
        aRate({ _id: 'rate_priceless', prices: [] }),
        aRateNamed('capped', {}, { quantity: 1 }),
        aRateNamed('warranty', { warranty: { enabled: true, percentage: 10, hours: 24 } }),
        aRateNamed('huge', { availability: left(1000) }),
      ],
    }),
    ...eventsNotOnSale,
  ],
})

beforeAll(async () => {
  // Revokes the second organization's grant.
  const [grant] = await sale.db.select().from(grants)
  await changeGrant(sale.db, { channelId: grant?.channelId ?? '', organizationId: 'org_2', granted: false })
})

const answers = [{ question_id: 'que_size', answer: 'M' }]
const open = (more: Record<string, unknown>) => ({
  ticket_rate_id: 'rate_open',
  tickets: [anEntry('price_open', { answers, ...more })],
})
const ticketsOf = (rate: string, count: number, more = {}) => ({
  ticket_rate_id: `rate_${rate}`,
  tickets: Array.from({ length: count }, () => anEntry(`price_${rate}`, more)),
})

type Rule = [
  what: string,
  body: Parameters<typeof checkOut>[1],
  status: number,
  problems: string[],
  facts?: object,
]

const rules: Rule[] = [
  ['an unknown rate', ticketsOf('none', 1), 404, ['NOT_FOUND ticket_rate_id']],
  ['a rate without a grant', ticketsOf('strange', 1), 404, ['NOT_FOUND ticket_rate_id']],
  ['no tickets', ticketsOf('few', 0), 422, ['TOO_FEW_TICKETS tickets'], { min: 2, max: 4 }],
  [
    'fewer tickets than the minimum',
    ticketsOf('few', 1),
    422,
    ['TOO_FEW_TICKETS tickets'],
    { min: 2, max: 4 },
  ],
  [
    'more tickets than the maximum',
    ticketsOf('few', 5),
    422,
    ['TOO_MANY_TICKETS tickets'],
    { min: 2, max: 4 },
  ],
  ['more than 50 tickets', ticketsOf('huge', 51), 422, ['TOO_MANY_TICKETS tickets'], { min: 1, max: 50 }],
  [
    'more tickets than are left',
    ticketsOf('two_left', 3),
    409,
    ['INSUFFICIENT_AVAILABILITY tickets'],
    { available: 2 },
  ],
  ['a sold-out rate', ticketsOf('sold_out', 1), 409, ['SOLD_OUT tickets'], { available: 0 }],
  ['a closed rate', ticketsOf('closed', 1), 409, ['RATE_CLOSED ticket_rate_id']],
  [
    'a rate without prices',
    ticketsOf('priceless', 1),
    409,
    ['RATE_CLOSED ticket_rate_id', 'PRICE_NOT_IN_RATE tickets.0.price_id'],
  ],
  [
    'a rate not yet on sale',
    ticketsOf('early', 1),
    409,
    ['NOT_ON_SALE_YET ticket_rate_id'],
    { valid_from: onSaleAt },
  ],
  [
    'a rate no longer on sale',
    ticketsOf('over', 1),
    409,
    ['SALE_ENDED ticket_rate_id'],
    { valid_until: '2020-01-01T00:00:00.000Z' },
  ],
  [
    'an event already begun',
    ticketsOf('running', 1),
    409,
    ['EVENT_STARTED ticket_rate_id'],
    { start_date: eventsNotOnSale[0]?.start_date },
  ],
  [
    'more tickets than a price has left',
    ticketsOf('capped', 2),
    409,
    ['INSUFFICIENT_AVAILABILITY tickets.1.price_id'],
    { available: 1 },
  ],
  [
    'a price of another rate',
    { ticket_rate_id: 'rate_huge', tickets: [anEntry('price_huge'), anEntry('price_open')] },
    422,
    ['PRICE_NOT_IN_RATE tickets.1.price_id'],
  ],
  [
    'an unknown price',
    { ticket_rate_id: 'rate_huge', tickets: [anEntry('price_none')] },
    422,
    ['PRICE_NOT_IN_RATE tickets.0.price_id'],
  ],
  [
    'a supplement of another rate',
    open({ supplements: [{ supplement_id: 'sup_none' }] }),
    422,
    ['SUPPLEMENT_NOT_IN_RATE tickets.0.supplements.0.supplement_id'],
  ],
  [
    'a supplement twice',
    open({ supplements: [{ supplement_id: 'sup_open' }, { supplement_id: 'sup_open' }] }),
    422,
    ['DUPLICATE_SUPPLEMENT tickets.0.supplements.1.supplement_id'],
  ],
  [
    'a required question without an answer',
    open({ answers: [] }),
    422,
    ['ANSWER_REQUIRED tickets.0.answers'],
  ],
  [
    'an answer that is not an item',
    open({ answers: [{ question_id: 'que_size', answer: 'XL' }] }),
    422,
    ['ANSWER_NOT_OFFERED tickets.0.answers.0.answer'],
  ],
  [
    'an answer to a checkbox that is neither true nor false',
    open({ answers: [...answers, { question_id: 'que_terms', answer: 'True' }] }),
    422,
    ['ANSWER_NOT_OFFERED tickets.0.answers.1.answer'],
  ],
  [
    'an answer to a question of another rate',
    open({ answers: [...answers, { question_id: 'que_none', answer: 'x' }] }),
    422,
    ['QUESTION_NOT_IN_RATE tickets.0.answers.1.question_id'],
  ],
  [
    'two answers to a question',
    open({ answers: [...answers, ...answers] }),
    422,
    ['DUPLICATE_ANSWER tickets.0.answers.1.question_id'],
  ],
  [
    'a warranty that is not offered',
    open({ warranty: true }),
    422,
    ['WARRANTY_NOT_OFFERED tickets.0.warranty'],
  ],
  // The event begins at 00:30 on 2 June in Madrid: a buyer who turns 18 that day may enter, one born a day
  // later may not.
  [
    'a buyer under age',
    open({ birthday: `${year - 18}-06-03` }),
    422,
    ['UNDER_AGE tickets.0.birthday'],
    { minimum_age: 18 },
  ],
  [
    'a QR code twice',
    ticketsOf('huge', 2, { qr_code: 'TWICE' }),
    422,
    ['DUPLICATE_QR_CODE tickets.1.qr_code'],
  ],
  [
    'several errors at once',
    {
      ticket_rate_id: 'rate_open',
      tickets: [
        anEntry('price_none', { answers, warranty: true }),
        anEntry('price_open', { birthday: `${year - 5}-01-01` }),
      ],
    },
    422,
    [
      'PRICE_NOT_IN_RATE tickets.0.price_id',
      'WARRANTY_NOT_OFFERED tickets.0.warranty',
      'ANSWER_REQUIRED tickets.1.answers',
      'UNDER_AGE tickets.1.birthday',
    ],
  ],
]

// Facts that GraphQL names otherwise than REST.
const namesOfFacts: Record<string, string> = {
  valid_from: 'startsAt',
  valid_until: 'endedAt',
  start_date: 'endedAt',
}
const toGraphqlFacts = (facts: object) =>
  toCamelCase(
    Object.fromEntries(Object.entries(facts).map(([name, fact]) => [namesOfFacts[name] ?? name, fact])),
  ) as object

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

test.each(rules)(
  'a checkout of %s is refused and holds nothing',
  async (_what, body, status, problems, facts = {}) => {
    const before = await countersOf(sale)
    const answer = await checkOut(sale, body)
    expect(answer.statusCode, answer.body).toBe(status)
    expect(restProblems(answer)).toEqual(problems)
    expect(answer.json()).toMatchObject({
      success: false,
      code: problems[0]?.split(' ')[0],
      errors: [facts, ...problems.slice(1).map(() => ({}))],
    })
    const refused = await checkOutOverGraphql(sale, body)
    expect(refused.__typename).toBe('Refused')
    expect(refused.errors.map(({ code, path }) => `${code} ${snake(toFlatPath(path ?? ''))}`)).toEqual(
      problems,
    )
    expect(refused.errors.every(({ path }) => path?.startsWith('items.0.'))).toBe(true)
    expect(refused.errors[0]).toMatchObject(toGraphqlFacts(facts))
    expect(await countersOf(sale)).toEqual(before)
    expect(await sale.db.$count(tickets)).toBe(0)
    expect(await sale.db.$count(payments)).toBe(0)
  },
)

test('a quote follows the rules of checkouts', async () => {
  const quote = `query ($input: QuoteCheckoutInput!) { quoteCheckout(input: $input) { __typename
    ... on Refused { errors { code path ... on AvailabilityError { available } } } } }`
  const tickets = Array.from({ length: 3 }, () => ({ priceId: 'price_two_left' }))
  const input = { items: [{ ticketRateId: 'rate_two_left', tickets }] }
  const { data } = await sale.graphql(quote, { input }, sale.channel)
  expect(data).toEqual({
    quoteCheckout: {
      __typename: 'Refused',
      errors: [{ code: 'INSUFFICIENT_AVAILABILITY', path: 'items.0.tickets', available: 2 }],
    },
  })
})

// Last, because it sells.
test('a checkout just within the rules is sold', async () => {
  const allowed = [
    ticketsOf('few', 2),
    ticketsOf('few', 4),
    ticketsOf('two_left', 2),
    ticketsOf('capped', 1),
    ticketsOf('warranty', 1, { warranty: true }),
    open({ birthday: `${year - 18}-06-02` }),
    open({
      supplements: [{ supplement_id: 'sup_open' }],
      answers: [...answers, { question_id: 'que_free', answer: 'Anything' }],
    }),
    open({ answers: [...answers, { question_id: 'que_free', answer: 'ñ'.repeat(500) }] }),
    ...['true', 'false'].map((answer) =>
      open({ answers: [...answers, { question_id: 'que_terms', answer }] }),
    ),
  ]
  for (const body of allowed) expect((await checkOut(sale, body)).statusCode, JSON.stringify(body)).toBe(200)
  expect((await checkOut(sale, ticketsOf('huge', 50))).statusCode).toBe(200)
})
