// Operations of the shop, and the types of what they return.

export type Price = {
  id: string
  name: string
  price: number
  currency: string
  validUntil: string | null
  quantity: number
  includes: string | null
  additionalInfo: string | null
}
export type Question = { id: string; label: string; type: string; required: boolean; items: string[] }
export type Supplement = {
  id: string
  label: string
  description: string | null
  price: number
  fakePrice: number | null
  hasFakePrice: boolean
}
export type Rate = {
  id: string
  name: string
  available: boolean
  complete: boolean
  validFrom: string | null
  min: number | null
  max: number | null
  admits: number
  availability: { sold: number; available: number | null }
  warranty: { enabled: boolean; percentage: number; hours: number }
  currentPrice: Price | null
  prices: Price[]
  supplements: Supplement[]
  questions: Question[]
}
type Place = { name: string; address: string | null; city: string | null; timezone: string }
type Listed = {
  id: string
  name: string
  startDate: string
  displayDate: string | null
  imageUrl: string | null
  location: Place | null
}
export type ListedEvent = Listed & {
  ticketRates: { available: boolean; currentPrice: Pick<Price, 'price' | 'currency'> | null }[]
}
export type Event = Listed & {
  endDate: string
  description: string | null
  age: string | null
  outfit: string | null
  artists: { name: string }[]
  organization: { name: string } | null
  ticketRates: Rate[]
}

export type Events = {
  events: { nodes: ListedEvent[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } } | null
}
export const eventsQuery = `query Events($search: String, $after: String) {
  events(first: 24, search: $search, after: $after) {
    pageInfo { hasNextPage endCursor }
    nodes {
      id name startDate displayDate imageUrl
      location { name address city timezone }
      ticketRates { available currentPrice { price currency } }
    }
  }
}`

export const eventQuery = `query Event($id: ID!) {
  event(id: $id) {
    id name startDate endDate displayDate imageUrl description age outfit
    artists { name }
    organization { name }
    location { name address city timezone }
    ticketRates {
      id name available complete validFrom min max admits
      availability { sold available }
      warranty { enabled percentage hours }
      currentPrice { ...Price }
      prices { ...Price }
      supplements { id label description price fakePrice hasFakePrice }
      questions { id label type required items }
    }
  }
}
fragment Price on Price { id name price currency validUntil quantity includes additionalInfo }`

export type Places = { ticketRateId: string; available: boolean; sold: number; left: number | null }
export const placesSubscription = `subscription Places($eventId: ID!) {
  rateAvailability(eventId: $eventId) { ticketRateId available sold left }
}`

const refused = `... on CheckoutRefused {
  errors {
    code message path
    ... on AvailabilityError { available }
    ... on TicketCountError { min max }
    ... on UnderAgeError { minimumAge }
  }
}`

export type Quote = {
  totalAmount: number
  totalDiscount: number
  currency: string
  conditionsChanged: boolean
  tickets: {
    price: { id: string; name: string; price: number }
    totalSupplements: number
    totalFees: number
    totalWarranty: number
  }[]
}
export const quoteQuery = `query Quote($input: CheckoutInput!) {
  quoteCheckout(input: $input) {
    ... on CheckoutQuote {
      totalAmount totalDiscount currency conditionsChanged
      tickets { price { id name price } totalSupplements totalFees totalWarranty }
    }
    ${refused}
  }
}`

export const checkoutMutation = `mutation Checkout($input: CheckoutInput!) {
  checkout(input: $input) {
    ... on CheckoutPayload { payment { id url } }
    ${refused}
  }
}`

export type FoundPayment = {
  payment: { status: string; totalAmount: number; currency: string; expiresAt: string } | null
}
export const paymentQuery = `query Payment($url: String!) {
  payment: paymentByUrl(url: $url) { status totalAmount currency expiresAt }
}`
