import type { Loader, PromiseOrValue } from '../../engine/data/loader.ts'
import {
  amount,
  amountOf,
  builder,
  enumOf,
  NodeRef,
  nullable,
  nullableAmount,
  nullableTime,
} from '../../engine/graphql/builder.ts'
import type { LoaderDefinition } from '../../engine/request/loaders.ts'
import { type Context, isPublic, loadNamed } from '../caller/context.ts'
import type { Counters } from '../stock/table.ts'
import { leftOf, soldOf } from '../stock/table.ts'
import { priceById, pricesByTicketRateId, questionById, supplementById, ticketRateById } from './loaders.ts'
import { currentPrice, feeOf, totalAmountOf } from './sale-rules.ts'
import type { Price, Question, QuestionOption, Supplement, TicketRate } from './table.ts'

export const AvailabilityRef = builder.objectRef<Counters>('Availability').implement({
  description: 'Number of places sold and left.',
  fields: (t) => ({
    sold: t.int({
      ...nullable(
        'Number of places sold, also elsewhere before the event was listed here; null for a publishable key.',
      ),
      resolve: (stock, _args, ctx) => (isPublic(ctx) ? null : soldOf(stock)),
    }),
    available: t.int({
      ...nullable('Number of places left after sales and holds; null if `unlimited`.'),
      resolve: leftOf,
    }),
    unlimited: t.boolean({
      description: 'True if any number of places may be sold.',
      resolve: (stock) => leftOf(stock) === null,
    }),
  }),
})

const QuestionTypeRef = enumOf<Question['type']>(
  'QuestionType',
  'Kind of answer that a question takes. Values may be added: treat an unknown one as `TEXT`.',
  {
    dropdown: 'One of the `options`.',
    text: 'Text of at most 500 characters.',
    checkbox: 'A tick, or none.',
  },
)

type Part = Price | Supplement | Question

/** Makes the function that finds parts of rates that the caller may see. */
const findOfRates =
  <One extends Part>(
    definition: LoaderDefinition<Loader<One | null>>,
    isListed: (part: One, rate: TicketRate, ctx: Context) => PromiseOrValue<boolean> = () => true,
  ) =>
  (ids: string[], ctx: Context): Promise<(One | null)[]> =>
    Promise.all(
      ids.map(async (id) => {
        const part = await ctx.loaders.load(definition, id)
        const rate = part && (await loadNamed(ctx, ticketRateById, part.ticketRateId))
        return rate && (await isListed(part, rate, ctx)) ? part : null
      }),
    )

// A rate that doesn't show all prices lists the current one alone.
const isPriceListed = async ({ id }: Price, rate: TicketRate, { loaders, now }: Context) =>
  rate.showAllPrices || currentPrice(await loaders.load(pricesByTicketRateId, rate.id), now)?.id === id

export const PriceRef = builder.objectRef<Price>('Price').implement({
  description: 'Price step of a ticket rate, such as early bird, regular or late.',
  interfaces: [NodeRef],
  extensions: { node: { scope: 'catalogue', find: findOfRates(priceById, isPriceListed) } },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Display name.' }),
    price: t.field(amountOf('Amount without the fee.', 'amount')),
    fee: t.field(amount('Fee on top of the price.', (price) => feeOf(price, price.amount))),
    total: t.field(
      amount(
        'Amount that the buyer pays for a ticket without supplements, warranty and discount: price and fee.',
        totalAmountOf,
      ),
    ),
    validUntil: t.expose(
      'validUntil',
      nullableTime('Time until which tickets can be bought at this price; null means until the sale ends.'),
    ),
    limit: t.exposeInt(
      'capacity',
      nullable('Maximum number of tickets sold at this price; null if it has no limit of its own.'),
    ),
    availability: t.field({
      type: AvailabilityRef,
      // Read with the price.
      complexity: { field: 0, multiplier: 0 },
      description:
        'Number of tickets sold and left at this price; `unlimited` if the price has no limit of its own. No more can be sold than the rate has left.',
      resolve: (price) => price,
    }),
    includes: t.exposeString('includes', nullable('Description of what the price includes.')),
    additionalInfo: t.exposeString('additionalInfo', nullable('Additional information for the buyer.')),
  }),
})

/** Amount to show struck through beside a supplement's own, in minor units; null if there is none. */
export const compareAt = ({
  hasFakePrice,
  fakeAmount,
}: Pick<Supplement, 'hasFakePrice' | 'fakeAmount'>): number | null => (hasFakePrice ? fakeAmount : null)

export const SupplementRef = builder.objectRef<Supplement>('Supplement').implement({
  description: 'Extra that can be bought with a ticket, such as three drinks.',
  interfaces: [NodeRef],
  extensions: { node: { scope: 'catalogue', find: findOfRates(supplementById) } },
  fields: (t) => ({
    name: t.exposeString('label', { description: 'Display name.' }),
    description: t.exposeString('description', nullable('Description; null if it has none.')),
    count: t.exposeInt('productQuantity', {
      description: 'Number of items that a buyer gets, such as 3 for three drinks.',
    }),
    price: t.field(amountOf('Price of the supplement.', 'amount')),
    compareAtPrice: t.field(
      nullableAmount('Price to show struck through; null if there is none.', compareAt),
    ),
  }),
})

export const QuestionOptionRef = builder.objectRef<QuestionOption>('QuestionOption').implement({
  description: 'Choice of a dropdown.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description: 'Globally unique identifier, which stays when the label is mended or translated.',
    }),
    label: t.exposeString('label', { description: 'Text of the choice.' }),
  }),
})

export const QuestionRef = builder.objectRef<Question>('Question').implement({
  description: 'Question that the buyer answers for each ticket.',
  interfaces: [NodeRef],
  extensions: { node: { scope: 'catalogue', find: findOfRates(questionById) } },
  fields: (t) => ({
    label: t.exposeString('label', { description: 'Question text.' }),
    type: t.expose('type', { type: QuestionTypeRef, description: 'Kind of answer.' }),
    required: t.exposeBoolean('required', { description: 'True if an answer is required.' }),
    options: t.expose('options', {
      type: [QuestionOptionRef],
      // Read with the question.
      complexity: { field: 1, multiplier: 0 },
      description: 'Choices of a dropdown; empty for other types.',
    }),
  }),
})
