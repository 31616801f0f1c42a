/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
export type AddressInput = {
  countryCode?: string | null | undefined;
  postalCode?: string | null | undefined;
  street?: string | null | undefined;
};

export type AnswerInput = {
  answer: AnswerValueInput;
  questionId: string | number;
};

export type AnswerValueInput =
  {   checked: boolean; optionId?: never; text?: never; }
  |  { checked?: never;   optionId: string | number; text?: never; }
  |  { checked?: never; optionId?: never;   text: string; };

export type AttendeeInput = {
  address?: AddressInput | null | undefined;
  birthDate?: string | null | undefined;
  email: string;
  fullName: string;
  identityDocument?: IdentityDocumentInput | null | undefined;
  language?: string | null | undefined;
  phone?: string | null | undefined;
};

export type CheckoutInput = {
  discountCode?: string | null | undefined;
  errorUrl?: string | null | undefined;
  expectedTotal?: MoneyInput | null | undefined;
  idempotencyKey: string;
  items: Array<CheckoutItemInput>;
  language?: string | null | undefined;
  metadata?: unknown;
  redirectUrl?: string | null | undefined;
  referralId?: string | null | undefined;
  sendTickets?: boolean | null | undefined;
};

export type CheckoutItemInput = {
  ticketRateId: string | number;
  tickets: Array<TicketInput>;
};

export type IdentityDocumentInput = {
  number?: string | null | undefined;
  type?: IdentityDocumentType | null | undefined;
};

export type IdentityDocumentType =
  | 'DNI'
  | 'NIE'
  | 'OTHER'
  | 'PASSPORT';

export type MoneyInput = {
  amount: string;
  currency: string;
};

export type PaymentStatus =
  | 'CANCELLED'
  | 'EXPIRED'
  | 'FAILED'
  | 'PAID'
  | 'PARTIALLY_REFUNDED'
  | 'PENDING'
  | 'PROCESSING'
  | 'REFUNDED';

export type QuestionType =
  | 'CHECKBOX'
  | 'DROPDOWN'
  | 'TEXT';

export type QuoteCheckoutInput = {
  discountCode?: string | null | undefined;
  items: Array<QuotedItemInput>;
};

export type QuotedItemInput = {
  ticketRateId: string | number;
  tickets: Array<QuotedTicketInput>;
};

export type QuotedTicketInput = {
  priceId: string | number;
  supplements?: Array<SupplementInput> | null | undefined;
  warranty?: boolean | null | undefined;
};

export type RefusalCode =
  | 'ADDRESS_NOT_ALLOWED'
  | 'ALREADY_ENTERED'
  | 'ANSWER_NOT_OFFERED'
  | 'ANSWER_REQUIRED'
  | 'BUSY'
  | 'DISCOUNT_NOT_FOR_RATE'
  | 'DISCOUNT_NOT_VALID'
  | 'DISCOUNT_UNKNOWN'
  | 'DISCOUNT_USED_UP'
  | 'DUPLICATE_ANSWER'
  | 'DUPLICATE_QR_CODE'
  | 'DUPLICATE_SUPPLEMENT'
  | 'EVENT_ENDED'
  | 'EVENT_STARTED'
  | 'IDEMPOTENCY_KEY_IN_USE'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'ILLEGAL_TRANSITION'
  | 'INSUFFICIENT_AVAILABILITY'
  | 'INVALID'
  | 'METADATA_TOO_LARGE'
  | 'NOT_FOUND'
  | 'NOT_ON_SALE_YET'
  | 'NO_WARRANTY'
  | 'PRICE_NOT_IN_RATE'
  | 'QR_CODE_TAKEN'
  | 'QUESTION_NOT_IN_RATE'
  | 'RATE_CLOSED'
  | 'REFUND_TOO_HIGH'
  | 'REQUIRED'
  | 'SALE_ENDED'
  | 'SOLD_OUT'
  | 'SUPPLEMENT_NOT_IN_RATE'
  | 'SUPPLEMENT_REDEEMED'
  | 'TICKET_TRANSFERRED'
  | 'TOO_FEW_TICKETS'
  | 'TOO_MANY_RESENDS'
  | 'TOO_MANY_TICKETS'
  | 'TOO_MANY_WEBHOOKS'
  | 'TOTAL_INCREASED'
  | 'TOTAL_TOO_LOW'
  | 'TRANSFER_NOT_ALLOWED'
  | 'UNDER_AGE'
  | 'UNKNOWN_FIELD'
  | 'WARRANTY_ENDED'
  | 'WARRANTY_NOT_OFFERED';

