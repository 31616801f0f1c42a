import { type PromiseOrValue, whenKnown } from '../../data/loader.ts'
import { amount, builder, nullable } from '../../graphql/builder.ts'
import type { Context } from '../../request/context.ts'
import { DiscountRef } from '../discount/graphql.ts'
import { discountById } from '../discount/loaders.ts'
import { TicketRef } from './graphql.ts'
import { ticketById } from './loaders.ts'
import * as parts from './parts-graphql.ts'
import type { LookupTicket, Ticket } from './table.ts'
import * as views from './views.ts'

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

// Fields that only the REST lookup has, or that it names differently.
builder.objectFields(TicketRef, (t) => ({
  code: t.exposeString('qrCode', aliasOf('qrCode')),
  rateId: t.exposeID('ticketRateId', aliasOf('ticketRateId')),
  rateName: t.string({
    nullable: true,
    description:
      "Name of the ticket rate. Null if the organization has withdrawn the calling channel's access.",
    resolve: fromLookup(({ rateName }) => rateName),
  }),
  rateSlug: t.string({
    nullable: true,
    description:
      "Slug of the ticket rate. Null if the organization has withdrawn the calling channel's access.",
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
    description: 'Price that the ticket was sold at, in the shape of REST `GET /integrations/tickets/{id}`.',
    resolve: fromLookup((ticket) => ticket),
  }),
  saleType: t.expose('saleType', { type: parts.SaleTypeRef, description: 'Way of selling.' }),
  referralId: t.exposeString(
    'referralId',
    nullable('Identifier that the channel has for whoever referred the buyer; null if it named nobody.'),
  ),
  discountQuantitySubtract: t.float(
    amount('Amount that a discount took off the price.', ({ discountAmount }) => discountAmount),
  ),
  discount: t.field({
    type: DiscountRef,
    nullable: true,
    description:
      'Discount that the ticket was sold with; null if there was none, and to channels: codes are for integrations.',
    resolve: ({ discountId }, _args, { loaders }) =>
      discountId === null ? null : loaders.load(discountById, discountId),
  }),
}))
