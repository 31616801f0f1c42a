import { type GraphQLResolveInfo, Kind, visit } from 'graphql'
import { z } from 'zod'
import { amount, amountOf, builder } from '../../../graphql/builder.ts'
import { inputOf, inputTypes } from '../../../graphql/input-of.ts'
import { mutation, objectResult, resultUnion } from '../../../graphql/mutation-result.ts'
import type { FieldNeeds } from '../../../graphql/needs.ts'
import { CheckoutRefusedRef, catchRefusal } from '../../../graphql/problems.ts'
import type { Context } from '../../../request/context.ts'
import { refusal } from '../../../shared/errors.ts'
import { id, personalDocumentType } from '../../../shared/input-types.ts'
import { toMajor } from '../../../shared/money.ts'
import { parseRequest } from '../../../shared/parse.ts'
import { PaymentRef } from '../../payment/graphql.ts'
import { TicketRef } from '../../ticket/graphql.ts'
import { DocumentTypeRef } from '../../ticket/parts-graphql.ts'
import { maxTickets } from '../../ticket/table.ts'
import { TicketRateRef } from '../../ticket-rate/graphql.ts'
import { PriceRef } from '../../ticket-rate/parts-graphql.ts'
import { cancelCheckout } from '../settle/cancel-checkout.ts'
import { answerInput, checkoutInput, supplementInput, ticketInput } from './checkout-input.ts'
import { checkoutTickets, quoteCheckout } from './checkout-tickets.ts'
import type { CheckoutPlan } from './plan-checkout.ts'
import type { PricedTicket } from './price-tickets.ts'
import type { CheckoutAnswer } from './sell-tickets.ts'
import { createCheckoutContext } from './terms-loaders.ts'

inputTypes.add(personalDocumentType, { type: DocumentTypeRef })
inputOf('AnswerInput', answerInput)
inputOf('SupplementInput', supplementInput)
inputOf('CheckoutTicketInput', ticketInput)

type SaleTexts = Record<'what' | 'note' | 'payment' | 'tickets', string> &
  Partial<Record<'totalAmount' | 'conditionsChanged', string>>

/** Defines the result of a sale: its payload, or `CheckoutRefused`. A field without a text is left out. */
export function saleResult(name: string, payloadName: string, texts: SaleTexts, maxCount = maxTickets) {
  const { what, note, totalAmount, conditionsChanged } = texts
  const payload = builder.objectRef<CheckoutAnswer>(payloadName).implement({
    description: `${what}. ${note}`,
    fields: (t) => ({
      payment: t.expose('payment', { type: PaymentRef, description: texts.payment }),
      tickets: t.expose('tickets', {
        type: [TicketRef],
        complexity: { field: 1, multiplier: maxCount },
        description: texts.tickets,
      }),
      ...(totalAmount && {
        totalAmount: t.float({
          description: totalAmount,
          resolve: ({ payment }) => toMajor(payment.totalAmount, payment.currency),
        }),
      }),
      ...(conditionsChanged && {
        conditionsChanged: t.boolean({
          description: conditionsChanged,
          resolve: ({ payment }) => payment.conditionsChanged,
        }),
      }),
      idempotentReplayed: t.exposeBoolean('replayed', {
        description: 'True if this repeats an earlier result under the same idempotency key.',
      }),
    }),
  })
  return resultUnion(name, payload, `${what}, or the reasons for the refusal.`, CheckoutRefusedRef)
}

const CheckoutResultRef = saleResult('CheckoutResult', 'CheckoutPayload', {
  what: 'Successful checkout',
  note: 'The tickets are held until the payment expires. With a total of 0 they are paid already.',
  payment: 'Payment; send the buyer to its `url`.',
  tickets: 'Tickets, one per entry of the input; empty with a publishable key.',
  totalAmount: 'Amount that the buyer pays, in major units, such as 10.5 for €10.50.',
  conditionsChanged:
    "True if a requested price was no longer available and the rate's current price replaced it, or if the total is lower than `expectedTotal`. Show the buyer the new total before asking for payment.",
})

