import { type GraphQLResolveInfo, Kind, visit } from 'graphql'
import type { z } from 'zod'
import { personalDocumentType } from '../../../engine/base/input-types.ts'
import { parseRequest } from '../../../engine/base/parse.ts'
import { builder, fieldOf, nullable, part, queryField } from '../../../engine/graphql/builder.ts'
import { inputOf, inputTypes } from '../../../engine/graphql/input-of.ts'
import { mutation, resultOf } from '../../../engine/graphql/mutation-result.ts'
import type { FieldNeeds } from '../../../engine/graphql/needs.ts'
import { catchRefusal } from '../../../engine/graphql/problems.ts'
import type { Context } from '../../caller/context.ts'
import { refusal } from '../../contract/problem-codes.ts'
import { AvailabilityErrorRef } from '../../contract/refusals-graphql.ts'
import { PaymentRef } from '../../payment/graphql.ts'
import { TicketRef } from '../../ticket/graphql.ts'
import { AmountsRef, DocumentTypeRef, partsOfTotal } from '../../ticket/parts-graphql.ts'
import { TicketRateRef } from '../../ticket-rate/graphql.ts'
import { ticketRateById } from '../../ticket-rate/loaders.ts'
import { PriceRef } from '../../ticket-rate/parts-graphql.ts'
import { maxTickets } from '../../ticket-rate/table.ts'
import { supplementInput } from './checkout-input.ts'
import { checkoutTickets, quoteCheckout } from './checkout-tickets.ts'
import * as inputs from './items-input.ts'
import type { CheckoutPlan } from './plan-checkout.ts'
import type { PricedTicket } from './price-tickets.ts'
import type { CheckoutAnswer } from './sell-tickets.ts'
import { createCheckoutContext } from './terms-loaders.ts'

inputTypes.add(personalDocumentType, { type: DocumentTypeRef })
inputOf('AnswerValueInput', inputs.answerValue, { isOneOf: true })
inputOf('AnswerInput', inputs.answer)
inputOf('SupplementInput', supplementInput)
inputOf('AddressInput', inputs.address)
inputOf('IdentityDocumentInput', inputs.identityDocument)
inputOf('AttendeeInput', inputs.attendee)
inputOf('TicketInput', inputs.ticket)
inputOf('QuotedTicketInput', inputs.quotedTicket)
inputOf('CheckoutItemInput', inputs.item)
inputOf('QuotedItemInput', inputs.quotedItem)

/** Tickets that a mutation has sold, with their rate. */
export type Sold = CheckoutAnswer & { ticketRateId: string }

type SaleFields = Parameters<typeof mutation<z.ZodType<unknown, object>, Sold>>[1]['fields']

/** Fields of the payload of a sale. */
export const saleFields =
  (texts: { payment: string; tickets: string }, maxCount = maxTickets): SaleFields =>
  (t) => ({
    payment: t.expose('payment', { type: PaymentRef, description: texts.payment }),
    tickets: t.field({
      type: [TicketRef],
      ...nullable(texts.tickets),
      complexity: { field: 1, multiplier: maxCount },
      resolve: ({ tickets }, _args, { caller }) => (caller?.kind === 'publishable' ? null : tickets),
    }),
    ticketRates: t.field({
      type: [TicketRateRef],
      complexity: { field: 1, multiplier: 1 },
      description: 'Ticket rates of the tickets, with what is left of them now.',
      resolve: async ({ ticketRateId }, _args, { loaders }) => {
        const rate = await loaders.load(ticketRateById, ticketRateId)
        return rate ? [rate] : []
      },
    }),
  })

const QuotedTicketRef = builder.objectRef<PricedTicket>('QuotedTicket').implement({
  description: 'Ticket as a checkout would sell it.',
  fields: (t) => ({
    price: t.expose('price', {
      type: PriceRef,
      description: 'Price of the rate that the ticket would be sold at.',
    }),
    amounts: t.field(part(AmountsRef, 'Cost of the ticket, part by part.')),
  }),
})

const QuotedItemRef = builder.objectRef<CheckoutPlan>('QuotedItem').implement({
  description: 'Quoted tickets of one rate.',
  fields: (t) => ({
    ticketRate: t.expose('rate', { type: TicketRateRef, description: 'Their ticket rate.' }),
    tickets: t.expose('tickets', {
      type: [QuotedTicketRef],
      complexity: { field: 1, multiplier: maxTickets },
      description: 'Quoted tickets, in the order of the input.',
    }),
  }),
})

