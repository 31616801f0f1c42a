import { expect } from 'vitest'
import type { Checkout, Refused } from './checkouts.ts'
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

const payment = `payment { id status method methodReference totalAmount currency refundedAmount invoiceReference paidAt
  conditionsChanged url }`
const tickets = `tickets { id status saleType qrCode fullName email phone priceId price { id price }
  priceInfo { price } totalPrice totalPaid totalFees discountQuantitySubtract raised channelId language for
  documentUrl activationDate invoiceReference supplements { id } }`
const refused = `... on CheckoutRefused { errors { __typename code message path
  ... on AvailabilityError { available } ... on TicketCountError { min max }
  ... on SaleTimeError { validFrom validUntil startDate } ... on UnderAgeError { minimumAge }
  ... on TotalIncreasedError { totalAmount } } }`

const documents = {
  sellAtBoxOffice: `mutation ($input: SellAtBoxOfficeInput!) { sellAtBoxOffice(input: $input) { __typename
    ... on BoxOfficePayload { totalAmount idempotentReplayed ${payment} ${tickets} } ${refused} } }`,
  issueInvitations: `mutation ($input: IssueInvitationsInput!) { issueInvitations(input: $input) { __typename
    ... on InvitationsPayload { idempotentReplayed ${payment} ${tickets} } ${refused} } }`,
}

type SoldTicket = { id: string; status: string; qrCode: string; documentUrl: string | null } & Record<
  string,
  unknown
>
export type OwnSale = {
  __typename: string
  totalAmount: number
  idempotentReplayed: boolean
  payment: { id: string; status: string } & Record<string, unknown>
  tickets: SoldTicket[]
  errors?: Refused[]
}
type Input = Record<string, unknown>

/** Sends one of the two mutations and returns the whole response, including errors. */
export const callOwn = (
  sale: Sale,
  name: keyof typeof documents,
  input: Input,
  headers: Headers = sale.integration.v2,
) => sale.graphql<{ [name: string]: OwnSale }>(documents[name], { input }, headers)

async function answerOf(...given: Parameters<typeof callOwn>): Promise<OwnSale> {
  const { data, errors } = await callOwn(...given)
  expect(errors).toBeUndefined()
  const result = data?.[given[1]]
  if (!result) throw new Error('the mutation returned no data')
  return result
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
