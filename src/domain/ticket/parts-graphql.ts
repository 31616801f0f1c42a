import { builder } from '../../graphql/builder.ts'
import { toMajor } from '../../shared/money.ts'
import { minimumAge } from '../event/minimum-age.ts'
import type { Answer, LookupTicket, RefundMade, SoldSupplement, Ticket } from './table.ts'
import * as views from './views.ts'

// What a ticket is made of, apart from its own fields.

type InCurrency<T> = T & { currency: string }

export const TicketStatusRef = builder.enumType('TicketStatus', {
  description: '`pending` until it is paid, then `activated`; `expired` when it was not paid in time.',
  values: views.lookupStatuses,
})

export const CheckoutStatusRef = builder.enumType('CheckoutStatus', {
  description: 'The word of the checkout view, where a ticket is `active` from the start.',
  values: views.checkoutStatuses,
})

export const AnswerRef = builder.objectRef<Answer>('Answer').implement({
  description: 'What a buyer answered.',
  fields: (t) => ({
    questionId: t.exposeID('questionId', { description: 'The question.' }),
    answer: t.exposeString('answer', { description: 'The answer.' }),
  }),
})

export const TicketSupplementRef = builder
  .objectRef<InCurrency<SoldSupplement>>('TicketSupplement')
  .implement({
    description: 'A supplement as it was sold.',
    fields: (t) => ({
      id: t.exposeID('supplementId', { description: 'The supplement.' }),
      supplementId: t.exposeID('supplementId', {
        description: 'The same as `id`, in the word of the checkout view.',
      }),
      label: t.exposeString('label', { description: 'What it is.' }),
      description: t.string({ nullable: true, description: 'What else to know.', resolve: () => null }),
      price: t.float({
        description: 'What it cost, in major units.',
        resolve: ({ amount, currency }) => toMajor(amount, currency),
      }),
      hasFakePrice: t.exposeBoolean('hasFakePrice', {
        description: 'Whether a price was shown struck through.',
      }),
      fakePrice: t.float({
        nullable: true,
        description: 'The price that was struck through, in major units.',
        resolve: ({ fakeAmount, currency }) => (fakeAmount === null ? null : toMajor(fakeAmount, currency)),
      }),
      productQuantity: t.int({ description: 'How many were bought.', resolve: () => views.productQuantity }),
      productQuantityUsed: t.int({
        description: 'How many were used.',
        resolve: () => views.productQuantityUsed,
      }),
    }),
  })

export const RefundRef = builder.objectRef<InCurrency<RefundMade>>('Refund').implement({
  description: 'Money that went back.',
  fields: (t) => ({
    channelId: t.exposeID('channelId', { description: 'The channel that it was bought through.' }),
    amount: t.float({
      description: 'Major units.',
      resolve: (refund) => toMajor(refund.amount, refund.currency),
    }),
    at: t.field({ type: 'DateTime', description: 'When.', resolve: (refund) => new Date(refund.at) }),
  }),
})

export const FeesRef = builder.objectRef<Ticket>('Fees').implement({
  description: 'Who gets what beside the price. Major units.',
  fields: (t) => ({
    organization: t.float({
      description: 'What the organization puts on top of the price.',
      resolve: (ticket) => toMajor(ticket.organizationFeeAmount, ticket.currency),
    }),
    platform: t.float({
      description: 'What the platform keeps from the organization: no part of the total.',
      resolve: (ticket) => toMajor(ticket.platformFeeAmount, ticket.currency),
    }),
  }),
})

export const TicketWarrantyRef = builder.objectRef<Ticket>('TicketWarranty').implement({
  description: 'The warranty that was bought.',
  fields: (t) => ({
    total: t.float({
      description: 'What it cost, in major units; 0 without one.',
      resolve: (ticket) => toMajor(ticket.warrantyAmount, ticket.currency),
    }),
    hours: t.exposeInt('warrantyHours', {
      description: 'Hours before the start that it ends; 0 without one.',
    }),
  }),
})

export const PriceInfoRef = builder.objectRef<LookupTicket>('PriceInfo').implement({
  description: 'The price that a ticket was sold at.',
  fields: (t) => ({
    id: t.id({ description: 'The price.', resolve: ({ priceId }) => priceId }),
    price: t.float({
      description: 'What the ticket cost without fees and extras, in major units.',
      resolve: ({ priceAmount, currency }) => toMajor(priceAmount, currency),
    }),
    age: t.int({
      nullable: true,
      description: 'Minimum age of the event.',
      resolve: ({ eventAge }) => minimumAge({ age: eventAge }),
    }),
    content: t.string({
      nullable: true,
      description: 'What the price includes.',
      resolve: ({ priceIncludes }) => priceIncludes,
    }),
    additionalInfo: t.string({
      nullable: true,
      description: 'What else to know.',
      resolve: ({ priceAdditionalInfo }) => priceAdditionalInfo,
    }),
  }),
})
