import { type PromiseOrValue, whenKnown } from '../../data/loader.ts'
import { builder } from '../../graphql/builder.ts'
import type { Context } from '../../request/context.ts'
import { toMajor } from '../../shared/money.ts'
import { TicketRef } from './graphql.ts'
import { ticketById } from './loaders.ts'
import * as parts from './parts-graphql.ts'
import type { LookupTicket, Ticket } from './table.ts'
import * as views from './views.ts'

/** Resolves to something of a ticket's rate, event or price. A ticket that was not looked up, such as one of a
 *  checkout, is looked up for it. */
const lookedUp =
  <Value>(tell: (ticket: LookupTicket) => Value) =>
  (ticket: Ticket | LookupTicket, _args: object, { loaders }: Context): PromiseOrValue<Value> => {
    if ('rateName' in ticket) return tell(ticket)
    return whenKnown(loaders.get(ticketById).get(ticket.id), (found) => {
      if (!found) throw new Error('who sees a ticket can look it up')
      return tell(found)
    })
  }

// What only the lookup view has, or says in another word.
builder.objectFields(TicketRef, (t) => {
  const amount = (description: string, of: (ticket: Ticket) => number) =>
    t.float({ description, resolve: (ticket) => toMajor(of(ticket), ticket.currency) })
  return {
    code: t.exposeString('qrCode', {
      description: 'The same as `qrCode`, in the word of the lookup view.',
    }),
    rateId: t.exposeID('ticketRateId', {
      description: 'The same as `ticketRateId`, in the word of the lookup view.',
    }),
    rateName: t.string({
      nullable: true,
      description: 'Name of its ticket rate.',
      resolve: lookedUp(({ rateName }) => rateName),
    }),
    rateSlug: t.string({
      nullable: true,
      description: 'Slug of its ticket rate.',
      resolve: lookedUp(({ rateSlug }) => rateSlug),
    }),
    name: t.exposeString('fullName', {
      description: 'The same as `fullName`, in the word of the lookup view.',
    }),
    country: t.exposeString('countryCode', {
      nullable: true,
      description: 'The same as `countryCode`, in the word of the lookup view.',
    }),
    language: t.string({
      nullable: true,
      description: 'Language code; a checkout does not tell it.',
      resolve: () => null,
    }),
    entryDate: t.int({
      description: 'The last entry as unix seconds; 0 when nobody entered.',
      resolve: views.entryDate,
    }),
    totalExtras: amount('Supplements and warranty.', views.totalExtras),
    totalPaid: amount('What was paid for it: 0 while it is pending.', views.totalPaid),
    raised: amount('What the organization keeps of it after refunds and commission.', views.raised),
    priceInfo: t.field({
      type: parts.PriceInfoRef,
      description: 'The price that it was sold at, in the words of the lookup view.',
      resolve: lookedUp((ticket) => ticket),
    }),
    saleType: t.string({ description: '`online`: every ticket here is.', resolve: () => views.saleType }),
    referralId: t.string({
      nullable: true,
      description: 'Who referred the buyer; a checkout does not tell it.',
      resolve: () => null,
    }),
    discountQuantitySubtract: t.float({
      description: 'What a discount took off: there are none.',
      resolve: () => 0,
    }),
  }
})
