import type { Problem } from '../../engine/base/errors.ts'
import {
  builder,
  fieldOf,
  NodeRef,
  nullable,
  nullableTime,
  part,
  queryField,
  time,
} from '../../engine/graphql/builder.ts'
import { viaId, viaLoader } from '../../engine/graphql/lookahead.ts'
import { ModeRef } from '../caller/roots-graphql.ts'
import { TransitionErrorRef } from '../contract/refusals-graphql.ts'
import { DiscountRef } from '../discount/graphql.ts'
import { discountById } from '../discount/loaders.ts'
import { EventRef } from '../event/graphql.ts'
import { eventById } from '../event/loaders.ts'
import { channelById } from '../organization/loaders.ts'
import { ChannelRef } from '../organization/viewer-graphql.ts'
import { PaymentRef, SaleTypeRef } from '../payment/graphql.ts'
import { paymentById } from '../payment/loaders.ts'
import { TicketRateRef } from '../ticket-rate/graphql.ts'
import { priceById, ticketRateById } from '../ticket-rate/loaders.ts'
import { PriceRef } from '../ticket-rate/parts-graphql.ts'
import { maxTickets } from '../ticket-rate/table.ts'
import { isAnonymized } from './anonymized.ts'
import { createLookupContext, ticketById, ticketsByPaymentId } from './loaders.ts'
import * as parts from './parts-graphql.ts'
import type { LookupTicket, Ticket } from './table.ts'
import * as views from './views.ts'

/** Fields of a ticket that every key sees which may scan, cancel or refund it (DECISIONS 143). */
const fieldsAtDoor: ReadonlySet<string> = new Set([
  ...['id', 'mode', 'saleType', 'status', 'createdAt', 'activatedAt', 'updatedAt', 'attendee'],
  ...['event', 'ticketRate', 'price', 'admits', 'inside', 'firstEnteredAt', 'lastEnteredAt', 'supplements'],
  'checkIns',
])

// Reports whether a ticket was read with facts of its rate, event and price, all of which the caller may see.
const isLookup = (ticket: Ticket): ticket is LookupTicket & Record<'rateName' | 'rateSlug', string> =>
  'rateName' in ticket && ticket.rateName !== null

export const TicketRef = builder.objectRef<Ticket>('Ticket')

