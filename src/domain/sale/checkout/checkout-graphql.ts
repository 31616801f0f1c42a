import { builder } from '../../../graphql/builder.ts'
import { catchRefusal, isRefused } from '../../../graphql/mutation-result.ts'
import { type Context, requireChannel } from '../../../request/context.ts'
import * as scalars from '../../../shared/input-types.ts'
import { toMajor } from '../../../shared/money.ts'
import { PaymentRef } from '../../payment/graphql.ts'
import { TicketRef } from '../../ticket/graphql.ts'
import { maxTickets } from '../../ticket/max-tickets.ts'
import { TicketRateRef } from '../../ticket-rate/graphql.ts'
import { PriceRef } from '../../ticket-rate/parts-graphql.ts'
import { checkoutInput } from './checkout-input.ts'
import { type CheckoutAnswer, checkoutTickets } from './checkout-tickets.ts'
import { CheckoutInputRef } from './input-graphql.ts'
import type { CheckoutPlan } from './plan-checkout.ts'
import type { PricedTicket } from './price-tickets.ts'
import { quoteCheckout } from './quote-checkout.ts'
import { CheckoutRefusedRef } from './refused-graphql.ts'

const CheckoutPayloadRef = builder.objectRef<CheckoutAnswer>('CheckoutPayload').implement({
  description: 'A checkout that was made: its tickets are held until the payment expires.',
  fields: (t) => ({
    payment: t.field({
      type: PaymentRef,
      description: 'What is to be paid.',
      resolve: ({ payment }) => payment,
    }),
    tickets: t.field({
      type: [TicketRef],
      complexity: { field: 1, multiplier: maxTickets },
      description: 'One ticket per entry.',
      resolve: ({ tickets }) => tickets,
    }),
    totalAmount: t.float({
      description: 'What the buyer pays, in major units.',
      resolve: ({ payment }) => toMajor(payment.totalAmount, payment.currency),
    }),
    conditionsChanged: t.boolean({
      description:
        "A named price can't be bought any more and the current one took its place: show the new total first.",
      resolve: ({ payment }) => payment.conditionsChanged,
    }),
    idempotentReplayed: t.exposeBoolean('replayed', {
      description: 'Whether this is an earlier answer again, under the same idempotency key.',
    }),
  }),
})

type Quoted = PricedTicket & { currency: string }

const QuotedTicketRef = builder.objectRef<Quoted>('QuotedTicket').implement({
  description: 'What one ticket would cost. Major units.',
  fields: (t) => {
    const amount = (description: string, of: (ticket: Quoted) => number) =>
      t.float({ description, resolve: (ticket) => toMajor(of(ticket), ticket.currency) })
    return {
      price: t.field({
        type: PriceRef,
        description: 'The price it would be sold at.',
        resolve: ({ price }) => price,
      }),
      totalSupplements: amount('Its supplements.', (ticket) => ticket.supplementsAmount),
      totalFees: amount('The fee on top of the price.', (ticket) => ticket.organizationFeeAmount),
      totalWarranty: amount('Its warranty.', (ticket) => ticket.warrantyAmount),
      totalPrice: amount('Price, supplements, fees and warranty.', (ticket) => ticket.totalAmount),
    }
  },
})

const CheckoutQuoteRef = builder.objectRef<CheckoutPlan>('CheckoutQuote').implement({
  description: 'What a checkout would sell, and for how much. Nothing is held.',
  fields: (t) => ({
    ticketRate: t.field({
      type: TicketRateRef,
      description: 'The ticket rate.',
      resolve: ({ rate }) => rate,
    }),
    tickets: t.field({
      type: [QuotedTicketRef],
      complexity: { field: 1, multiplier: maxTickets },
      description: 'One per entry.',
      resolve: ({ tickets, currency }) => tickets.map((ticket) => ({ ...ticket, currency })),
    }),
    totalAmount: t.float({
      description: 'What the buyer would pay, in major units.',
      resolve: ({ totalAmount, currency }) => toMajor(totalAmount, currency),
    }),
    currency: t.exposeString('currency', { description: 'ISO 4217 code.' }),
    conditionsChanged: t.exposeBoolean('conditionsChanged', {
      description: "Whether a named price can't be bought any more and the current one would take its place.",
    }),
  }),
})

const CheckoutResultRef = builder.unionType('CheckoutResult', {
  description: 'A checkout, or why there is none.',
  types: [CheckoutPayloadRef, CheckoutRefusedRef],
  resolveType: (result) => (isRefused(result) ? CheckoutRefusedRef : CheckoutPayloadRef),
})

const QuoteResultRef = builder.unionType('QuoteResult', {
  description: 'A quote, or why such a checkout would be refused.',
  types: [CheckoutQuoteRef, CheckoutRefusedRef],
  resolveType: (result) => (isRefused(result) ? CheckoutRefusedRef : CheckoutQuoteRef),
})

const args = { input: 'What is bought, and for whom.' }

builder.queryField('quoteCheckout', (t) =>
  t.field({
    type: QuoteResultRef,
    description: 'What a checkout would cost, by the same rules and prices, holding nothing.',
    args: { input: t.arg({ type: CheckoutInputRef, required: true, description: args.input }) },
    resolve: (_root, { input }, ctx: Context) =>
      catchRefusal(
        async () => requireChannel(ctx) && quoteCheckout(scalars.parse(checkoutInput, input), ctx),
      ),
  }),
)

builder.mutationField('checkout', (t) =>
  t.field({
    type: CheckoutResultRef,
    description: 'Holds tickets of one rate and creates the payment for them. All tickets or none.',
    args: { input: t.arg({ type: CheckoutInputRef, required: true, description: args.input }) },
    resolve: (_root, { input }, ctx: Context) =>
      catchRefusal(
        async () => requireChannel(ctx) && checkoutTickets(scalars.parse(checkoutInput, input), ctx),
      ),
  }),
)
