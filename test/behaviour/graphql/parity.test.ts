import { expect, test } from 'vitest'
import { demoCatalogue } from '../../../examples/shop/src/demo/catalogue.ts'
import { transferTicket, updateAttendee } from '../../support/attendees.ts'
import { aGuest, issueInvitations, sellAtBoxOffice } from '../../support/box-office.ts'
import {
  anEntry,
  byKind,
  type Checkout,
  checkOut,
  checkOutOverGraphql,
  toCamelCase,
} from '../../support/checkouts.ts'
import type { Amount } from '../../support/contract-input.ts'
import { cancelTicket, refundTicket } from '../../support/refunds.ts'
import {
  eventFacts,
  eventFields,
  issuedFacts,
  issuedFields,
  lookupFacts,
  lookupFields,
  restEventFacts,
  restIssuedFacts,
} from '../../support/rest-form.ts'
import { sharedSale } from '../../support/sale.ts'
import { stubProvider } from '../../support/stub-provider.ts'
import { payFor } from '../../support/tickets.ts'

// REST and GraphQL agree field by field, over the whole demo catalogue.

const demo = demoCatalogue({ events: 60, now: new Date() })

const sale = sharedSale(demo, { provider: stubProvider() })

type Problem = { code: string; message: string }

const overRest = async (url: string, headers: Record<string, string>) => {
  const answer = await sale.rest('GET', url, { headers })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json().data
}

async function overGraphql<Data>(query: string, variables: object, headers: Record<string, string>) {
  const { data, errors } = await sale.graphql<Data>(query, { ...variables }, headers)
  expect(errors).toBeUndefined()
  if (!data) throw new Error('the answer has data')
  return data
}

const listed = () => overRest('/events?populate=*&limit=100', sale.channel) as Promise<Rates[]>
type Rates = { ticket_rates: Rate[]; organization_id: string; start_date: string }
type Rate = {
  _id: string
  available: boolean
  min: number | null
  prices: { _id: string; price: number }[]
  supplements: { _id: string }[]
  questions: { _id: string; type: string; items: string[] }[]
  warranty: { enabled: boolean }
}

const currencies = new Map<string, string>(demo.organizations.map(({ _id, currency }) => [_id, currency]))
const factsOf = (event: Rates) => restEventFacts(event, currencies.get(event.organization_id) ?? '')

test('REST and GraphQL agree on lists of events', async () => {
  const events = await listed()
  expect(events).toHaveLength(60)
  const page = await overGraphql<{ events: { nodes: object[] } }>(
    `{ events(first: 100) { nodes { ${eventFields} } } }`,
    {},
    sale.channel,
  )
  expect(page.events.nodes.map(eventFacts)).toEqual(events.map(factsOf))
})

test('REST and GraphQL agree on a single event', async () => {
  const event = (await listed())[1] as Rates
  for (const found of ['node(id: "evt_demo_2")', 'event(by: { id: "evt_demo_2" })']) {
    const { one } = await overGraphql<{ one: object }>(
      `{ one: ${found} { ... on Event { ${eventFields} } } }`,
      {},
      sale.channel,
    )
    expect(eventFacts(one)).toEqual(factsOf(event))
  }
})

/** Builds the body of a checkout that uses every field. */
function fullBody(
  { _id, min, prices, supplements, questions, warranty }: Rate,
  price = prices.at(-1)?._id ?? '',
) {
  const entry = anEntry(price, {
    phone: '+34600000000',
    gender: '2',
    birthday: '1990-02-28',
    address: 'Calle Mayor 1',
    postal_code: '28013',
    country_code: 'ES',
    personal_document_type: 'dni',
    personal_document_number: '00000000T',
    answers: questions.map(({ _id, items }) => ({ question_id: _id, answer: items[0] ?? 'Anything' })),
    supplements: supplements.map(({ _id }) => ({ supplement_id: _id })),
    warranty: warranty.enabled,
  })
  return {
    ticket_rate_id: _id,
    tickets: Array.from({ length: min ?? 1 }, () => entry),
    metadata: { table: 7 },
  }
}

type Paid = { payment: { totalAmount: Amount; tickets: { status: string; event: { startDate: string } }[] } }

// GraphQL has no gender.
const inGraphql = (body: ReturnType<typeof fullBody>) => ({
  ...body,
  tickets: body.tickets.map((entry) => ({ ...entry, gender: undefined })),
})

async function expectSameTickets({ tickets, payment_id, total_amount }: Checkout) {
  const query = `query ($id: ID!) { payment(id: $id) { totalAmount { amount currency } tickets { ${issuedFields} } } }`
  const { payment } = await overGraphql<Paid>(query, { id: payment_id }, sale.channel)
  const currency = tickets[0]?.payment_currency
  expect([Number(payment.totalAmount.amount), payment.totalAmount.currency]).toEqual([total_amount, currency])
  expect(payment.tickets.map(issuedFacts)).toEqual(
    tickets.map((ticket, index) => restIssuedFacts(ticket, payment.tickets[index])),
  )
}

