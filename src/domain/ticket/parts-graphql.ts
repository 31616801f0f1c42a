import { amountOf, builder, enumOf, nullable, nullableAmount } from '../../graphql/builder.ts'
import type { personalDocumentTypes } from '../../shared/input-types.ts'
import { minimumAge } from '../event/minimum-age.ts'
import type { Answer, LookupTicket, Refund, SoldSupplement, Ticket } from './table.ts'
import type * as views from './views.ts'

// Object types that a ticket's fields return.

type InCurrency<T> = T & { currency: string }

export const TicketStatusRef = enumOf<(typeof views.lookupStatuses)[number]>(
  'TicketStatus',
  'Ticket status, as in REST `GET /integrations/tickets/{id}`.',
  {
    pending: 'Held until the buyer pays.',
    activated: 'Paid and valid.',
    cancelled: 'Cancelled after payment. Its place is available again.',
    expired: 'Never paid, and no longer held.',
  },
)

export const CheckoutStatusRef = enumOf<(typeof views.checkoutStatuses)[number]>(
  'CheckoutStatus',
  'Ticket status, as in the REST checkout response.',
  {
    active: 'Paid, or held until the buyer pays.',
    cancelled: 'Cancelled after payment. Its place is available again.',
    expired: 'Never paid, and no longer held.',
  },
)

export const SaleTypeRef = enumOf<Ticket['saleType']>('SaleType', 'Way of selling.', {
  online: "By a channel's checkout.",
  box_office: 'At the door, by the organization.',
  invitation: 'Given away by the organization.',
})

export const DocumentTypeRef = enumOf<(typeof personalDocumentTypes)[number]>(
  'PersonalDocumentType',
  'Kind of identity document.',
  {
    dni: 'Spanish identity card.',
    nie: 'Identity number of a foreigner in Spain.',
    passport: 'Passport.',
    other: 'Any other document.',
  },
)

export const AnswerRef = builder.objectRef<Answer>('Answer').implement({
  description: 'Answer to a question of the ticket rate.',
  fields: (t) => ({
    questionId: t.exposeID('questionId', { description: 'Identifier of the question.' }),
    answer: t.exposeString('answer', { description: 'Answer text.' }),
  }),
})

export const TicketSupplementRef = builder
  .objectRef<InCurrency<SoldSupplement>>('TicketSupplement')
  .implement({
    description: 'Supplement as it was sold. Amounts are in major units, such as 10.5 for €10.50.',
    fields: (t) => ({
      id: t.exposeID('supplementId', {
        description:
          'Identifier of the supplement in the rate, the same on every ticket that it was sold with.',
        deprecationReason: 'Names the supplement and not this object: use `supplementId`.',
      }),
      supplementId: t.exposeID('supplementId', {
        description: 'Identifier of the supplement, the same on every ticket that it was sold with.',
      }),
      label: t.exposeString('label', { description: 'Display name.' }),
      description: t.exposeString('description', nullable('Description; null if it has none.')),
      price: t.float(amountOf('Price paid.', 'amount')),
      hasFakePrice: t.exposeBoolean('hasFakePrice', {
        description: 'True if `fakePrice` was shown struck through.',
      }),
      fakePrice: t.float(nullableAmount('Price that was shown struck through.', (sold) => sold.fakeAmount)),
      productQuantity: t.exposeInt('productQuantity', { description: 'Number of items bought.' }),
      productQuantityUsed: t.exposeInt('used', { description: 'Number of items redeemed.' }),
    }),
  })

export const RefundRef = builder.objectRef<InCurrency<Refund>>('Refund').implement({
  description: 'Completed refund of a ticket.',
  fields: (t) => ({
    channelId: t.exposeID('channelId', { description: 'Identifier of the channel that sold the ticket.' }),
    amount: t.float(amountOf('Amount in major units, such as 10.5 for €10.50.', 'amount')),
    at: t.field({
      type: 'DateTime',
      description: 'Time of the refund.',
      resolve: (refund) => new Date(refund.at),
    }),
  }),
})

export const FeesRef = builder.objectRef<Ticket>('Fees').implement({
  description: 'Fees of a ticket, in major units, such as 10.5 for €10.50.',
  fields: (t) => ({
    organization: t.float(amountOf('Fee of the organization, added to the price.', 'organizationFeeAmount')),
    platform: t.float(
      amountOf(
        'Commission that the platform keeps from the organization. Not part of the total.',
        'platformFeeAmount',
      ),
    ),
  }),
})

export const TicketWarrantyRef = builder.objectRef<Ticket>('TicketWarranty').implement({
  description: 'Warranty of a ticket; zeros if none.',
  fields: (t) => ({
    total: t.float(
      amountOf('Cost in major units, such as 10.5 for €10.50; 0 without a warranty.', 'warrantyAmount'),
    ),
    hours: t.exposeInt('warrantyHours', {
      description:
        'Number of hours before the start of the event at which the warranty ends; 0 without a warranty.',
    }),
  }),
})

export const PriceInfoRef = builder.objectRef<LookupTicket>('PriceInfo').implement({
  description: 'Price that a ticket was sold at.',
  fields: (t) => ({
    id: t.exposeID('priceId', {
      description: 'Identifier of the price, the same on every ticket that was sold at it.',
      deprecationReason: 'Names the price and not this object: use `priceId` of the ticket.',
    }),
    price: t.float(
      amountOf(
        'Price in major units, such as 10.5 for €10.50, without fees, supplements and warranty.',
        'priceAmount',
      ),
    ),
    age: t.int({
      ...nullable('Minimum age of the event; null if it has none.'),
      resolve: ({ eventAge }) => minimumAge({ age: eventAge }),
    }),
    content: t.exposeString('priceIncludes', nullable('Description of what the price includes.')),
    additionalInfo: t.exposeString('priceAdditionalInfo', nullable('Additional information for the buyer.')),
  }),
})
