import { afterAll, beforeAll, expect, test } from 'vitest'
import { demoCatalogue } from '../../../examples/shop/src/demo/catalogue.ts'
import { transferTicket, updateAttendee } from '../../support/attendees.ts'
import { aGuest, issueInvitations, sellAtBoxOffice } from '../../support/box-office.ts'
import {
  anEntry,
  type Checkout,
  checkOut,
  checkOutOverGraphql,
  toCamelCase,
} from '../../support/checkouts.ts'
import { cancelTicket, fullPaymentOf, refundTicket } from '../../support/refunds.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { settlePaymentById } from '../../support/settle-payment.ts'
import { stubProvider } from '../../support/stub-provider.ts'

// REST and GraphQL agree field by field, over the whole demo catalogue.

let sale: Sale
beforeAll(async () => {
  sale = await openSale(demoCatalogue({ events: 60, now: new Date() }), { provider: stubProvider() })
})
afterAll(() => sale.close())

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
type Fields = { [name: string]: Json }

// Fields whose values are upper case in GraphQL, and lower case in REST.
const enums = new Set(['status', 'checkoutStatus', 'type', 'feeType', 'saleType', 'personalDocumentType'])

/** Renames GraphQL's fields and enum values to REST's. */
function inRestNames(value: Json): Json {
  if (Array.isArray(value)) return value.map(inRestNames)
  if (typeof value !== 'object' || value === null) return value
  const name = (key: string) =>
    key === 'id' ? '_id' : key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      name(key),
      enums.has(key) && typeof field === 'string' ? field.toLowerCase() : inRestNames(field),
    ]),
  )
}

const priceFields = 'id name price validUntil quantity includes additionalInfo feeType feeQuantity'

const eventFields = `id name slug description age outfit ambiences musicGenres artists { name imageUrl } displayDate startDate
  endDate organizationId imageUrl locationId iframe { tagUrl scriptUrl }
  ticketRates { id organizationId eventId name slug validFrom complete type prices { ${priceFields} }
    supplements { id label price hasFakePrice fakePrice } available availability { sold available } min max
    questions { id label type required items } showAllPrices warranty { enabled percentage hours } }`

const issuedFields = `id eventId ticketRateId qrCode checkoutStatus price { ${priceFields} } paymentCurrency channelId
  fees { organization platform } fullName phone email gender birthday address postalCode countryCode personalDocumentType
  personalDocumentNumber answers { questionId answer } issued: supplements { supplementId price } refunded refundedAt
  refunds { channelId amount at } for enter entryTime totalSupplements totalFees totalPrice warranty { total hours }`

const lookupFields = `id activationDate channelId code discountQuantitySubtract email gender address language country
  postalCode enter entryDate eventId for name paymentId phone priceInfo { id price age content additionalInfo } raised
  rateId rateName rateSlug referralId refunded saleType status totalExtras totalFees totalPaid invoiceReference
  correctiveInvoiceReferences
  supplements { id price label description hasFakePrice fakePrice productQuantity productQuantityUsed }`

const overRest = async (url: string, headers: Record<string, string>) => {
  const answer = await sale.rest('GET', url, { headers })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json().data
}

async function overGraphql(query: string, variables: Fields, headers: Record<string, string>) {
  const { data, errors } = await sale.graphql<{ [name: string]: Json }>(query, variables, headers)
  expect(errors).toBeUndefined()
  return inRestNames(data ?? null) as { [name: string]: Fields }
}

const listed = () => overRest('/events?populate=*&limit=100', sale.channel) as Promise<Rates[]>
type Rates = { ticket_rates: Rate[] }
type Rate = {
  _id: string
  available: boolean
  min: number | null
  prices: { _id: string; price: number }[]
  supplements: { _id: string }[]
  questions: { _id: string; type: string; items: string[] }[]
  warranty: { enabled: boolean }
}

test('REST and GraphQL agree on lists of events', async () => {
  const events = await listed()
  expect(events).toHaveLength(60)
  const { events: page } = await overGraphql(
    `{ events(first: 100) { nodes { ${eventFields} } } }`,
    {},
    sale.channel,
  )
  expect(page?.nodes).toEqual(events)
})

