import { amount } from '../../graphql/amount.ts'
import { builder, type DescribedValues as Described } from '../../graphql/builder.ts'
import { toMajor } from '../../shared/money.ts'
import { minimumAge } from '../event/minimum-age.ts'
import type { Answer, LookupTicket, Refund, SoldSupplement, Ticket } from './table.ts'
import * as views from './views.ts'

// Object types that a ticket's fields return.

type InCurrency<T> = T & { currency: string }

export const TicketStatusRef = builder.enumType('TicketStatus', {
  description: 'Ticket status, as in REST `GET /integrations/tickets/{id}`.',
  values: {
    pending: { value: 'pending', description: 'Held until the buyer pays.' },
    activated: { value: 'activated', description: 'Paid and valid.' },
    cancelled: { value: 'cancelled', description: 'Cancelled after payment. Its place is available again.' },
    expired: { value: 'expired', description: 'Never paid, and no longer held.' },
  } satisfies Described<(typeof views.lookupStatuses)[number]>,
})

export const CheckoutStatusRef = builder.enumType('CheckoutStatus', {
  description: 'Ticket status, as in the REST checkout response.',
  values: {
    active: { value: 'active', description: 'Paid, or held until the buyer pays.' },
    cancelled: { value: 'cancelled', description: 'Cancelled after payment. Its place is available again.' },
    expired: { value: 'expired', description: 'Never paid, and no longer held.' },
  } satisfies Described<(typeof views.checkoutStatuses)[number]>,
})

export const SaleTypeRef = builder.enumType('SaleType', {
  description: 'Way of selling.',
  values: {
    ONLINE: { value: 'online' as const, description: "By a channel's checkout." },
    BOX_OFFICE: { value: 'box_office' as const, description: 'At the door, by the organization.' },
    INVITATION: { value: 'invitation' as const, description: 'Given away by the organization.' },
  },
})

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
      id: t.exposeID('supplementId', { description: 'Supplement identifier.' }),
      supplementId: t.exposeID('supplementId', {
        description: 'Alias of `id`, named as in the REST checkout response.',
      }),
      label: t.exposeString('label', { description: 'Display name.' }),
      description: t.string({
        nullable: true,
        description: 'Description; null if it has none.',
        resolve: ({ description }) => description ?? null,
      }),
      price: t.float(amount('Price paid.', ({ amount }) => amount)),
      hasFakePrice: t.exposeBoolean('hasFakePrice', {
        description: 'True if `fakePrice` was shown struck through.',
      }),
      fakePrice: t.float({
        nullable: true,
        description: 'Price that was shown struck through.',
        resolve: ({ fakeAmount, currency }) => (fakeAmount === null ? null : toMajor(fakeAmount, currency)),
      }),
      productQuantity: t.int({ description: 'Number of items bought.', resolve: views.productQuantity }),
      productQuantityUsed: t.int({
        description: 'Number of items redeemed.',
        resolve: views.productQuantityUsed,
      }),
    }),
  })

export const RefundRef = builder.objectRef<InCurrency<Refund>>('Refund').implement({
  description: 'Completed refund of a ticket.',
  fields: (t) => ({
    channelId: t.exposeID('channelId', { description: 'Identifier of the channel that sold the ticket.' }),
    amount: t.float(amount('Amount in major units, such as 10.5 for €10.50.', (refund) => refund.amount)),
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
    organization: t.float(
      amount('Fee of the organization, added to the price.', (ticket) => ticket.organizationFeeAmount),
    ),
    platform: t.float(
      amount(
        'Commission that the platform keeps from the organization. Not part of the total.',
        (ticket) => ticket.platformFeeAmount,
      ),
    ),
  }),
})

export const TicketWarrantyRef = builder.objectRef<Ticket>('TicketWarranty').implement({
  description: 'Warranty of a ticket; zeros if none.',
  fields: (t) => ({
    total: t.float(
      amount(
        'Cost in major units, such as 10.5 for €10.50; 0 without a warranty.',
        (ticket) => ticket.warrantyAmount,
      ),
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
    id: t.exposeID('priceId', { description: 'Price identifier.' }),
    price: t.float(
      amount(
        'Price in major units, such as 10.5 for €10.50, without fees, supplements and warranty.',
        ({ priceAmount }) => priceAmount,
      ),
    ),
    age: t.int({
      nullable: true,
      description: 'Minimum age of the event; null if it has none.',
      resolve: ({ eventAge }) => minimumAge({ age: eventAge }),
    }),
    content: t.exposeString('priceIncludes', {
      nullable: true,
      description: 'Description of what the price includes.',
    }),
    additionalInfo: t.exposeString('priceAdditionalInfo', {
      nullable: true,
      description: 'Additional information for the buyer.',
    }),
  }),
})