export type SupplementInput = {
  supplementId: string | number;
};

export type TicketInput = {
  answers?: Array<AnswerInput> | null | undefined;
  attendee: AttendeeInput;
  priceId: string | number;
  qrCode?: string | null | undefined;
  supplements?: Array<SupplementInput> | null | undefined;
  warranty?: boolean | null | undefined;
};

export type TicketRateStatus =
  | 'CLOSED'
  | 'ENDED'
  | 'NOT_YET'
  | 'ON_SALE'
  | 'PAUSED'
  | 'SOLD_OUT';

export type EventsQueryVariables = Exact<{
  search?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type EventsQuery = { events: { pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ id: string, name: string, startDate: string, displayDate: string | null, imageUrl: string | null, location: { city: string | null, timezone: string } | null, priceRange: { min: { amount: string, currency: string } } | null }> } | null };

export type ListedEventFragment = { id: string, name: string, startDate: string, displayDate: string | null, imageUrl: string | null, location: { city: string | null, timezone: string } | null, priceRange: { min: { amount: string, currency: string } } | null };

export type AmountFragment = { amount: string, currency: string };

export type EventQueryVariables = Exact<{
  id: string | number;
}>;


export type EventQuery = { event: { id: string, name: string, startDate: string, endDate: string, displayDate: string | null, imageUrl: string | null, description: string | null, minimumAge: number | null, outfit: string | null, artists: Array<{ name: string }>, organization: { name: string }, location: { name: string, address: string | null, city: string | null, timezone: string } | null, ticketRates: Array<{ id: string, name: string, minPerCheckout: number, maxPerCheckout: number, admits: number, status: TicketRateStatus, validFrom: string | null, warranty: { percentage: number, endsAt: string } | null, currentPrice: { id: string, name: string, validUntil: string | null, includes: string | null, additionalInfo: string | null, total: { amount: string, currency: string } } | null, prices: Array<{ id: string, name: string, validUntil: string | null, includes: string | null, additionalInfo: string | null, total: { amount: string, currency: string } }>, supplements: Array<{ id: string, name: string, description: string | null, price: { amount: string, currency: string }, compareAtPrice: { amount: string, currency: string } | null }>, questions: Array<{ id: string, label: string, type: QuestionType, required: boolean, options: Array<{ id: string, label: string }> }>, availability: { available: number | null } }> } | null };

export type ShownEventFragment = { id: string, name: string, startDate: string, endDate: string, displayDate: string | null, imageUrl: string | null, description: string | null, minimumAge: number | null, outfit: string | null, artists: Array<{ name: string }>, organization: { name: string }, location: { name: string, address: string | null, city: string | null, timezone: string } | null, ticketRates: Array<{ id: string, name: string, minPerCheckout: number, maxPerCheckout: number, admits: number, status: TicketRateStatus, validFrom: string | null, warranty: { percentage: number, endsAt: string } | null, currentPrice: { id: string, name: string, validUntil: string | null, includes: string | null, additionalInfo: string | null, total: { amount: string, currency: string } } | null, prices: Array<{ id: string, name: string, validUntil: string | null, includes: string | null, additionalInfo: string | null, total: { amount: string, currency: string } }>, supplements: Array<{ id: string, name: string, description: string | null, price: { amount: string, currency: string }, compareAtPrice: { amount: string, currency: string } | null }>, questions: Array<{ id: string, label: string, type: QuestionType, required: boolean, options: Array<{ id: string, label: string }> }>, availability: { available: number | null } }> };

