import type { Surface } from './bare-lookups-sql.ts'
import type { Page } from './bare-pages-sql.ts'
import type { Ask } from './http-client.ts'

/** Search terms with results in the catalogue. */
export type Sample = { word: string; latitude: number; longitude: number; radius: number }
/** A rate and a price to check out. */
export type Target = { rateId: string; priceId: string }

const priceFields = `id name price currency validUntil quantity includes additionalInfo feeType feeQuantity`

const nestedPage = `{
  events(first: 50) {
    nodes {
      id name slug description age outfit ambiences musicGenres artists { name imageUrl }
      displayDate startDate endDate organizationId imageUrl locationId iframe { tagUrl scriptUrl }
      organization { id name slug currency }
      location { id organizationId name address city countryCode latitude longitude timezone }
      ticketRates {
        id organizationId eventId name slug validFrom complete type min max showAllPrices available
        availability { sold available } warranty { enabled percentage hours }
        prices { ${priceFields} } currentPrice { ${priceFields} }
        supplements { id label price hasFakePrice fakePrice }
        questions { id label type required items }
      }
    }
  }
}`

// The fields of the REST response, so that both surfaces do the same work.
const checkout = `mutation ($input: CheckoutInput!) {
  checkout(input: $input) {
    __typename
    ... on CheckoutRefused { errors { code message path } }
    ... on CheckoutPayload {
      conditionsChanged totalAmount
      payment { id url status expiresAt totalAmount currency }
      tickets {
        id eventId ticketRateId qrCode checkoutStatus price { ${priceFields} } paymentCurrency channelId
        fees { organization platform } fullName phone email gender birthday address postalCode countryCode
        personalDocumentType personalDocumentNumber answers { questionId answer }
        supplements { supplementId price } refunded refundedAt refunds { channelId amount at }
        for enter entryTime totalSupplements totalFees totalPrice warranty { total hours }
      }
    }
  }
}`

// The fields of the REST lookup. Its number `price` is the one in `priceInfo`.
const lookupFields = `
    id activationDate channelId code discountQuantitySubtract email gender address language country postalCode
    enter entryDate eventId for name paymentId phone raised rateId rateName rateSlug referralId refunded saleType
    priceInfo { id price age content additionalInfo }
    supplements { id price label description hasFakePrice fakePrice productQuantity productQuantityUsed }
    status totalExtras totalFees totalPaid invoiceReference correctiveInvoiceReferences`
const lookup = `query ($id: ID!) { ticket(id: $id) { ${lookupFields} } }`
const list = `{ tickets(first: 50) { nodes { ${lookupFields} } } }`

const quote = `query ($input: CheckoutInput!) {
  quoteCheckout(input: $input) {
    __typename
    ... on CheckoutRefused { errors { code message path } }
    ... on CheckoutQuote { totalAmount conditionsChanged tickets { price { id } totalPrice } }
  }
}`

const getting = (apiKey: string, path: string): Ask => ({
  method: 'GET',
  path,
  headers: { accept: 'application/json', 'x-api-key': apiKey },
})

const posting = (apiKey: string, path: string, body: object): Ask => ({
  method: 'POST',
  path,
  headers: { accept: 'application/json', 'content-type': 'application/json', 'x-api-key': apiKey },
  body: JSON.stringify(body),
})

/** GraphQL request of the page with all nested fields. */
export const nestedPageAsk = (apiKey: string): Ask => posting(apiKey, '/graphql', { query: nestedPage })

/** REST request of the same page. */
export const listAsk = (apiKey: string): Ask => getting(apiKey, '/events?populate=*')

/** Request of each page. */
export const pageAsks = (
  apiKey: string,
  { word, latitude, longitude, radius }: Sample,
): Record<Page, Ask> => ({
  graphql: nestedPageAsk(apiKey),
  rest: listAsk(apiKey),
  events: getting(apiKey, '/events'),
  search: getting(apiKey, `/events?search=${encodeURIComponent(word)}`),
  radius: getting(apiKey, `/events?lat=${latitude}&lng=${longitude}&radius=${radius}`),
})

// A box slightly larger than the circle; ignores the poles and the date line.
function boxAround({ latitude, longitude, radius }: Sample): number[] {
  const height = radius / 111
  const width = height / Math.cos(((Math.abs(latitude) + height) * Math.PI) / 180)
  return [latitude - height, latitude + height, longitude - width, longitude + width]
}

/** Parameters of the same pages in the bare server's statements. */
export const pageParameters = (sample: Sample) => ({
  search: [`'${sample.word}':*`],
  radius: [sample.latitude, sample.longitude, sample.radius, ...boxAround(sample)],
})

const urls = { redirect: 'https://shop.example/done', error: 'https://shop.example/failed' }
const buyer = { email: 'ada@example.com', phone: '+34600000000' }

const inputOf = ({ rateId, priceId }: Target, discountCode?: string) => ({
  ticketRateId: rateId,
  discountCode,
  redirectUrl: urls.redirect,
  errorUrl: urls.error,
  tickets: [{ priceId, fullName: 'Ada Lovelace', ...buyer }],
})

/** Requests to check out one ticket of each rate, with a discount if there is a code. */
export const checkoutAsks = (
  apiKey: string,
  surface: Surface,
  targets: Target[],
  discountCode?: string,
): Ask[] =>
  targets.map((target) =>
    surface === 'rest'
      ? posting(apiKey, '/tickets/checkout', {
          ticket_rate_id: target.rateId,
          discount_code: discountCode,
          redirect_url: urls.redirect,
          error_url: urls.error,
          tickets: [{ price_id: target.priceId, full_name: 'Ada Lovelace', ...buyer }],
        })
      : posting(apiKey, '/graphql', { query: checkout, variables: { input: inputOf(target, discountCode) } }),
  )

/** Request of a quote for one ticket. */
export const quoteAsk = (apiKey: string, target: Target): Ask =>
  posting(apiKey, '/graphql', { query: quote, variables: { input: inputOf(target) } })

/** Requests to look up each ticket with the key of its organization's integration. */
export const lookupAsks = (apiKey: string, surface: Surface, ids: string[]): Ask[] =>
  ids.map((id) =>
    surface === 'rest'
      ? getting(apiKey, `/integrations/tickets/${id}`)
      : posting(apiKey, '/graphql', { query: lookup, variables: { id } }),
  )

/** Request of an organization's newest 50 tickets. */
export const ticketListAsk = (apiKey: string, surface: Surface): Ask =>
  surface === 'rest' ? getting(apiKey, '/integrations/tickets') : posting(apiKey, '/graphql', { query: list })