async function expectSameLookup(id: string) {
  // The integration belongs to the first organization; both methods look up every ticket of its events.
  const looked = await overRest(`/integrations/tickets/${id}`, sale.integration.v2)
  expect(await overRest(`/integrations/tickets/${id}`, sale.integration.v1)).toEqual(looked)
  const { ticket } = await overGraphql<{ ticket: object }>(
    `query ($id: ID!) { ticket(id: $id) { ${lookupFields} } }`,
    { id },
    sale.integration.v2,
  )
  const { gender: _, ...facts } = looked
  expect(lookupFacts(ticket)).toEqual(facts)
}

test('REST and GraphQL agree on checkouts and tickets of every rate, unpaid and paid', async () => {
  const events = await listed()
  let sold = 0
  let looked = 0
  for (const { ticket_rates, organization_id } of events)
    for (const rate of ticket_rates) {
      const body = fullBody(rate)
      const answer = await checkOut(sale, body)
      if (!rate.available) {
        const refused = await checkOutOverGraphql(sale, inGraphql(body))
        expect(refused.errors.map(({ code, message }) => ({ code, message }))).toEqual(
          answer.json().errors.map(({ code, message }: Problem) => ({ code, message })),
        )
        continue
      }
      expect(answer.statusCode, answer.body).toBe(200)
      const checkout: Checkout = answer.json().data
      await expectSameTickets(checkout)
      const ours = organization_id === 'org_demo_luna' ? checkout.tickets.slice(0, 1) : []
      for (const { _id } of ours) await expectSameLookup(_id)
      if (checkout.total_amount > 0) await payFor(sale, checkout)
      for (const { _id } of ours) await expectSameLookup(_id)
      sold++
      looked += ours.length
    }
  expect(sold).toBeGreaterThan(60)
  expect(looked).toBeGreaterThan(5)
})

test('REST and GraphQL agree on a ticket refunded in part and cancelled', async () => {
  const events = await listed()
  const rate = events
    .filter(({ organization_id }) => organization_id === 'org_demo_luna')
    .flatMap(({ ticket_rates }) => ticket_rates)
    .find(({ available, prices }) => available && (prices.at(-1)?.price ?? 0) > 1)
  if (!rate) throw new Error('the demo sells something that costs')
  const checkout: Checkout = (await checkOut(sale, fullBody(rate))).json().data
  await payFor(sale, checkout)
  const id = checkout.tickets[0]?._id ?? ''
  expect(
    (await updateAttendee(sale, id, { address: 'Calle Mayor 1', countryCode: 'es' })).errors,
  ).toBeUndefined()
  await expectSameLookup(id)
  expect((await transferTicket(sale, id, { language: 'ca' })).errors).toBeUndefined()
  await expectSameLookup(id)
  expect((await refundTicket(sale, id, { amount: 1 })).refund?.status).toBe('SUCCEEDED')
  await expectSameLookup(id)
  expect((await cancelTicket(sale, id)).ticket?.status).toBe('CANCELLED')
  await expectSameLookup(id)
})

test('REST and GraphQL agree on tickets of the box office and on invitations', async () => {
  const events = await listed()
  const rates = events
    .filter(({ organization_id }) => organization_id === 'org_demo_luna')
    .flatMap(({ ticket_rates }) => ticket_rates)
    .filter(({ available, prices }) => available && (prices.at(-1)?.price ?? 0) > 1)
  const types = new Set<string>()
  for (const rate of rates.slice(0, 5)) {
    const { tickets } = toCamelCase(await byKind(sale, inGraphql(fullBody(rate)))) as { tickets: object[] }
    const sold = await sellAtBoxOffice(sale, { ticketRateId: rate._id, tickets, language: 'de' })
    const given = await issueInvitations(sale, { ticketRateId: rate._id, guests: [aGuest()] })
    for (const { id, saleType } of [...sold.tickets, ...given.tickets]) {
      types.add(String(saleType))
      await expectSameLookup(id)
    }
    const refunded = sold.tickets[0]?.id ?? ''
    expect((await refundTicket(sale, refunded, { amount: 1 })).refund?.status).toBe('SUCCEEDED')
    await expectSameLookup(refunded)
  }
  expect([...types].sort()).toEqual(['BOX_OFFICE', 'INVITATION'])
})

test('REST and GraphQL agree on totals of checkouts', async () => {
  const rates = (await listed())
    .flatMap(({ ticket_rates }) => ticket_rates)
    .filter(({ available }) => available)
  for (const rate of rates.slice(0, 20)) {
    const body = fullBody(rate)
    const { total_amount, tickets, conditions_changed } = (await checkOut(sale, body)).json().data
    const result = await checkOutOverGraphql(sale, inGraphql(body))
    expect([
      result.payment.totalAmount,
      result.conditionsChanged,
      result.tickets.map(({ amounts, price }) => [amounts.total, price.id]),
    ]).toEqual([
      total_amount,
      conditions_changed,
      tickets.map((ticket: Checkout['tickets'][number]) => [ticket.total_price, ticket.price._id]),
    ])
  }
})
