import { type PromiseOrValue, whenKnown } from '../../data/loader.ts'
import {
  amount,
  amountOf,
  builder,
  ModeRef,
  NodeRef,
  nullable,
  nullableTime,
  part,
  time,
} from '../../graphql/builder.ts'
import type { Context } from '../../request/context.ts'
import { personalDocumentTypes } from '../../shared/input-types.ts'
import { DiscountRef } from '../discount/graphql.ts'
import { discountById } from '../discount/loaders.ts'
import { EventRef } from '../event/graphql.ts'
import { eventById } from '../event/loaders.ts'
import { PaymentRef } from '../payment/graphql.ts'
import { paymentById } from '../payment/loaders.ts'
import { TicketRateRef } from '../ticket-rate/graphql.ts'
import { priceById, ticketRateById } from '../ticket-rate/loaders.ts'
import { PriceRef } from '../ticket-rate/parts-graphql.ts'
import { createLookupContext, ticketById, ticketsByPaymentId } from './loaders.ts'
import * as parts from './parts-graphql.ts'
import { type LookupTicket, maxTickets, type Ticket } from './table.ts'
import * as views from './views.ts'

/** Fields of a ticket for every key that may scan, cancel or refund it (DECISIONS 143). */
const fieldsAtDoor: ReadonlySet<string> = new Set([
  ...['id', 'mode', 'saleType', 'status', 'checkoutStatus', 'createdAt', 'activationDate', 'updatedAt'],
  ...['fullName', 'name', 'for', 'enter', 'entryTime', 'entryDate', 'supplements', 'paymentCurrency'],
  ...['event', 'eventId', 'ticketRate', 'ticketRateId', 'rateId', 'rateName', 'rateSlug', 'price', 'priceId'],
])

export const TicketRef = builder.objectRef<Ticket>('Ticket')

/** Resolves a field from the ticket's rate, event or price. Loads them if the ticket came without, as from a
 *  checkout. */
const fromLookup =
  <Value>(read: (ticket: LookupTicket) => Value) =>
  (ticket: Ticket | LookupTicket, _args: object, { loaders }: Context): PromiseOrValue<Value> => {
    if ('rateName' in ticket) return read(ticket)
    return whenKnown(loaders.loadBeside(ticketById, ticket.id, ticket), (found) => {
      if (!found) throw new Error(`ticket ${ticket.id} not found`)
      return read(found)
    })
  }

/** Options of a field that is named as in REST. */
const aliasOf = (field: string) => ({
  deprecationReason: `Use \`${field}\`.`,
  description: `Alias of \`${field}\`, named as in REST \`GET /integrations/tickets/{id}\`.`,
})

/** Options of a field that a channel sees for as long as it has access. */
const whileGranted = (what: string) =>
  nullable(`${what} Null if the organization has withdrawn the calling channel's access.`)

