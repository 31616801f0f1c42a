/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
export type AnswerInput = {
  answer: string;
  questionId: string | number;
};

export type CheckoutInput = {
  discountCode?: string | null | undefined;
  errorUrl?: string | null | undefined;
  expectedTotal?: number | null | undefined;
  idempotencyKey?: string | null | undefined;
  language?: string | null | undefined;
  metadata?: unknown;
  redirectUrl?: string | null | undefined;
  referralId?: string | null | undefined;
  sendResourcers?: boolean | null | undefined;
  ticketRateId: string | number;
  tickets: Array<CheckoutTicketInput>;
};

export type CheckoutTicketInput = {
  address?: string | null | undefined;
  answers?: Array<AnswerInput> | null | undefined;
  birthday?: string | null | undefined;
  countryCode?: string | null | undefined;
  email: string;
  fullName: string;
  gender?: string | null | undefined;
  personalDocumentNumber?: string | null | undefined;
  personalDocumentType?: PersonalDocumentType | null | undefined;
  phone?: string | null | undefined;
  postalCode?: string | null | undefined;
  priceId: string | number;
  qrCode?: string | null | undefined;
  supplements?: Array<SupplementInput> | null | undefined;
  warranty?: boolean | null | undefined;
};

export type ErrorCode =
  | 'ADDRESS_NOT_ALLOWED'
  | 'ALREADY_ENTERED'
  | 'ANSWER_NOT_AN_ITEM'
  | 'ANSWER_REQUIRED'
  | 'BAD_REQUEST'
  | 'BODY_TOO_LARGE'
  | 'BUSY'
  | 'CURSOR_UNKNOWN'
  | 'DISCOUNT_NOT_FOR_RATE'
  | 'DISCOUNT_NOT_VALID'
  | 'DISCOUNT_UNKNOWN'
  | 'DISCOUNT_USED_UP'
  | 'DUPLICATE_ANSWER'
  | 'DUPLICATE_QR_CODE'
  | 'DUPLICATE_SUPPLEMENT'
  | 'EVENT_ENDED'
  | 'EVENT_STARTED'
  | 'FORBIDDEN'
  | 'IDEMPOTENCY_KEY_IN_USE'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'ILLEGAL_TRANSITION'
  | 'INSUFFICIENT_AVAILABILITY'
  | 'INTERNAL'
  | 'INVALID'
  | 'MAX_TICKETS'
  | 'METADATA_TOO_LARGE'
  | 'METHOD_NOT_ALLOWED'
  | 'MIN_TICKETS'
  | 'NOT_ACCEPTABLE'
  | 'NOT_FOUND'
  | 'NOT_ON_SALE_YET'
  | 'NO_WARRANTY'
  | 'ORIGIN_NOT_ALLOWED'
  | 'PERSISTED_QUERY_NOT_FOUND'
  | 'PRICE_NOT_IN_RATE'
  | 'QR_CODE_TAKEN'
  | 'QUERY_TOO_COMPLEX'
  | 'QUESTION_NOT_IN_RATE'
  | 'RATE_CLOSED'
  | 'RATE_LIMITED'
  | 'REFUND_TOO_HIGH'
  | 'REQUIRED'
  | 'SALE_ENDED'
  | 'SOLD_OUT'
  | 'SUPPLEMENT_NOT_IN_RATE'
  | 'SUPPLEMENT_REDEEMED'
  | 'TICKET_TRANSFERRED'
  | 'TOO_MANY_RESENDS'
  | 'TOO_MANY_WEBHOOKS'
  | 'TOTAL_INCREASED'
  | 'TRANSFER_NOT_ALLOWED'
  | 'UNAUTHENTICATED'
  | 'UNDER_AGE'
  | 'UNKNOWN_FIELD'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'UNTRUSTED_DOCUMENT'
  | 'WARRANTY_ENDED'
  | 'WARRANTY_NOT_OFFERED';

export type PaymentStatus =
  | 'CANCELLED'
  | 'EXPIRED'
  | 'FAILED'
  | 'PAID'
  | 'PARTIALLY_REFUNDED'
  | 'PENDING'
  | 'PROCESSING'
  | 'REFUNDED';

export type PersonalDocumentType =
  | 'DNI'
  | 'NIE'
  | 'OTHER'
  | 'PASSPORT';

export type QuestionType =
  | 'CHECKBOX'
  | 'DROPDOWN'
  | 'TEXT';

export type SupplementInput = {
  supplementId: string | number;
};

export type EventsQueryVariables = Exact<{
  search?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type EventsQuery = { events: { pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ id: string, name: string, startDate: string, displayDate: string | null, imageUrl: string | null, location: { city: string | null, timezone: string } | null, ticketRates: Array<{ available: boolean, currentPrice: { price: number, currency: string } | null }> }> } | null };