export type RateFragment = { id: string, name: string, minPerCheckout: number, maxPerCheckout: number, admits: number, status: TicketRateStatus, validFrom: string | null, warranty: { percentage: number, endsAt: string } | null, currentPrice: { id: string, name: string, validUntil: string | null, includes: string | null, additionalInfo: string | null, total: { amount: string, currency: string } } | null, prices: Array<{ id: string, name: string, validUntil: string | null, includes: string | null, additionalInfo: string | null, total: { amount: string, currency: string } }>, supplements: Array<{ id: string, name: string, description: string | null, price: { amount: string, currency: string }, compareAtPrice: { amount: string, currency: string } | null }>, questions: Array<{ id: string, label: string, type: QuestionType, required: boolean, options: Array<{ id: string, label: string }> }>, availability: { available: number | null } };

export type QuestionFragment = { id: string, label: string, type: QuestionType, required: boolean, options: Array<{ id: string, label: string }> };

export type PriceFragment = { id: string, name: string, validUntil: string | null, includes: string | null, additionalInfo: string | null, total: { amount: string, currency: string } };

export type PlacesSubscriptionVariables = Exact<{
  eventId: string | number;
}>;


export type PlacesSubscription = { ticketRates: { id: string, status: TicketRateStatus, validFrom: string | null, availability: { available: number | null } } };

export type PlacesFragment = { id: string, status: TicketRateStatus, validFrom: string | null, availability: { available: number | null } };

export type QuoteQueryVariables = Exact<{
  input: QuoteCheckoutInput;
}>;


export type QuoteQuery = { quoteCheckout:
    | { __typename: 'CheckoutQuote', conditionsChanged: boolean, amounts: { discount: { amount: string, currency: string }, supplements: { amount: string, currency: string }, fees: { amount: string, currency: string }, warranty: { amount: string, currency: string }, total: { amount: string, currency: string } }, items: Array<{ tickets: Array<{ price: { id: string, name: string, price: { amount: string, currency: string } } }> }> }
    | { __typename: 'Refused', errors: Array<
        | { code: RefusalCode, message: string, path: string | null }
        | { available: number, code: RefusalCode, message: string, path: string | null }
        | { code: RefusalCode, message: string, path: string | null }
        | { min: number | null, max: number, code: RefusalCode, message: string, path: string | null }
        | { code: RefusalCode, message: string, path: string | null }
        | { code: RefusalCode, message: string, path: string | null }
        | { code: RefusalCode, message: string, path: string | null }
        | { minimumAge: number, code: RefusalCode, message: string, path: string | null }
        | { code: RefusalCode, message: string, path: string | null }
      > }
   | null };

export type QuoteFragment = { conditionsChanged: boolean, amounts: { discount: { amount: string, currency: string }, supplements: { amount: string, currency: string }, fees: { amount: string, currency: string }, warranty: { amount: string, currency: string }, total: { amount: string, currency: string } }, items: Array<{ tickets: Array<{ price: { id: string, name: string, price: { amount: string, currency: string } } }> }> };

export type CheckoutMutationVariables = Exact<{
  input: CheckoutInput;
}>;


export type CheckoutMutation = { checkout:
    | { __typename: 'CheckoutPayload', payment: { id: string, pageUrl: string | null } }
    | { __typename: 'Refused', errors: Array<
        | { code: RefusalCode, message: string, path: string | null }
        | { available: number, code: RefusalCode, message: string, path: string | null }
        | { code: RefusalCode, message: string, path: string | null }
        | { min: number | null, max: number, code: RefusalCode, message: string, path: string | null }
        | { code: RefusalCode, message: string, path: string | null }
        | { code: RefusalCode, message: string, path: string | null }
        | { code: RefusalCode, message: string, path: string | null }
        | { minimumAge: number, code: RefusalCode, message: string, path: string | null }
        | { code: RefusalCode, message: string, path: string | null }
      > }
   | null };