TicketRef.implement({
  description:
    'Ticket of one attendee. Amounts are in major units of `paymentCurrency`, such as 10.5 for €10.50. An integration whose key has neither the scope `tickets:read` nor `sales` sees what the door needs: the name of the attendee, status, catalogue, people, entries and supplements. All other fields are null for it.',
  interfaces: [NodeRef],
  extensions: {
    node: { prefix: 'tkt', scope: 'tickets:read', load: ticketById },
    needs: { oneOf: ['tickets:read', 'sales'], except: fieldsAtDoor },
  },
  fields: (t) => ({
    status: t.field({
      type: parts.TicketStatusRef,
      description: 'Current status, as in REST `GET /integrations/tickets/{id}`.',
      resolve: views.lookupStatus,
    }),
    mode: t.expose('mode', { type: ModeRef, description: 'Mode of the key that it was sold with.' }),
    checkoutStatus: t.field({
      type: parts.CheckoutStatusRef,
      description: 'Status, as in the REST checkout response: `ACTIVE` even before payment.',
      deprecationReason: 'Does not tell whether the ticket was paid: use `status`.',
      resolve: views.checkoutStatus,
    }),
    qrCode: t.exposeString('qrCode', {
      description: 'Code that is scanned at the door: 1 to 64 visible ASCII characters.',
    }),
    channelId: t.exposeID('channelId', { description: 'Identifier of the channel that sold the ticket.' }),
    eventId: t.exposeID('eventId', { description: 'Identifier of the event.' }),
    ticketRateId: t.exposeID('ticketRateId', { description: 'Identifier of the ticket rate.' }),
    priceId: t.exposeID('priceId', { description: 'Identifier of the price that the ticket was sold at.' }),
    paymentId: t.exposeID('paymentId', { description: 'Identifier of the payment.' }),
    paymentCurrency: t.exposeString('currency', {
      description: 'Currency of all amounts, as an ISO 4217 code.',
    }),
    fullName: t.exposeString('fullName', { description: 'Full name of the attendee.' }),
    email: t.exposeString('email', { description: 'E-mail address of the attendee.' }),
    phone: t.exposeString('phone', nullable('Phone number in international format.')),
    gender: t.exposeString(
      'gender',
      nullable('Gender, as one digit. The service attaches no meaning to it.'),
    ),
    birthday: t.exposeString('birthday', nullable('Date of birth, `YYYY-MM-DD`.')),
    address: t.exposeString('address', nullable('Street and number.')),
    postalCode: t.exposeString('postalCode', nullable('Postal code.')),
    countryCode: t.exposeString('countryCode', nullable('Two-letter ISO 3166 country code.')),
    personalDocumentType: t.field({
      type: parts.DocumentTypeRef,
      ...nullable('Kind of identity document.'),
      resolve: ({ personalDocumentType: type }) =>
        type === null ? null : (personalDocumentTypes.find((known) => known === type) ?? 'other'),
    }),
    personalDocumentNumber: t.exposeString(
      'personalDocumentNumber',
      nullable('Number of the identity document.'),
    ),
    answers: t.expose('answers', {
      type: [parts.AnswerRef],
      description: 'Answers to the questions of the ticket rate.',
    }),
    supplements: t.field({
      type: [parts.TicketSupplementRef],
      description: 'Supplements bought with the ticket.',
      resolve: ({ supplements, currency }) => supplements.map((supplement) => ({ ...supplement, currency })),
    }),
    metadata: t.expose('metadata', {
      type: 'JSON',
      ...nullable('Metadata that the channel attached at checkout.'),
    }),
    fees: t.field(part(parts.FeesRef, 'Fees of the organization and of the platform.')),
    warranty: t.field(part(parts.TicketWarrantyRef, 'Warranty bought with the ticket; zeros if none.')),
    refunded: t.float(amountOf('Amount refunded so far.', 'refundedAmount')),
    refundedAt: t.expose('refundedAt', nullableTime('Time of the last refund.')),
    refunds: t.field({
      type: [parts.RefundRef],
      description: 'Completed refunds; see `refundAttempts` for all attempts.',
      resolve: ({ refunds, currency }) => refunds.map((refund) => ({ ...refund, currency })),
    }),
    for: t.exposeInt('admits', { description: 'Number of people that the ticket admits.' }),
    enter: t.exposeInt('entered', { description: 'Number of people inside now.' }),
    entryTime: t.expose('lastEntryAt', nullableTime('Time of the last entry; null if nobody has entered.')),
    totalSupplements: t.float(amountOf('Total of the supplements.', 'supplementsAmount')),
    totalFees: t.float(amountOf('Total of the fees that the buyer pays.', 'organizationFeeAmount')),
    totalPrice: t.float(
      amountOf('Total of price, supplements, fees and warranty, minus the discount.', 'totalAmount'),
    ),
    invoiceReference: t.exposeString(
      'invoiceReference',
      nullable('Invoice reference; null until the ticket is paid, and always null for a total of 0.'),
    ),
    correctiveInvoiceReferences: t.exposeStringList('correctiveInvoiceReferences', {
      description: 'References of the corrective invoices, one per refund.',
    }),
    createdAt: t.expose('createdAt', time('Time of the checkout.')),
    updatedAt: t.expose('updatedAt', time('Time of the last change of the ticket.')),
    activationDate: t.expose('activatedAt', nullableTime('Time of payment; null unless paid.')),
    event: t.field({
      type: EventRef,
      ...whileGranted('Event of the ticket.'),
      resolve: (ticket, _args, { loaders }) => loaders.load(eventById, ticket.eventId),
    }),
    ticketRate: t.field({
      type: TicketRateRef,
      ...whileGranted('Ticket rate of the ticket.'),
      resolve: (ticket, _args, { loaders }) => loaders.load(ticketRateById, ticket.ticketRateId),
    }),
    price: t.field({
      type: PriceRef,
      ...nullable('Price that the ticket was sold at, with the amounts of that time.'),
      resolve: async (ticket, _args, { loaders }) => {
        const price = await loaders.load(priceById, ticket.priceId)
        return price && views.priceAsSold(price, ticket)
      },
    }),
    payment: t.field({
      type: PaymentRef,
      ...nullable('Payment of the checkout.'),
      // Leads back up the graph, so the selection below it repeats for each ticket of the payment.
      complexity: { field: 1, multiplier: 10 },
      resolve: (ticket, _args, { loaders }) => loaders.loadBeside(paymentById, ticket.paymentId, ticket),
    }),
    // Fields that only the REST lookup has, or that it names differently.
    code: t.exposeString('qrCode', aliasOf('qrCode')),
    rateId: t.exposeID('ticketRateId', aliasOf('ticketRateId')),
    rateName: t.string({
      ...whileGranted('Name of the ticket rate.'),
      resolve: fromLookup(({ rateName }) => rateName),
    }),
    rateSlug: t.string({
      ...whileGranted('Slug of the ticket rate.'),
      resolve: fromLookup(({ rateSlug }) => rateSlug),
    }),
    name: t.exposeString('fullName', aliasOf('fullName')),
    country: t.exposeString('countryCode', { nullable: true, ...aliasOf('countryCode') }),
    language: t.exposeString(
      'language',
      nullable('Language that the attendee is addressed in, as an ISO 639-1 code; null if it is not known.'),
    ),
    entryDate: t.int({
      deprecationReason: 'Use `entryTime`, which is null if nobody has entered.',
      description: 'Time of the last entry in Unix seconds; 0 if nobody has entered.',
      resolve: views.entryDate,
    }),
    totalExtras: t.float(amount('Total of supplements and warranty.', views.totalExtras)),
    totalPaid: t.float(amount('Amount paid; 0 unless paid.', views.totalPaid)),
    raised: t.float(amount('Amount that the organization keeps after refunds and commission.', views.raised)),
    priceInfo: t.field({
      type: parts.PriceInfoRef,
      description:
        'Price that the ticket was sold at, in the shape of REST `GET /integrations/tickets/{id}`.',
      resolve: fromLookup((ticket) => ticket),
    }),
    saleType: t.expose('saleType', { type: parts.SaleTypeRef, description: 'Way of selling.' }),
    referralId: t.exposeString(
      'referralId',
      nullable('Identifier that the channel has for whoever referred the buyer; null if it named nobody.'),
    ),
    discountQuantitySubtract: t.float(
      amountOf('Amount that a discount took off the price.', 'discountAmount'),
    ),
    documentUrl: t.string({
      nullable: true,
      description:
        'URL of the ticket as a PDF, for the buyer. Anybody with this URL can use the ticket. Null before payment and after cancellation.',
      resolve: (ticket, _args, { services }) => views.documentUrl(ticket, services.publicUrl()),
    }),
    discount: t.field({
      type: DiscountRef,
      nullable: true,
      description:
        'Discount that the ticket was sold with; null if there was none, and to channels: codes are for integrations.',
      resolve: ({ discountId }, _args, { loaders }) =>
        discountId === null ? null : loaders.load(discountById, discountId),
    }),
  }),
})

builder.objectField(PaymentRef, 'tickets', (t) =>
  t.field({
    type: [TicketRef],
    // As many as a checkout has; a payment of invitations may have twice as many.
    complexity: { field: 1, multiplier: maxTickets },
    description: 'Tickets of this payment.',
    resolve: (payment, _args, { loaders }) => loaders.loadBeside(ticketsByPaymentId, payment.id, payment),
  }),
)

builder.queryField('ticket', (t) =>
  t.field({
    type: TicketRef,
    nullable: true,
    extensions: {
      needs: {
        caller: 'any',
        scope: 'tickets:read',
        prefetch: { context: createLookupContext, idAt: ['id'] },
      },
    },
    description:
      'Finds a ticket by its identifier: a channel finds tickets that it sold, an integration those of its organization. Null if there is none.',
    args: { id: t.arg.id({ required: true, description: 'Ticket identifier.' }) },
    resolve: (_root, { id }, ctx) => ctx.loaders.get(ticketById).get(id),
  }),
)