export type ListedEventFragment = { id: string, name: string, startDate: string, displayDate: string | null, imageUrl: string | null, location: { city: string | null, timezone: string } | null, ticketRates: Array<{ available: boolean, currentPrice: { price: number, currency: string } | null }> };

export type EventQueryVariables = Exact<{
  id: string | number;
}>;


export type EventQuery = { event: { id: string, name: string, startDate: string, endDate: string, displayDate: string | null, imageUrl: string | null, description: string | null, age: string | null, outfit: string | null, artists: Array<{ name: string }>, organization: { name: string } | null, location: { name: string, address: string | null, city: string | null, timezone: string } | null, ticketRates: Array<{ id: string, name: string, available: boolean, complete: boolean, validFrom: string | null, min: number | null, max: number | null, admits: number, availability: { sold: number, available: number | null }, warranty: { enabled: boolean, percentage: number, hours: number }, currentPrice: { id: string, name: string, price: number, currency: string, validUntil: string | null, quantity: number, includes: string | null, additionalInfo: string | null } | null, prices: Array<{ id: string, name: string, price: number, currency: string, validUntil: string | null, quantity: number, includes: string | null, additionalInfo: string | null }>, supplements: Array<{ id: string, label: string, description: string | null, price: number, fakePrice: number | null, hasFakePrice: boolean }>, questions: Array<{ id: string, label: string, type: QuestionType, required: boolean, items: Array<string> }> }> } | null };

export type ShownEventFragment = { id: string, name: string, startDate: string, endDate: string, displayDate: string | null, imageUrl: string | null, description: string | null, age: string | null, outfit: string | null, artists: Array<{ name: string }>, organization: { name: string } | null, location: { name: string, address: string | null, city: string | null, timezone: string } | null, ticketRates: Array<{ id: string, name: string, available: boolean, complete: boolean, validFrom: string | null, min: number | null, max: number | null, admits: number, availability: { sold: number, available: number | null }, warranty: { enabled: boolean, percentage: number, hours: number }, currentPrice: { id: string, name: string, price: number, currency: string, validUntil: string | null, quantity: number, includes: string | null, additionalInfo: string | null } | null, prices: Array<{ id: string, name: string, price: number, currency: string, validUntil: string | null, quantity: number, includes: string | null, additionalInfo: string | null }>, supplements: Array<{ id: string, label: string, description: string | null, price: number, fakePrice: number | null, hasFakePrice: boolean }>, questions: Array<{ id: string, label: string, type: QuestionType, required: boolean, items: Array<string> }> }> };

export type RateFragment = { id: string, name: string, available: boolean, complete: boolean, validFrom: string | null, min: number | null, max: number | null, admits: number, availability: { sold: number, available: number | null }, warranty: { enabled: boolean, percentage: number, hours: number }, currentPrice: { id: string, name: string, price: number, currency: string, validUntil: string | null, quantity: number, includes: string | null, additionalInfo: string | null } | null, prices: Array<{ id: string, name: string, price: number, currency: string, validUntil: string | null, quantity: number, includes: string | null, additionalInfo: string | null }>, supplements: Array<{ id: string, label: string, description: string | null, price: number, fakePrice: number | null, hasFakePrice: boolean }>, questions: Array<{ id: string, label: string, type: QuestionType, required: boolean, items: Array<string> }> };

export type QuestionFragment = { id: string, label: string, type: QuestionType, required: boolean, items: Array<string> };

export type PriceFragment = { id: string, name: string, price: number, currency: string, validUntil: string | null, quantity: number, includes: string | null, additionalInfo: string | null };

export type PlacesSubscriptionVariables = Exact<{
  eventId: string | number;
}>;


export type PlacesSubscription = { rateAvailability: { ticketRateId: string, available: boolean, sold: number, left: number | null } };

export type PlacesFragment = { ticketRateId: string, available: boolean, sold: number, left: number | null };

export type QuoteQueryVariables = Exact<{
  input: CheckoutInput;
}>;


export type QuoteQuery = { quoteCheckout:
    | { __typename: 'CheckoutQuote', totalAmount: number, totalDiscount: number, currency: string, conditionsChanged: boolean, tickets: Array<{ totalSupplements: number, totalFees: number, totalWarranty: number, price: { id: string, name: string, price: number } }> }
    | { __typename: 'CheckoutRefused', errors: Array<
        | { available: number, code: ErrorCode, message: string, path: string | null }
        | { code: ErrorCode, message: string, path: string | null }
        | { code: ErrorCode, message: string, path: string | null }
        | { code: ErrorCode, message: string, path: string | null }
        | { code: ErrorCode, message: string, path: string | null }
        | { min: number | null, max: number | null, code: ErrorCode, message: string, path: string | null }
        | { code: ErrorCode, message: string, path: string | null }
        | { minimumAge: number | null, code: ErrorCode, message: string, path: string | null }
      > }
   };

