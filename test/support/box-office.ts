import { expect } from 'vitest'
import type { Checkout, Refused } from './checkouts.ts'
import { amountsOf, money, toAttendee, toItems, withNumbers } from './contract-input.ts'
import type { Sale } from './sale.ts'

// Sales at the box office and invitations, as an integration makes them.

type Headers = Record<string, string>

/** One ticket of a sale at the box office. */
export const aBuyer = (priceId: string, more: Record<string, unknown> = {}) => ({
  priceId,
  fullName: 'Ana Núñez',
  email: 'ana@example.com',
  ...more,
})

export const aGuest = (more: Record<string, unknown> = {}) => ({
  fullName: 'Luz Marín',
  email: 'luz@example.com',
  ...more,
})

const payment = `payment { id status saleType boxOffice { method reference } totalAmount { amount currency }
  refunded { amount currency } invoiceReference conditionsChanged paidAt pageUrl }`
const tickets = `tickets { id status saleType qrCode attendee { fullName email phone language }
  price { id price { amount currency } }
  amounts { ${amountsOf('price', 'discount', 'supplements', 'fees', 'warranty', 'total')} }
  settlement { ${amountsOf('paid', 'refunded', 'commission', 'net')} }
  channel { id } admits documentUrl activatedAt invoiceReference supplements { supplementId } }`
const refused = `... on Refused { errors { __typename code message path
  ... on AvailabilityError { available } ... on LimitError { min max }
  ... on SaleTimeError { startsAt endedAt } ... on UnderAgeError { minimumAge }
  ... on AmountError { amount { amount currency } } } }`

const documents = {
  sellAtBoxOffice: `mutation ($input: SellAtBoxOfficeInput!) { sellAtBoxOffice(input: $input) { __typename
    ... on SellAtBoxOfficePayload { replayed ${payment} ${tickets} } ${refused} } }`,
  issueInvitations: `mutation ($input: IssueInvitationsInput!) { issueInvitations(input: $input) { __typename
    ... on IssueInvitationsPayload { replayed ${payment} ${tickets} } ${refused} } }`,
}

type SoldTicket = {
  id: string
  status: string
  qrCode: string
  documentUrl: string | null
  attendee: { fullName: string; email: string }
  price: { id: string }
  amounts: { discount: number }
} & Record<string, unknown>
export type OwnSale = {
  __typename: string
  replayed: boolean
  payment: { id: string; status: string } & Record<string, unknown>
  tickets: SoldTicket[]
  errors?: Refused[]
}
type Input = Record<string, unknown>

// Inputs name a rate and flat tickets, and a total as a number in EUR or as an amount. Each has a key of its own, unless one is given.
function toInput({ ticketRateId, tickets, guests, expectedTotal, ...rest }: Input): Input {
  const flat = (given: unknown) => given as Input[]
  return {
    idempotencyKey: crypto.randomUUID(),
    ...rest,
    ...(tickets ? { items: toItems(ticketRateId, flat(tickets)) } : { ticketRateId }),
    ...(guests ? { guests: flat(guests).map((guest) => toAttendee(guest).attendee) } : {}),
    ...(expectedTotal !== undefined && {
      expectedTotal: typeof expectedTotal === 'number' ? money(expectedTotal) : expectedTotal,
    }),
  }
}

/** Sends one of the two mutations and returns the whole response, including errors. */
export const callOwn = (
  sale: Sale,
  name: keyof typeof documents,
  input: Input,
  headers: Headers = sale.integration.v2,
) => sale.graphql<{ [name: string]: OwnSale }>(documents[name], { input: toInput(input) }, headers)

async function answerOf(...given: Parameters<typeof callOwn>): Promise<OwnSale> {
  const { data, errors } = await callOwn(...given)
  expect(errors).toBeUndefined()
  const result = data?.[given[1]]
  if (!result) throw new Error('the mutation returned no data')
  return withNumbers(result)
}

/** Sells at the box office, in cash unless the input names another method. */
export const sellAtBoxOffice = (sale: Sale, input: Input, headers?: Headers) =>
  answerOf(sale, 'sellAtBoxOffice', { method: 'CASH', ...input }, headers)

export const issueInvitations = (sale: Sale, input: Input, headers?: Headers) =>
  answerOf(sale, 'issueInvitations', input, headers)

/** Sells one ticket of `rate_1`, or of another rate, and fails the test if that is refused. */
export async function mustSell(sale: Sale, input: Input = {}, rate = 'rate_1'): Promise<OwnSale> {
  const price = rate.replace('rate', 'price')
  const sold = await sellAtBoxOffice(sale, { ticketRateId: rate, tickets: [aBuyer(price)], ...input })
  expect(sold.errors).toBeUndefined()
  return sold
}

/** A sale in the form that helpers of checkouts take. */
export const asCheckout = ({ payment, tickets }: OwnSale) =>
  ({ payment_id: payment.id, tickets: tickets.map(({ id }) => ({ _id: id })) }) as unknown as Checkout

/** Code, path and facts of each problem, one text each. */
export const problemsOf = ({ errors = [] }: OwnSale): string[] =>
  errors.map(({ __typename, code, message, path, ...facts }) =>
    [code, path, ...Object.values(facts).filter((fact) => fact !== null)].join(' '),
  )
