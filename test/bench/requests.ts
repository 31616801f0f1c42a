import type { Surface } from './bare-lookups-sql.ts'
import type { Page } from './bare-pages-sql.ts'
import { type Ask, freshKey } from './http-client.ts'

/** Search terms with results in the catalogue. */
export type Sample = { word: string; latitude: number; longitude: number; radius: number }
/** A rate and a price to check out. */
export type Target = { rateId: string; priceId: string }

const money = '{ amount currency }'
const priceFields = `id name price ${money} fee ${money} total ${money} validUntil limit includes additionalInfo`

const nestedPage = `{
  events(first: 50) {
    nodes {
      id name slug description minimumAge outfit ambiences musicGenres artists { name imageUrl }
      displayDate startDate endDate imageUrl iframe { tagUrl scriptUrl }
      organization { id name slug currency }
      location { id name address city countryCode latitude longitude timezone }
      ticketRates {
        id name slug validFrom complete type minPerCheckout maxPerCheckout showAllPrices available
        availability { sold available } warranty { percentage endsAt }
        prices { ${priceFields} } currentPrice { ${priceFields} }
        supplements { id name price ${money} compareAtPrice ${money} }
        questions { id label type required options { id label } }
      }
    }
  }
}`

// What the REST response tells of what was bought, so that both surfaces do the same work.
const checkout = `mutation ($input: CheckoutInput!) {
  checkout(input: $input) {
    __typename
    ... on Refused { errors { code message path } }
    ... on CheckoutPayload {
      conditionsChanged
      payment { id pageUrl status expiresAt totalAmount ${money} }
      tickets {
        id event { id } ticketRate { id } qrCode status price { ${priceFields} }
        attendee { fullName phone email birthDate address { street postalCode countryCode }
          identityDocument { type number } }
        answers { question { id } text checked } supplements { supplementId price ${money} }
        admits inside lastEnteredAt warranty { price ${money} endsAt }
        amounts { price ${money} discount ${money} supplements ${money} fees ${money} warranty ${money} total ${money} }
        settlement { refunded ${money} commission ${money} }
      }
    }
  }
}`

// What the REST lookup tells.
const lookupFields = `
    id activatedAt channel { id } qrCode payment { id } event { id minimumAge } ticketRate { id name slug }
    attendee { fullName email phone language address { street postalCode countryCode } }
    price { id price ${money} includes additionalInfo }
    admits inside lastEnteredAt referralId saleType status invoiceReference correctiveInvoiceReferences
    supplements { supplementId price ${money} name description compareAtPrice ${money} count redeemed }
    amounts { price ${money} discount ${money} supplements ${money} fees ${money} warranty ${money} total ${money} }
    settlement { paid ${money} refunded ${money} net ${money} }`
const lookup = `query ($id: ID!) { ticket(id: $id) { ${lookupFields} } }`
const list = `{ tickets(first: 50) { nodes { ${lookupFields} } } }`

const quote = `query ($input: QuoteCheckoutInput!) {
  quoteCheckout(input: $input) {
    __typename
    ... on Refused { errors { code message path } }
    ... on CheckoutQuote {
      conditionsChanged amounts { total ${money} }
      items { tickets { price { id } amounts { total ${money} } } }
    }
  }
}`

const scan = `mutation ($input: CheckInTicketInput!) {
  checkInTicket(input: $input) {
    __typename
    ... on Refused { errors { code message path } }
    ... on CheckInTicketPayload { checkIn { outcome inside ticket { id admits attendee { fullName } } } }
  }
}`

const refund = `mutation ($input: RefundTicketsInput!) {
  refundTickets(input: $input) {
    __typename
    ... on Refused { errors { code message path } }
    ... on RefundTicketsPayload { refunds { id status amount ${money} ticket { id settlement { refunded ${money} } } } }
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
  items: [{ ticketRateId: rateId, tickets: [{ priceId, attendee: { fullName: 'Ada Lovelace', ...buyer } }] }],
  discountCode,
  redirectUrl: urls.redirect,
  errorUrl: urls.error,
  idempotencyKey: freshKey,
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
export const quoteAsk = (apiKey: string, { rateId, priceId }: Target): Ask =>
  posting(apiKey, '/graphql', {
    query: quote,
    variables: { input: { items: [{ ticketRateId: rateId, tickets: [{ priceId }] }] } },
  })

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

// Each round through the tickets has keys of its own.
const roundOf = (ids: string[], number: number) => ({
  round: Math.floor(number / ids.length),
  ticketId: ids[number % ids.length] ?? '',
})

/** Request with a number to scan one of these tickets: each enters in turn, and then each leaves. */
export function scanAsk(
  apiKey: string,
  { eventId, ids }: { eventId: string; ids: string[] },
  number: number,
): Ask {
  const { round, ticketId } = roundOf(ids, number)
  const direction = round % 2 === 0 ? 'IN' : 'OUT'
  const input = { ticket: { ticketId }, eventId, direction, idempotencyKey: `scan-${number}` }
  return posting(apiKey, '/graphql', { query: scan, variables: { input } })
}

const digitsOf = (currency: string) =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2

/** Request with a number to refund a hundred minor units of one of these tickets. */
export function refundAsk(
  apiKey: string,
  ids: string[],
  { number, currency }: { number: number; currency: string },
): Ask {
  const { ticketId } = roundOf(ids, number)
  const digits = digitsOf(currency)
  const amount = { amount: (100 / 10 ** digits).toFixed(digits), currency }
  const input = { of: { ticketId }, amount, notify: true, idempotencyKey: `refund-${number}` }
  return posting(apiKey, '/graphql', { query: refund, variables: { input } })
}
