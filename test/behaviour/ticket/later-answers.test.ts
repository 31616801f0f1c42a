// Runs in: postgres

import { afterAll, beforeAll, expect, test } from 'vitest'
import { callHolderMutation } from '../../support/attendees.ts'
import { aGuest, issueInvitations } from '../../support/box-office.ts'
import { aCatalogue, aLocation, anEvent, aPrice, aQuestion, aRate } from '../../support/factories.ts'
import * as refunds from '../../support/refunds.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { buyTickets, ticketOf } from '../../support/tickets.ts'

// Whoever holds a ticket after the sale is of age and has answered as a checkout demands.

const year = new Date().getUTCFullYear()

let sale: Sale
beforeAll(async () => {
  sale = await openSale(
    aCatalogue({
      locations: [aLocation()],
      events: [
        anEvent({
          age: '18',
          start_date: `${year + 1}-07-11T22:30:00.000Z`,
          end_date: `${year + 1}-07-12T04:00:00.000Z`,
          ticket_rates: [
            aRate({
              _id: 'rate_1',
              prices: [aPrice({ _id: 'price_1' })],
              questions: [
                aQuestion({ _id: 'que_size', items: ['Small', 'Large'], required: true }),
                aQuestion({ _id: 'que_diet', type: 'text', items: [] }),
                aQuestion({ _id: 'que_terms', type: 'checkbox', items: [], required: true }),
              ],
            }),
          ],
        }),
      ],
    }),
  )
})
afterAll(() => sale.close())

type Given = { questionId: string; answer: Record<string, unknown> }
type Problem = { code: string; path: string | null }
type Told = { text: string | null; checked: boolean | null }

const optionOf = async (label: string) => {
  const { data } = await sale.graphql<{
    ticketRate: { questions: { options: { id: string; label: string }[] }[] }
  }>('{ ticketRate(id: "rate_1") { questions { options { id label } } } }', {}, sale.channel)
  const [{ options } = { options: [] }] = data?.ticketRate.questions ?? []
  return options.find((option) => option.label === label)?.id ?? ''
}
const size = async (label: string): Promise<Given> => ({
  questionId: 'que_size',
  answer: { optionId: await optionOf(label) },
})
const terms = (checked = true): Given => ({ questionId: 'que_terms', answer: { checked } })
const diet = (text: string): Given => ({ questionId: 'que_diet', answer: { text } })

const inWords = [
  { question_id: 'que_size', answer: 'Small' },
  { question_id: 'que_terms', answer: 'true' },
]
const buy = async () => ticketOf(await buyTickets(sale, { entry: { answers: inWords } }))
const berta = { fullName: 'Berta Öz', email: 'berta@example.com' }

// Returns what was refused, with places in the attendee alone, or what the ticket says.
async function call(name: 'updateAttendees' | 'transferTicket', input: Record<string, unknown>) {
  const { data, errors } = await callHolderMutation(sale, name, input, sale.integration.v2)
  expect(errors).toBeUndefined()
  const result = data?.[name] as
    | { errors?: Problem[]; tickets?: { answers: Told[] }[]; ticket?: { answers: Told[] } }
    | undefined
  const problems = result?.errors?.map(
    ({ code, path }) => `${code} ${path?.replace(/^attendees\.0\.|^attendee\./, '')}`,
  )
  return problems ?? (result?.ticket ?? result?.tickets?.[0])?.answers.map(({ text }) => text)
}
const update = (ticketId: string, answers: unknown, more: object = {}) =>
  call('updateAttendees', { attendees: [{ ticketId, answers, ...more }] })
const transfer = (ticketId: string, answers: unknown, more: object = {}) =>
  call('transferTicket', { ticketId, attendee: { ...berta, ...more }, answers })