export type RefusedFragment = { errors: Array<
    | { code: RefusalCode, message: string, path: string | null }
    | { available: number, code: RefusalCode, message: string, path: string | null }
    | { code: RefusalCode, message: string, path: string | null }
    | { min: number | null, max: number, code: RefusalCode, message: string, path: string | null }
    | { code: RefusalCode, message: string, path: string | null }
    | { code: RefusalCode, message: string, path: string | null }
    | { code: RefusalCode, message: string, path: string | null }
    | { minimumAge: number, code: RefusalCode, message: string, path: string | null }
    | { code: RefusalCode, message: string, path: string | null }
  > };

export type PaymentQueryVariables = Exact<{
  url: string;
}>;


export type PaymentQuery = { payment: { status: PaymentStatus, expiresAt: string | null, totalAmount: { amount: string, currency: string } } | null };

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
export const AmountFragmentDoc = new TypedDocumentString(`
    fragment Amount on Money {
  amount
  currency
}
    `, {"fragmentName":"Amount"}) as unknown as TypedDocumentString<AmountFragment, unknown>;
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
  priceRange {
    min {
      ...Amount
    }
  }
}
    fragment Amount on Money {
  amount
  currency
}`, {"fragmentName":"ListedEvent"}) as unknown as TypedDocumentString<ListedEventFragment, unknown>;
export const PlacesFragmentDoc = new TypedDocumentString(`
    fragment Places on TicketRate {
  id
  status
  validFrom
  availability {
    available
  }
}
    `, {"fragmentName":"Places"}) as unknown as TypedDocumentString<PlacesFragment, unknown>;
export const PriceFragmentDoc = new TypedDocumentString(`
    fragment Price on Price {
  id
  name
  total {
    ...Amount
  }
  validUntil
  includes
  additionalInfo
}
    fragment Amount on Money {
  amount
  currency
}`, {"fragmentName":"Price"}) as unknown as TypedDocumentString<PriceFragment, unknown>;
export const QuestionFragmentDoc = new TypedDocumentString(`
    fragment Question on Question {
  id
  label
  type
  required
  options {
    id
    label
  }
}
    `, {"fragmentName":"Question"}) as unknown as TypedDocumentString<QuestionFragment, unknown>;
export const RateFragmentDoc = new TypedDocumentString(`
    fragment Rate on TicketRate {
  id
  name
  ...Places
  minPerCheckout
  maxPerCheckout
  admits
  warranty {
    percentage
    endsAt
  }
  currentPrice {
    ...Price
  }
  prices {
    ...Price
  }
  supplements {
    id
    name
    description
    price {
      ...Amount
    }
    compareAtPrice {
      ...Amount
    }
  }
  questions {
    ...Question
  }
}
    fragment Amount on Money {
  amount
  currency
}
fragment Question on Question {
  id
  label
  type
  required
  options {
    id
    label
  }
}
fragment Price on Price {
  id
  name
  total {
    ...Amount
  }
  validUntil
  includes
  additionalInfo
}
fragment Places on TicketRate {
  id
  status
  validFrom
  availability {
    available
  }
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
  minimumAge
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
    fragment Amount on Money {
  amount
  currency
}
fragment Rate on TicketRate {
  id
  name
  ...Places
  minPerCheckout
  maxPerCheckout
  admits
  warranty {
    percentage
    endsAt
  }
  currentPrice {
    ...Price
  }
  prices {
    ...Price
  }
  supplements {
    id
    name
    description
    price {
      ...Amount
    }
    compareAtPrice {
      ...Amount
    }
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
  options {
    id
    label
  }
}
fragment Price on Price {
  id
  name
  total {
    ...Amount
  }
  validUntil
  includes
  additionalInfo
}
fragment Places on TicketRate {
  id
  status
  validFrom
  availability {
    available
  }
}`, {"fragmentName":"ShownEvent"}) as unknown as TypedDocumentString<ShownEventFragment, unknown>;
export const QuoteFragmentDoc = new TypedDocumentString(`
    fragment Quote on CheckoutQuote {
  conditionsChanged
  amounts {
    discount {
      ...Amount
    }
    supplements {
      ...Amount
    }
    fees {
      ...Amount
    }
    warranty {
      ...Amount
    }
    total {
      ...Amount
    }
  }
  items {
    tickets {
      price {
        id
        name
        price {
          ...Amount
        }
      }
    }
  }
}
    fragment Amount on Money {
  amount
  currency
}`, {"fragmentName":"Quote"}) as unknown as TypedDocumentString<QuoteFragment, unknown>;
export const RefusedFragmentDoc = new TypedDocumentString(`
    fragment Refused on Refused {
  errors {
    code
    message
    path
    ... on AvailabilityError {
      available
    }
    ... on LimitError {
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
  events(first: 24, filter: {search: $search}, after: $after) {
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
  priceRange {
    min {
      ...Amount
    }
  }
}
fragment Amount on Money {
  amount
  currency
}`) as unknown as TypedDocumentString<EventsQuery, EventsQueryVariables>;
export const EventDocument = new TypedDocumentString(`
    query Event($id: ID!) {
  event(by: {id: $id}) {
    ...ShownEvent
  }
}
    fragment Amount on Money {
  amount
  currency
}
fragment ShownEvent on Event {
  id
  name
  startDate
  endDate
  displayDate
  imageUrl
  description
  minimumAge
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
  ...Places
  minPerCheckout
  maxPerCheckout
  admits
  warranty {
    percentage
    endsAt
  }
  currentPrice {
    ...Price
  }
  prices {
    ...Price
  }
  supplements {
    id
    name
    description
    price {
      ...Amount
    }
    compareAtPrice {
      ...Amount
    }
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
  options {
    id
    label
  }
}
fragment Price on Price {
  id
  name
  total {
    ...Amount
  }
  validUntil
  includes
  additionalInfo
}
fragment Places on TicketRate {
  id
  status
  validFrom
  availability {
    available
  }
}`) as unknown as TypedDocumentString<EventQuery, EventQueryVariables>;
export const PlacesDocument = new TypedDocumentString(`
    subscription Places($eventId: ID!) {
  ticketRates(of: {eventId: $eventId}) {
    ...Places
  }
}
    fragment Places on TicketRate {
  id
  status
  validFrom
  availability {
    available
  }
}`) as unknown as TypedDocumentString<PlacesSubscription, PlacesSubscriptionVariables>;
export const QuoteDocument = new TypedDocumentString(`
    query Quote($input: QuoteCheckoutInput!) {
  quoteCheckout(input: $input) {
    __typename
    ...Quote
    ...Refused
  }
}
    fragment Amount on Money {
  amount
  currency
}
fragment Quote on CheckoutQuote {
  conditionsChanged
  amounts {
    discount {
      ...Amount
    }
    supplements {
      ...Amount
    }
    fees {
      ...Amount
    }
    warranty {
      ...Amount
    }
    total {
      ...Amount
    }
  }
  items {
    tickets {
      price {
        id
        name
        price {
          ...Amount
        }
      }
    }
  }
}
fragment Refused on Refused {
  errors {
    code
    message
    path
    ... on AvailabilityError {
      available
    }
    ... on LimitError {
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
        pageUrl
      }
    }
    ...Refused
  }
}
    fragment Refused on Refused {
  errors {
    code
    message
    path
    ... on AvailabilityError {
      available
    }
    ... on LimitError {
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
    totalAmount {
      ...Amount
    }
    expiresAt
  }
}
    fragment Amount on Money {
  amount
  currency
}`) as unknown as TypedDocumentString<PaymentQuery, PaymentQueryVariables>;