export type QuoteFragment = { totalAmount: number, totalDiscount: number, currency: string, conditionsChanged: boolean, tickets: Array<{ totalSupplements: number, totalFees: number, totalWarranty: number, price: { id: string, name: string, price: number } }> };

export type CheckoutMutationVariables = Exact<{
  input: CheckoutInput;
}>;


export type CheckoutMutation = { checkout:
    | { __typename: 'CheckoutPayload', payment: { id: string, url: string | null } }
    | { __typename: 'CheckoutRefused', errors: Array<
        | { available: number, code: ErrorCode, message: string, path: string | null }
        | { code: ErrorCode, message: string, path: string | null }
        | { code: ErrorCode, message: string, path: string | null }
        | { code: ErrorCode, message: string, path: string | null }
        | { code: ErrorCode, message: string, path: string | null }
        | { min: number | null, max: number | null, code: ErrorCode, message: string, path: string | null }
        | { code: ErrorCode, message: string, path: string | null }
        | { minimumAge: number | null, code: ErrorCode, message: string, path: string | null }
      > }
   };

export type RefusedFragment = { errors: Array<
    | { available: number, code: ErrorCode, message: string, path: string | null }
    | { code: ErrorCode, message: string, path: string | null }
    | { code: ErrorCode, message: string, path: string | null }
    | { code: ErrorCode, message: string, path: string | null }
    | { code: ErrorCode, message: string, path: string | null }
    | { min: number | null, max: number | null, code: ErrorCode, message: string, path: string | null }
    | { code: ErrorCode, message: string, path: string | null }
    | { minimumAge: number | null, code: ErrorCode, message: string, path: string | null }
  > };

export type PaymentQueryVariables = Exact<{
  url: string;
}>;


export type PaymentQuery = { payment: { status: PaymentStatus, totalAmount: number, currency: string, expiresAt: string } | null };

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}
export const ListedEventFragmentDoc = new TypedDocumentString(`
    fragment ListedEvent on Event {
  id
  name
  startDate
  displayDate
  imageUrl
  location {
    city
    timezone
  }
  ticketRates {
    available
    currentPrice {
      price
      currency
    }
  }
}
    `, {"fragmentName":"ListedEvent"}) as unknown as TypedDocumentString<ListedEventFragment, unknown>;
export const PriceFragmentDoc = new TypedDocumentString(`
    fragment Price on Price {
  id
  name
  price
  currency
  validUntil
  quantity
  includes
  additionalInfo
}
    `, {"fragmentName":"Price"}) as unknown as TypedDocumentString<PriceFragment, unknown>;
export const QuestionFragmentDoc = new TypedDocumentString(`
    fragment Question on Question {
  id
  label
  type
  required
  items
}
    `, {"fragmentName":"Question"}) as unknown as TypedDocumentString<QuestionFragment, unknown>;
export const RateFragmentDoc = new TypedDocumentString(`
    fragment Rate on TicketRate {
  id
  name
  available
  complete
  validFrom
  min
  max
  admits
  availability {
    sold
    available
  }
  warranty {
    enabled
    percentage
    hours
  }
  currentPrice {
    ...Price
  }
  prices {
    ...Price
  }
  supplements {
    id
    label
    description
    price
    fakePrice
    hasFakePrice
  }
  questions {
    ...Question
  }
}
    fragment Question on Question {
  id
  label
  type
  required
  items
}
fragment Price on Price {
  id
  name
  price
  currency
  validUntil
  quantity
  includes
  additionalInfo
}`, {"fragmentName":"Rate"}) as unknown as TypedDocumentString<RateFragment, unknown>;
export const ShownEventFragmentDoc = new TypedDocumentString(`
    fragment ShownEvent on Event {
  id
  name
  startDate
  endDate
  displayDate
  imageUrl
  description
  age
  outfit
  artists {
    name
  }
  organization {
    name
  }
  location {
    name
    address
    city
    timezone
  }
  ticketRates {
    ...Rate
  }
}
    fragment Rate on TicketRate {
  id
  name
  available
  complete
  validFrom
  min
  max
  admits
  availability {
    sold
    available
  }
  warranty {
    enabled
    percentage
    hours
  }
  currentPrice {
    ...Price
  }
  prices {
    ...Price
  }
  supplements {
    id
    label
    description
    price
    fakePrice
    hasFakePrice
  }
  questions {
    ...Question
  }
}
fragment Question on Question {
  id
  label
  type
  required
  items
}
fragment Price on Price {
  id
  name
  price
  currency
  validUntil
  quantity
  includes
  additionalInfo
}`, {"fragmentName":"ShownEvent"}) as unknown as TypedDocumentString<ShownEventFragment, unknown>;
export const PlacesFragmentDoc = new TypedDocumentString(`
    fragment Places on RateAvailability {
  ticketRateId
  available
  sold
  left
}
    `, {"fragmentName":"Places"}) as unknown as TypedDocumentString<PlacesFragment, unknown>;