TicketRef.implement({
  description:
    'Right of people to enter an event, sold to one attendee. An integration whose key has neither the scope `TICKETS_READ` nor `SALES` sees what the door needs: the name of the attendee, status, catalogue, people, entries and supplements. All other fields are null for it.',
  interfaces: [NodeRef],
  extensions: {
    node: { prefix: 'tkt', scope: 'tickets:read', load: ticketById },
    needs: { oneOf: ['tickets:read', 'sales'], except: fieldsAtDoor },
  },
  fields: (t) => ({
    status: t.field({
      type: parts.TicketStatusRef,
      description: 'Current status.',
      resolve: views.lookupStatus,
    }),
    mode: t.expose('mode', { type: ModeRef, description: 'Mode of the key that it was sold with.' }),
    saleType: t.expose('saleType', { type: SaleTypeRef, description: 'Way of selling.' }),
    createdAt: t.expose('createdAt', time('Time of the checkout.')),
    activatedAt: t.expose('activatedAt', nullableTime('Time of payment; null unless paid.')),
    updatedAt: t.expose('updatedAt', time('Time of the last change of the ticket.')),
    event: t.field({
      type: EventRef,
      description: 'Event that it is for.',
      ...viaId(eventById, ({ eventId }: Ticket) => eventId, {
        fields: ['minimumAge'],
        rowOf: (ticket) => (isLookup(ticket) ? { age: ticket.eventAge } : null),
      }),
    }),
    ticketRate: t.field({
      type: TicketRateRef,
      description: 'Ticket rate that it is of.',
      ...viaId(ticketRateById, ({ ticketRateId }: Ticket) => ticketRateId, {
        fields: ['name', 'slug'],
        rowOf: (ticket) => (isLookup(ticket) ? { name: ticket.rateName, slug: ticket.rateSlug } : null),
      }),
    }),
    price: t.field({
      type: PriceRef,
      description: 'Price that the ticket was sold at, with the amounts of that time.',
      ...viaId(priceById, ({ priceId }: Ticket) => priceId, {
        fields: ['price', 'includes', 'additionalInfo'],
        rowOf: (ticket) =>
          isLookup(ticket)
            ? {
                amount: ticket.priceAmount,
                currency: ticket.currency,
                includes: ticket.priceIncludes,
                additionalInfo: ticket.priceAdditionalInfo,
              }
            : null,
        read: (price, ticket) => price && views.priceAsSold(price, ticket),
      }),
    }),
    channel: t.field({
      type: ChannelRef,
      ...nullable('Channel that sold it; null if the organization did itself.'),
      ...viaId(channelById, ({ channelId, organizationId }: Ticket) =>
        channelId === organizationId ? null : channelId,
      ),
    }),
    admits: t.exposeInt('admits', { description: 'Number of people that the ticket admits.' }),
    inside: t.exposeInt('entered', { description: 'Number of people inside now.' }),
    firstEnteredAt: t.expose(
      'firstEntryAt',
      nullableTime('Time of the first entry; null if nobody has entered.'),
    ),
    lastEnteredAt: t.expose(
      'lastEntryAt',
      nullableTime('Time of the last entry; null if nobody has entered.'),
    ),
    supplements: t.field({
      type: [parts.TicketSupplementRef],
      description: 'Supplements bought with the ticket.',
      resolve: ({ supplements, currency }) => supplements.map((supplement) => ({ ...supplement, currency })),
    }),
    warranty: t.field({
      type: parts.TicketWarrantyRef,
      ...nullable('Warranty bought with the ticket; null if there is none.'),
      resolve: (ticket) => (views.hasWarranty(ticket) ? ticket : null),
    }),
    attendee: t.field({
      type: parts.AttendeeRef,
      ...nullable('Person that the ticket is for; null once that person is erased.'),
      resolve: (ticket) => (isAnonymized(ticket) ? null : ticket),
    }),
    answers: t.expose('answers', {
      type: [parts.AnswerRef],
      description: 'Answers to the questions of the ticket rate.',
    }),
    qrCode: t.exposeString('qrCode', {
      description: 'Code that is scanned at the door: 1 to 64 visible ASCII characters.',
    }),
    documentUrl: t.string({
      nullable: true,
      description:
        'URL of the ticket as a PDF, for the buyer. Anybody with this URL can use the ticket. Null before payment and after cancellation.',
      resolve: (ticket, _args, { services }) => views.documentUrl(ticket, services.publicUrl()),
    }),
    amounts: t.field(part(parts.AmountsRef, 'Cost of the ticket, part by part.')),
    settlement: t.field(part(parts.SettlementRef, 'Money of the ticket after its sale.')),
    discount: t.field({
      type: DiscountRef,
      nullable: true,
      description:
        'Discount that the ticket was sold with; null if there was none, and to channels: codes are for integrations.',
      ...viaLoader(discountById, ({ discountId }: Ticket) => discountId),
    }),
    payment: t.field({
      type: PaymentRef,
      ...nullable('Payment of the checkout.'),
      // Leads back up the graph, so the selection below it repeats for each ticket of the payment.
      complexity: { field: 1, multiplier: 10 },
      ...viaId(paymentById, ({ paymentId }: Ticket) => paymentId),
    }),
    invoiceReference: t.exposeString(
      'invoiceReference',
      nullable('Invoice reference; null until the ticket is paid, and always null for a total of 0.'),
    ),
    correctiveInvoiceReferences: t.exposeStringList('correctiveInvoiceReferences', {
      description: 'References of the corrective invoices, one per refund.',
    }),
    referralId: t.exposeString(
      'referralId',
      nullable('Identifier that the channel has for whoever referred the buyer; null if it named nobody.'),
    ),
    metadata: t.expose('metadata', {
      type: 'JSON',
      ...nullable('Metadata that the channel attached at checkout.'),
    }),
  }),
})

fieldOf(PaymentRef, 'tickets', {
  type: [TicketRef],
  // As many as a checkout has; a payment of invitations may have twice as many.
  complexity: { field: 1, multiplier: maxTickets },
  ...nullable('Tickets of this payment; null for a publishable key.'),
  resolve: (payment, _args, { caller, loaders }) =>
    caller?.kind === 'publishable' ? null : loaders.get(ticketsByPaymentId).get(payment.id),
})

queryField('ticket', {
  type: TicketRef,
  needs: {
    caller: 'any',
    scope: 'tickets:read',
    prefetch: { context: createLookupContext, idAt: ['id'] },
  },
  description:
    'Finds a ticket by its identifier: a channel finds those that it sold, an integration those of its organization, a publishable key none. Null if there is none.',
  args: builder.args((t) => ({ id: t.id({ required: true, description: 'Ticket identifier.' }) })),
  resolve: (_root, { id }, ctx) => ctx.loaders.get(ticketById).get(id),
})

builder.objectFields(TransitionErrorRef, (t) => ({
  ticket: t.field({
    type: TicketRef,
    ...nullable('Ticket that it is about, as it is now; null if it is about a payment.'),
    ...viaLoader(ticketById, ({ about }: Problem) => about?.ticketId ?? null),
  }),
  payment: t.field({
    type: PaymentRef,
    ...nullable('Payment that it is about, as it is now; null if it is about a ticket.'),
    ...viaLoader(paymentById, ({ about }: Problem) => about?.paymentId ?? null),
  }),
}))