test('REST and GraphQL agree on a single event', async () => {
  const [, event] = await listed()
  const { node } = await overGraphql(
    `{ node(id: "evt_demo_2") { ... on Event { ${eventFields} } } }`,
    {},
    sale.channel,
  )
  expect(node).toEqual(event)
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

async function expectSameTickets({ tickets, payment_id, total_amount }: Checkout) {
  const query = `query ($id: ID!) { payment(id: $id) { totalAmount tickets { ${issuedFields} } } }`
  const { payment } = await overGraphql(query, { id: payment_id }, sale.channel)
  const same = ((payment?.tickets ?? []) as Fields[]).map(({ checkout_status, issued, gender, ...rest }) => ({
    ...rest,
    status: checkout_status,
    supplements: issued,
    gender: Number(gender),
  }))
  expect({ total_amount: payment?.total_amount, tickets: same }).toEqual({ total_amount, tickets })
}

async function expectSameLookup(id: string) {
  // The integration belongs to the first organization; both methods look up every ticket of its events.
  const looked = await overRest(`/integrations/tickets/${id}`, sale.integration.v2)
  expect(await overRest(`/integrations/tickets/${id}`, sale.integration.v1)).toEqual(looked)
  const { ticket } = await overGraphql(
    `query ($id: ID!) { ticket(id: $id) { ${lookupFields} } }`,
    { id },
    sale.integration.v2,
  )
  const { price_info } = ticket ?? {}
  expect({ ...ticket, price: (price_info as Fields).price }).toEqual(looked)
}

test('REST and GraphQL agree on checkouts and tickets of every rate, unpaid and paid', async () => {
  const events = (await listed()) as (Rates & { organization_id: string })[]
  let sold = 0
  let looked = 0
  for (const { ticket_rates, organization_id } of events)
    for (const rate of ticket_rates) {
      const body = fullBody(rate)
      const answer = await checkOut(sale, body)
      if (!rate.available) {
        const refused = await checkOutOverGraphql(sale, body)
        expect(refused.errors.map(({ code, message }) => ({ code, message }))).toEqual(
          answer.json().errors.map(({ code, message }: Fields) => ({ code, message })),
        )
        continue
      }
      expect(answer.statusCode, answer.body).toBe(200)
      const checkout: Checkout = answer.json().data
      await expectSameTickets(checkout)
      const ours = organization_id === 'org_demo_luna' ? checkout.tickets.slice(0, 1) : []
      for (const { _id } of ours) await expectSameLookup(_id)
      if (checkout.total_amount > 0)
        await settlePaymentById(sale.db, checkout.payment_id, await fullPaymentOf(sale, checkout))
      for (const { _id } of ours) await expectSameLookup(_id)
      sold++
      looked += ours.length
    }
  expect(sold).toBeGreaterThan(60)
  expect(looked).toBeGreaterThan(5)
})

test('REST and GraphQL agree on a ticket refunded in part and cancelled', async () => {
  const events = (await listed()) as (Rates & { organization_id: string })[]
  const rate = events
    .filter(({ organization_id }) => organization_id === 'org_demo_luna')
    .flatMap(({ ticket_rates }) => ticket_rates)
    .find(({ available, prices }) => available && (prices.at(-1)?.price ?? 0) > 1)
  if (!rate) throw new Error('the demo sells something that costs')
  const checkout: Checkout = (await checkOut(sale, fullBody(rate))).json().data
  await settlePaymentById(sale.db, checkout.payment_id, await fullPaymentOf(sale, checkout))
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
  const events = (await listed()) as (Rates & { organization_id: string })[]
  const rates = events
    .filter(({ organization_id }) => organization_id === 'org_demo_luna')
    .flatMap(({ ticket_rates }) => ticket_rates)
    .filter(({ available, prices }) => available && (prices.at(-1)?.price ?? 0) > 1)
  const types = new Set<string>()
  for (const rate of rates.slice(0, 5)) {
    const { tickets } = toCamelCase(fullBody(rate)) as { tickets: object[] }
    const sold = await sellAtBoxOffice(sale, { ticketRateId: rate._id, tickets, language: 'de' })
    const given = await issueInvitations(sale, { ticketRateId: rate._id, invitations: [aGuest()] })
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
    const result = await checkOutOverGraphql(sale, body)
    expect([
      result.totalAmount,
      result.conditionsChanged,
      result.tickets.map(({ totalPrice, price }) => [totalPrice, price.id]),
    ]).toEqual([
      total_amount,
      conditions_changed,
      tickets.map((ticket: Checkout['tickets'][number]) => [ticket.total_price, ticket.price._id]),
    ])
  }
})