export const QuoteFragmentDoc = new TypedDocumentString(`
    fragment Quote on CheckoutQuote {
  totalAmount
  totalDiscount
  currency
  conditionsChanged
  tickets {
    price {
      id
      name
      price
    }
    totalSupplements
    totalFees
    totalWarranty
  }
}
    `, {"fragmentName":"Quote"}) as unknown as TypedDocumentString<QuoteFragment, unknown>;
export const RefusedFragmentDoc = new TypedDocumentString(`
    fragment Refused on CheckoutRefused {
  errors {
    code
    message
    path
    ... on AvailabilityError {
      available
    }
    ... on TicketCountError {
      min
      max
    }
    ... on UnderAgeError {
      minimumAge
    }
  }
}
    `, {"fragmentName":"Refused"}) as unknown as TypedDocumentString<RefusedFragment, unknown>;
export const EventsDocument = new TypedDocumentString(`
    query Events($search: String, $after: String) {
  events(first: 24, search: $search, after: $after) {
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      ...ListedEvent
    }
  }
}
    fragment ListedEvent on Event {
  id
  name
  startDate
  displayDate
  imageUrl
  location {
    city
    timezone
  }
  ticketRates {
    available
    currentPrice {
      price
      currency
    }
  }
}`) as unknown as TypedDocumentString<EventsQuery, EventsQueryVariables>;
export const EventDocument = new TypedDocumentString(`
    query Event($id: ID!) {
  event(id: $id) {
    ...ShownEvent
  }
}
    fragment ShownEvent on Event {
  id
  name
  startDate
  endDate
  displayDate
  imageUrl
  description
  age
  outfit
  artists {
    name
  }
  organization {
    name
  }
  location {
    name
    address
    city
    timezone
  }
  ticketRates {
    ...Rate
  }
}
fragment Rate on TicketRate {
  id
  name
  available
  complete
  validFrom
  min
  max
  admits
  availability {
    sold
    available
  }
  warranty {
    enabled
    percentage
    hours
  }
  currentPrice {
    ...Price
  }
  prices {
    ...Price
  }
  supplements {
    id
    label
    description
    price
    fakePrice
    hasFakePrice
  }
  questions {
    ...Question
  }
}
fragment Question on Question {
  id
  label
  type
  required
  items
}
fragment Price on Price {
  id
  name
  price
  currency
  validUntil
  quantity
  includes
  additionalInfo
}`) as unknown as TypedDocumentString<EventQuery, EventQueryVariables>;
export const PlacesDocument = new TypedDocumentString(`
    subscription Places($eventId: ID!) {
  rateAvailability(eventId: $eventId) {
    ...Places
  }
}
    fragment Places on RateAvailability {
  ticketRateId
  available
  sold
  left
}`) as unknown as TypedDocumentString<PlacesSubscription, PlacesSubscriptionVariables>;
export const QuoteDocument = new TypedDocumentString(`
    query Quote($input: CheckoutInput!) {
  quoteCheckout(input: $input) {
    __typename
    ...Quote
    ...Refused
  }
}
    fragment Quote on CheckoutQuote {
  totalAmount
  totalDiscount
  currency
  conditionsChanged
  tickets {
    price {
      id
      name
      price
    }
    totalSupplements
    totalFees
    totalWarranty
  }
}
fragment Refused on CheckoutRefused {
  errors {
    code
    message
    path
    ... on AvailabilityError {
      available
    }
    ... on TicketCountError {
      min
      max
    }
    ... on UnderAgeError {
      minimumAge
    }
  }
}`) as unknown as TypedDocumentString<QuoteQuery, QuoteQueryVariables>;
export const CheckoutDocument = new TypedDocumentString(`
    mutation Checkout($input: CheckoutInput!) {
  checkout(input: $input) {
    __typename
    ... on CheckoutPayload {
      payment {
        id
        url
      }
    }
    ...Refused
  }
}
    fragment Refused on CheckoutRefused {
  errors {
    code
    message
    path
    ... on AvailabilityError {
      available
    }
    ... on TicketCountError {
      min
      max
    }
    ... on UnderAgeError {
      minimumAge
    }
  }
}`) as unknown as TypedDocumentString<CheckoutMutation, CheckoutMutationVariables>;
export const PaymentDocument = new TypedDocumentString(`
    query Payment($url: String!) {
  payment: paymentByUrl(url: $url) {
    status
    totalAmount
    currency
    expiresAt
  }
}
    `) as unknown as TypedDocumentString<PaymentQuery, PaymentQueryVariables>;