import { builder, NodeRef } from '../../graphql/builder.ts'
import { requireCaller } from '../../request/context.ts'
import { toMajor } from '../../shared/money.ts'
import { EventRef } from '../event/graphql.ts'
import { eventById } from '../event/loaders.ts'
import { PaymentRef } from '../payment/graphql.ts'
import { paymentById } from '../payment/loaders.ts'
import { TicketRateRef } from '../ticket-rate/graphql.ts'
import { priceById, ticketRateById } from '../ticket-rate/loaders.ts'
import { PriceRef } from '../ticket-rate/parts-graphql.ts'
import { ticketById, ticketsByPaymentId } from './loaders.ts'
import { maxTickets } from './max-tickets.ts'
import * as parts from './parts-graphql.ts'
import type { Ticket } from './table.ts'
import * as views from './views.ts'

export const TicketRef = builder.objectRef<Ticket>('Ticket')

TicketRef.implement({
  description: 'One ticket, of one attendee. Amounts are in major units of `paymentCurrency`.',
  interfaces: [NodeRef],
  fields: (t) => {
    const amount = (description: string, of: (ticket: Ticket) => number) =>
      t.float({ description, resolve: (ticket) => toMajor(of(ticket), ticket.currency) })
    return {
      status: t.field({
        type: parts.TicketStatusRef,
        description: 'How it stands, in the words of the lookup view.',
        resolve: views.lookupStatus,
      }),
      checkoutStatus: t.field({
        type: parts.CheckoutStatusRef,
        description: 'How it stands, in the words of the checkout view: `active` even before it is paid.',
        resolve: views.checkoutStatus,
      }),
      qrCode: t.exposeString('qrCode', { description: 'What is scanned at the door.' }),
      channelId: t.exposeID('channelId', { description: 'The channel that sold it.' }),
      eventId: t.exposeID('eventId', { description: 'The event that it is for.' }),
      ticketRateId: t.exposeID('ticketRateId', { description: 'The ticket rate that it is of.' }),
      priceId: t.exposeID('priceId', { description: 'The price that it was sold at.' }),
      paymentId: t.exposeID('paymentId', { description: 'The payment of its checkout.' }),
      paymentCurrency: t.exposeString('currency', { description: 'ISO 4217 code.' }),
      fullName: t.exposeString('fullName', { description: 'Name of the attendee.' }),
      email: t.exposeString('email', { description: 'E-mail address.' }),
      phone: t.exposeString('phone', { nullable: true, description: 'International number.' }),
      gender: t.exposeString('gender', { nullable: true, description: 'Digit as text.' }),
      birthday: t.exposeString('birthday', { nullable: true, description: 'YYYY-MM-DD.' }),
      address: t.exposeString('address', { nullable: true, description: 'Street and number.' }),
      postalCode: t.exposeString('postalCode', { nullable: true, description: 'Postal code.' }),
      countryCode: t.exposeString('countryCode', {
        nullable: true,
        description: 'ISO 3166 two-letter code.',
      }),
      personalDocumentType: t.exposeString('personalDocumentType', {
        nullable: true,
        description: '`dni`, `nie`, `passport` or `other`.',
      }),
      personalDocumentNumber: t.exposeString('personalDocumentNumber', {
        nullable: true,
        description: 'Number of the document.',
      }),
      answers: t.field({
        type: [parts.AnswerRef],
        description: 'What the buyer answered.',
        resolve: ({ answers }) => answers,
      }),
      supplements: t.field({
        type: [parts.TicketSupplementRef],
        description: 'What was bought with it.',
        resolve: ({ supplements, currency }) =>
          supplements.map((supplement) => ({ ...supplement, currency })),
      }),
      metadata: t.expose('metadata', {
        type: 'JSON',
        nullable: true,
        description: 'What the channel stored on it.',
      }),
      fees: t.field({
        type: parts.FeesRef,
        description: 'Who gets what beside the price.',
        resolve: (ticket) => ticket,
      }),
      warranty: t.field({
        type: parts.TicketWarrantyRef,
        description: 'The warranty that was bought.',
        resolve: (ticket) => ticket,
      }),
      refunded: amount('What was paid back.', (ticket) => ticket.refundedAmount),
      refundedAt: t.expose('refundedAt', {
        type: 'DateTime',
        nullable: true,
        description: 'When money last went back.',
      }),
      refunds: t.field({
        type: [parts.RefundRef],
        description: 'Each time that money went back.',
        resolve: ({ refunds, currency }) => refunds.map((refund) => ({ ...refund, currency })),
      }),
      for: t.exposeInt('admits', { description: 'People that it admits.' }),
      enter: t.exposeInt('entered', { description: 'People already in.' }),
      entryTime: t.expose('lastEntryAt', {
        type: 'DateTime',
        nullable: true,
        description: 'The last entry.',
      }),
      totalSupplements: amount('Its supplements.', (ticket) => ticket.supplementsAmount),
      totalFees: amount('The fee on top of the price.', (ticket) => ticket.organizationFeeAmount),
      totalPrice: amount('Price, supplements, fees and warranty.', (ticket) => ticket.totalAmount),
      invoiceReference: t.exposeString('invoiceReference', {
        nullable: true,
        description: 'Reference of its invoice.',
      }),
      correctiveInvoiceReferences: t.exposeStringList('correctiveInvoiceReferences', {
        description: 'References of the invoices that correct it.',
      }),
      createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the checkout was made.' }),
      activationDate: t.expose('activatedAt', {
        type: 'DateTime',
        nullable: true,
        description: 'When it was paid.',
      }),
      event: t.field({
        type: EventRef,
        nullable: true,
        description: 'The event that it is for; null to a channel that the organization no longer grants.',
        resolve: (ticket, _args, { loaders }) => loaders.load(eventById, ticket.eventId),
      }),
      ticketRate: t.field({
        type: TicketRateRef,
        nullable: true,
        description:
          'The ticket rate that it is of; null to a channel that the organization no longer grants.',
        resolve: (ticket, _args, { loaders }) => loaders.load(ticketRateById, ticket.ticketRateId),
      }),
      price: t.field({
        type: PriceRef,
        nullable: true,
        description: 'The price of the rate that it was sold at.',
        resolve: (ticket, _args, { loaders }) => loaders.load(priceById, ticket.priceId),
      }),
      payment: t.field({
        type: PaymentRef,
        nullable: true,
        // It leads back up: what is asked for below it is answered again for each ticket of the payment.
        complexity: { field: 1, multiplier: 10 },
        description: 'The payment of its checkout.',
        resolve: (ticket, _args, { loaders }) => loaders.load(paymentById, ticket.paymentId),
      }),
    }
  },
})

builder.objectField(PaymentRef, 'tickets', (t) =>
  t.field({
    type: [TicketRef],
    complexity: { field: 1, multiplier: maxTickets },
    description: 'The tickets that it is for.',
    resolve: (payment, _args, { loaders }) => loaders.load(ticketsByPaymentId, payment.id),
  }),
)

builder.queryField('ticket', (t) =>
  t.field({
    type: TicketRef,
    nullable: true,
    description:
      'One ticket of the caller: one that the channel sold, or one of the integration’s organization.',
    args: { id: t.arg.id({ required: true, description: 'Its identifier.' }) },
    resolve: (_root, { id }, ctx) => requireCaller(ctx) && ctx.loaders.get(ticketById).get(id),
  }),
)