const CheckoutQuoteRef = builder.objectRef<CheckoutPlan>('CheckoutQuote').implement({
  description: 'Quote for a checkout, which holds nothing.',
  fields: (t) => ({
    items: t.field({
      type: [QuotedItemRef],
      complexity: { field: 1, multiplier: 1 },
      description: 'Quoted items, in the order of the input.',
      resolve: (plan) => [plan],
    }),
    amounts: t.field({
      type: AmountsRef,
      description: 'Cost of all tickets together, part by part.',
      resolve({ tickets, rate }) {
        const sums = partsOfTotal.map((part) => [
          part,
          tickets.reduce((sum, ticket) => sum + ticket[part], 0),
        ])
        const parts = Object.fromEntries(sums) as Record<(typeof partsOfTotal)[number], number>
        return { currency: rate.currency, ...parts }
      },
    }),
    conditionsChanged: t.exposeBoolean('conditionsChanged', {
      description:
        "True if a requested price is no longer available and the rate's current price would replace it.",
    }),
  }),
})

fieldOf(AvailabilityErrorRef, 'ticketRate', {
  type: TicketRateRef,
  nullable: true,
  description:
    'Ticket rate that has too few places left, as it is now; null if it is the discount that has too few uses left.',
  resolve: ({ code, about }, _args, { loaders }) =>
    code !== 'DISCOUNT_USED_UP' && about?.ticketRateId
      ? loaders.load(ticketRateById, about.ticketRateId)
      : null,
})

const needs: FieldNeeds = {
  caller: 'selling',
  scope: 'none',
  prefetch: { context: createCheckoutContext, idAt: ['input', 'items', 0, 'ticketRateId'] },
}

const sales = new Set(['checkout', 'quoteCheckout'])

// Limits count requests, so whoever has a publishable key makes one of these at a time (DECISIONS 145).
function requireOneSale({ caller }: Context, { operation, fragments }: GraphQLResolveInfo): void {
  if (caller?.kind !== 'publishable') return
  let count = 0
  const document = { kind: Kind.DOCUMENT, definitions: [operation, ...Object.values(fragments)] } as const
  visit(document, {
    Field({ name }) {
      if (sales.has(name.value)) count++
    },
  })
  if (count > 1)
    throw refusal('QUERY_TOO_COMPLEX', 'With a publishable key an operation may check out or quote once.')
}

const QuoteCheckoutResultRef = resultOf('QuoteCheckout', CheckoutQuoteRef)
const QuoteCheckoutInputRef = inputOf('QuoteCheckoutInput', inputs.quoteInput)

queryField('quoteCheckout', {
  type: QuoteCheckoutResultRef,
  description: 'Tells what a checkout would cost, by its rules and prices, and holds nothing.',
  needs,
  args: builder.args((t) => ({
    input: t.field({ type: QuoteCheckoutInputRef, required: true, description: 'Tickets to quote.' }),
  })),
  resolve: (_root, args, ctx: Context, info) => {
    requireOneSale(ctx, info)
    return catchRefusal(() => {
      const { items, discountCode } = parseRequest(inputs.quoteInput, args.input)
      return inputs.sellItems(items, (asked) => quoteCheckout({ ...asked, discountCode }, ctx))
    })
  },
})

mutation('checkout', {
  description:
    'Creates a payment, and holds its tickets, all or none, until it is paid or expires. A total of 0 is paid at once.',
  input: inputs.checkoutInput,
  parse: parseRequest,
  needs,
  async run({ items, ...input }, ctx, info) {
    requireOneSale(ctx, info)
    return inputs.sellItems(items, (asked) => checkoutTickets({ ...input, ...asked }, ctx))
  },
  payload: 'Tickets that are held until the payment expires, or paid if the total is 0.',
  fields: (t) => ({
    ...saleFields({
      payment: 'Payment; send the buyer to its `pageUrl`.',
      tickets: 'Tickets, in the order of the input; null for a publishable key.',
    })(t),
    conditionsChanged: t.boolean({
      description:
        "True if a requested price was no longer available and the rate's current price replaced it, or if the total is lower than `expectedTotal`. Show the buyer the new total before asking for payment.",
      resolve: ({ payment }) => payment.conditionsChanged,
    }),
  }),
})