const QuotedTicketRef = builder.objectRef<PricedTicket>('QuotedTicket').implement({
  description: 'Price of one ticket in a quote. Amounts are in major units, such as 10.5 for €10.50.',
  fields: (t) => ({
    price: t.expose('price', {
      type: PriceRef,
      description: 'Price of the rate that the ticket would be sold at.',
    }),
    totalDiscount: t.float(amountOf('Amount that the discount takes off the price.', 'discountAmount')),
    totalSupplements: t.float(amountOf('Sum of the supplements.', 'supplementsAmount')),
    totalFees: t.float(amountOf('Fee on top of the price.', 'organizationFeeAmount')),
    totalWarranty: t.float(amountOf('Price of the warranty; 0 if none.', 'warrantyAmount')),
    totalPrice: t.float(
      amountOf('Sum of price, supplements, fees and warranty, minus the discount.', 'totalAmount'),
    ),
  }),
})

const CheckoutQuoteRef = builder.objectRef<CheckoutPlan>('CheckoutQuote').implement({
  description: 'Quote for a checkout. Holds nothing.',
  fields: (t) => ({
    ticketRate: t.expose('rate', { type: TicketRateRef, description: 'Quoted ticket rate.' }),
    tickets: t.expose('tickets', {
      type: [QuotedTicketRef],
      complexity: { field: 1, multiplier: maxTickets },
      description: 'Quoted tickets, one per entry of the input.',
    }),
    totalDiscount: t.float(
      amount(
        'Sum of what the discount takes off the prices, in major units, such as 10.5 for €10.50.',
        ({ tickets }) => tickets.reduce((sum, { discountAmount }) => sum + discountAmount, 0),
      ),
    ),
    totalAmount: t.float(
      amountOf('Amount that the buyer would pay, in major units, such as 10.5 for €10.50.', 'totalAmount'),
    ),
    currency: t.exposeString('currency', { description: 'Currency, as an ISO 4217 code.' }),
    conditionsChanged: t.exposeBoolean('conditionsChanged', {
      description:
        "True if a requested price is no longer available and the rate's current price would replace it, or if the total is another than `expectedTotal`.",
    }),
  }),
})

const QuoteResultRef = resultUnion(
  'QuoteResult',
  CheckoutQuoteRef,
  'Quote, or the reasons why the checkout would be refused.',
  CheckoutRefusedRef,
)

const needs: FieldNeeds = {
  caller: 'selling',
  scope: 'none',
  prefetch: { context: createCheckoutContext, idAt: ['input', 'ticketRateId'] },
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

const CheckoutInputRef = mutation('checkout', {
  description:
    'Holds tickets of one rate, all or none, and creates the payment for them. A total of 0 is paid at once. Channels only.',
  input: checkoutInput,
  argumentDescription: 'Tickets to check out.',
  parse: parseRequest,
  result: CheckoutResultRef,
  needs,
  check: requireOneSale,
  run: checkoutTickets,
})

builder.queryField('quoteCheckout', (t) =>
  t.field({
    type: QuoteResultRef,
    extensions: { needs },
    description:
      'Quotes a checkout by the same rules and prices as `checkout`, but holds nothing. Channels only.',
    args: { input: t.arg({ type: CheckoutInputRef, required: true, description: 'Checkout to quote.' }) },
    resolve: (_root, { input }, ctx: Context, info) => {
      requireOneSale(ctx, info)
      return catchRefusal(async () => quoteCheckout(parseRequest(checkoutInput, input), ctx))
    },
  }),
)

mutation('cancelCheckout', {
  description:
    'Cancels an unpaid checkout of the channel and makes its places available again at once. Channels only. Idempotent: returns a checkout that is already cancelled unchanged.',
  input: z
    .strictObject({ paymentId: id.describe('Identifier of the payment of the checkout.') })
    .describe('Checkout to cancel.'),
  result: objectResult(
    'CancelCheckout',
    ['payment', PaymentRef],
    'Payment of the cancelled checkout',
    'Its places are available again.',
  ),
  needs: { caller: 'channel', scope: 'none' },
  run: async ({ paymentId }, ctx) => ({ payment: await cancelCheckout(paymentId, ctx) }),
})
