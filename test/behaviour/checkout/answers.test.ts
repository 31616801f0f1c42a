// Runs in: postgres

import { afterAll, beforeEach, expect, test } from 'vitest'
import { derivedId } from '../../../src/domain/contract/ids.ts'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { anEntry, checkOut } from '../../support/checkouts.ts'
import { aCatalogue, anEvent, aQuestion, aRateNamed } from '../../support/factories.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { holdTickets } from '../../support/tickets.ts'

// Answers to questions by their kind, and what becomes of them when a choice gets another label.

const event = anEvent({ _id: 'evt_1' })
const catalogueWith = (items: (string | { id: string; label: string })[]) =>
  aCatalogue({
    events: [
      {
        ...event,
        ticket_rates: [
          aRateNamed('1', {
            questions: [
              aQuestion({ _id: 'que_size', items }),
              aQuestion({ _id: 'que_diet', type: 'text', items: [] }),
              aQuestion({ _id: 'que_terms', type: 'checkbox', items: [] }),
            ],
          }),
        ],
      },
    ],
  })

let sale: Sale
beforeEach(async () => {
  await sale?.close()
  sale = await openSale(catalogueWith(['Smal', 'Large']))
})
afterAll(() => sale.close())

const optionOf = (text: string) => derivedId('opt', 'que_size', text)
const small = { id: optionOf('Smal'), label: 'Smal' }

const answersOf = 'answers { question { id label } text checked option { id label } }'
type Given = Record<string, unknown>

const checkout = (answers: { questionId: string; answer: Given }[]) =>
  sale.graphql<{ checkout: { tickets: { id: string; answers: Given[] }[]; errors: Given[] } }>(
    `mutation ($input: CheckoutInput!) { checkout(input: $input) { __typename
      ... on CheckoutPayload { tickets { id ${answersOf} } } ... on Refused { errors { code path message } } } }`,
    {
      input: {
        idempotencyKey: crypto.randomUUID(),
        items: [
          {
            ticketRateId: 'rate_1',
            tickets: [
              { priceId: 'price_1', attendee: { fullName: 'Ana', email: 'ana@example.com' }, answers },
            ],
          },
        ],
      },
    },
    sale.channel,
  )

const ask = async (id: string, selection = answersOf) => {
  const query = `query ($id: ID!) { ticket(id: $id) { ${selection} } }`
  const { data, errors } = await sale.graphql<{ ticket: { answers: Given[] } }>(query, { id }, sale.channel)
  expect(errors).toBeUndefined()
  return data?.ticket.answers
}

test('an answer is an option, text or a tick, and leads to its question', async () => {
  const { data } = await checkout([
    { questionId: 'que_size', answer: { optionId: small.id } },
    { questionId: 'que_diet', answer: { text: ' None ' } },
    { questionId: 'que_terms', answer: { checked: false } },
  ])
  const label = 'How did you hear of us?'
  const [ticket] = data?.checkout.tickets ?? []
  expect(ticket?.answers).toEqual([
    { question: { id: 'que_size', label }, text: 'Smal', checked: null, option: small },
    { question: { id: 'que_diet', label }, text: 'None', checked: null, option: null },
    { question: { id: 'que_terms', label }, text: null, checked: false, option: null },
  ])
  expect(await ask(ticket?.id ?? '')).toEqual(ticket?.answers)
})

test('what REST answers in words is of the same kind', async () => {
  const answers = [
    { question_id: 'que_size', answer: 'Large' },
    { question_id: 'que_diet', answer: 'true' },
    { question_id: 'que_terms', answer: 'true' },
  ]
  const { tickets } = await holdTickets(sale, { entry: { answers } })
  expect(tickets[0]).toMatchObject({ answers })
  expect(await ask(String(tickets[0]?._id))).toMatchObject([
    { text: 'Large', checked: null, option: { id: optionOf('Large') } },
    { text: 'true', checked: null, option: null },
    { text: null, checked: true, option: null },
  ])
})

test.each<[string, Given, string]>([
  ['que_size', { optionId: 'opt_none' }, 'The answer must be one of: Smal, Large.'],
  ['que_size', { text: 'Large' }, 'The answer must be one of: Smal, Large.'],
  ['que_size', { checked: true }, 'The answer must be one of: Smal, Large.'],
  ['que_diet', { checked: true }, 'The answer must be text.'],
  ['que_diet', { text: ' ' }, 'The answer must be text.'],
  ['que_terms', { text: 'true' }, 'The answer must be true or false.'],
])('an answer to %s that is %o is refused', async (questionId, answer, message) => {
  const { data } = await checkout([{ questionId, answer }])
  const path = 'items.0.tickets.0.answers.0.answer'
  expect(data?.checkout.errors).toEqual([{ code: 'ANSWER_NOT_OFFERED', path, message }])
})

test.each([{}, { text: 'a', checked: true }, { text: null }])('the schema refuses %o', async (answer) => {
  const { data, errors } = await checkout([{ questionId: 'que_diet', answer }])
  expect(data).toBeUndefined()
  expect(errors?.[0]?.extensions?.code).toBe('BAD_REQUEST')
})

test('text that is too long is refused at its place', async () => {
  const { data } = await checkout([{ questionId: 'que_diet', answer: { text: 'x'.repeat(501) } }])
  const path = 'items.0.tickets.0.answers.0.answer.text'
  expect(data?.checkout.errors).toMatchObject([{ code: 'INVALID', path }])
})

test('a label that is mended or translated leads from an answer to its option', async () => {
  const { data } = await checkout([{ questionId: 'que_size', answer: { optionId: small.id } }])
  const id = data?.checkout.tickets[0]?.id ?? ''
  await importCatalogue(sale.db, catalogueWith([{ id: 'Smal', label: 'Small' }, 'Large']))
  const mended = { text: 'Smal', option: { id: small.id, label: 'Small' } }
  expect(await ask(id)).toMatchObject([mended])

  // An export names choices by their labels alone, in another order.
  await importCatalogue(sale.db, catalogueWith(['Large', 'Small', 'Huge']))
  expect(await ask(id)).toMatchObject([mended])
  const again = await checkout([{ questionId: 'que_size', answer: { optionId: small.id } }])
  expect(again.data?.checkout.tickets[0]?.answers).toMatchObject([{ text: 'Small' }])

  // One that is no longer offered keeps the label that it was sold with, and can't be chosen.
  await importCatalogue(sale.db, catalogueWith(['Large', 'Huge']))
  expect(await ask(id)).toMatchObject([{ text: 'Smal', option: small }])
  const gone = {
    ticket_rate_id: 'rate_1',
    tickets: [anEntry('price_1', { answers: [{ question_id: 'que_size', answer: 'Small' }] })],
  }
  expect((await checkOut(sale, gone)).json().code).toBe('ANSWER_NOT_OFFERED')
})

test('identifiers of questions and options are read with the ticket', async () => {
  const { data } = await checkout([{ questionId: 'que_size', answer: { optionId: small.id } }])
  const id = data?.checkout.tickets[0]?.id ?? ''
  const statementsOf = async (selection: string) => {
    sale.statements.reset()
    await ask(id, selection)
    return sale.statements.length
  }
  const ids = await statementsOf('answers { text question { id } option { id } }')
  expect(ids).toBe(await statementsOf('answers { text }'))
  expect(await statementsOf(answersOf)).toBe(ids + 1)
})