test('a new attendee is of age on the day of the event', async () => {
  const id = await buy()
  const answers = [await size('Small'), terms()]
  const before = await refunds.ticketRow(sale, id)
  expect(await transfer(id, answers, { birthDate: `${year + 1 - 18}-07-13` })).toEqual([
    'UNDER_AGE birthDate',
  ])
  expect(await refunds.ticketRow(sale, id)).toEqual(before)
  expect(await transfer(id, answers, { birthDate: `${year + 1 - 18}-07-12` })).toEqual(['Small', null])
})

test('a new attendee answers anew, and all that is required', async () => {
  const id = await buy()
  expect(await transfer(id, undefined)).toEqual(['ANSWER_REQUIRED answers', 'ANSWER_REQUIRED answers'])
  expect(await transfer(id, [await size('Large'), diet('None'), terms(false)])).toEqual([
    'Large',
    'None',
    null,
  ])
  expect((await refunds.ticketRow(sale, id))?.answers).toEqual([
    { questionId: 'que_size', option: { id: await optionOf('Large'), label: 'Large' } },
    { questionId: 'que_diet', text: 'None' },
    { questionId: 'que_terms', checked: false },
  ])
})

test('corrected answers replace the former ones as a whole, and stay where they are not given', async () => {
  const id = await buy()
  expect(await update(id, undefined, { fullName: 'Ana Gil' })).toEqual(['Small', null])
  expect(await update(id, [terms(), await size('Large'), diet('Vegan')])).toEqual([null, 'Large', 'Vegan'])
  const changed = await refunds.changeTypesOf(sale, id)
  expect(await update(id, [terms(), await size('Large'), diet('Vegan')])).toEqual([null, 'Large', 'Vegan'])
  expect(await refunds.changeTypesOf(sale, id)).toEqual(changed)
  expect(await update(id, null)).toEqual(['ANSWER_REQUIRED answers', 'ANSWER_REQUIRED answers'])
})

test('a guest has to answer nothing, and may', async () => {
  const { tickets } = await issueInvitations(sale, { ticketRateId: 'rate_1', guests: [aGuest()] })
  const id = tickets?.[0]?.id ?? ''
  expect(await transfer(id, undefined)).toEqual([])
  expect(await update(id, [diet('None')])).toEqual(['None'])
  expect(await update(id, null)).toEqual([])
})

test('what a checkout refuses of an attendee, a transfer and a correction refuse too', async () => {
  const draw = <Item>(items: Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item
  const options: Given[] = [
    ...[await size('Small'), await size('Large'), diet('None'), terms(), terms(false)],
    { questionId: 'que_size', answer: { text: 'Small' } },
    { questionId: 'que_terms', answer: { text: 'true' } },
    { questionId: 'que_diet', answer: { checked: true } },
    { questionId: 'que_none', answer: { text: '' } },
  ]
  const id = await buy()
  for (let drawn = 0; drawn < 15; drawn++) {
    const answers = draw([0, 1, 2, 3]) === 0 ? null : [1, 2, 3].map(() => draw(options))
    const birthDate = draw(['2012-01-01', '1990-01-01', null])
    const { data } = await sale.graphql<{ checkout: { errors?: Problem[] } }>(
      `mutation ($input: CheckoutInput!) { checkout(input: $input) {
        __typename ... on Refused { errors { code path } } } }`,
      {
        input: {
          items: [
            {
              ticketRateId: 'rate_1',
              tickets: [{ priceId: 'price_1', attendee: { ...berta, birthDate }, answers }],
            },
          ],
        },
      },
      sale.channel,
    )
    const sold = data?.checkout.errors
      ?.map(({ code, path }) => `${code} ${path?.replace(/^items\.0\.tickets\.0\.(attendee\.)?/, '')}`)
      .toSorted()
    const said = JSON.stringify({ answers, birthDate })
    const refused = (answer: string[] | undefined) =>
      answer?.filter((text) => / /.test(text ?? '')).toSorted()
    expect(refused((await update(id, answers, { birthDate })) as string[]), said).toEqual(sold ?? [])
    const given = sold ? id : await buy()
    expect(refused((await transfer(given, answers, { birthDate })) as string[]), said).toEqual(sold ?? [])
  }
})
