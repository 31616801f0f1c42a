import {
  amountOf,
  builder,
  enumOf,
  NodeRef,
  nullable,
  nullableAmount,
  nullableTime,
} from '../../graphql/builder.ts'
import type { Context } from '../../request/context.ts'
import { pricesByTicketRateId, questionById, supplementById, visiblePriceById } from './loaders.ts'
import { currentPrice, leftOf, shownFee, soldOf } from './sale-rules.ts'
import type { Left, Price, Question, Supplement } from './table.ts'

export const AvailabilityRef = builder.objectRef<Left>('Availability').implement({
  description: 'Number of places sold and left.',
  fields: (t) => ({
    sold: t.int({
      description: 'Number of places sold, here and elsewhere before the import.',
      resolve: soldOf,
    }),
    available: t.int({
      ...nullable('Number of places left after sales and holds; null if unlimited.'),
      resolve: leftOf,
    }),
  }),
})

const FeeTypeRef = enumOf<Price['feeType']>('FeeType', 'Unit of a fee.', {
  percentage: 'Percentage of the price.',
  fixed: 'Amount in major units.',
})

const QuestionTypeRef = enumOf<Question['type']>('QuestionType', 'Kind of answer that a question takes.', {
  dropdown: 'One of the `items`.',
  text: 'Text of at most 500 characters.',
  checkbox: '`true` or `false`.',
})

// A rate that doesn't show all prices lists the current one alone.
const findPrices = (ids: string[], { loaders, now }: Context) =>
  Promise.all(
    ids.map(async (id) => {
      const price = await loaders.load(visiblePriceById, id)
      if (!price || price.showAllPrices) return price
      const prices = await loaders.load(pricesByTicketRateId, price.ticketRateId)
      return currentPrice(prices, now)?.id === id ? price : null
    }),
  )

export const PriceRef = builder.objectRef<Price>('Price').implement({
  description:
    'Price step of a ticket rate, such as early bird, regular or late. Amounts are in major units, such as 10.5 for €10.50.',
  interfaces: [NodeRef],
  extensions: { node: { scope: 'catalogue', find: findPrices } },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Display name.' }),
    price: t.float(amountOf('Amount without fees.', 'amount')),
    currency: t.exposeString('currency', { description: 'Currency, as an ISO 4217 code.' }),
    validUntil: t.expose(
      'validUntil',
      nullableTime('Time until which tickets can be bought at this price; null means until the sale ends.'),
    ),
    quantity: t.int({
      description: 'Maximum number of tickets sold at this price; 0 means no limit of its own.',
      resolve: (price) => price.capacity ?? 0,
    }),
    availability: t.field({
      type: AvailabilityRef,
      // Read with the price.
      complexity: { field: 0, multiplier: 0 },
      description:
        'Number of tickets sold and left at this price; `available` is null if the price has no limit of its own. No more can be sold than the rate has left.',
      resolve: (price) => price,
    }),
    includes: t.exposeString('includes', nullable('Description of what the price includes.')),
    additionalInfo: t.exposeString('additionalInfo', nullable('Additional information for the buyer.')),
    feeType: t.expose('feeType', { type: FeeTypeRef, description: 'Unit of `feeQuantity`.' }),
    feeQuantity: t.float({
      description: 'Fee added to the price: a percentage or an amount.',
      resolve: shownFee,
    }),
  }),
})

export const SupplementRef = builder.objectRef<Supplement>('Supplement').implement({
  description: 'Extra that can be bought with a ticket. Amounts are in major units, such as 10.5 for €10.50.',
  interfaces: [NodeRef],
  extensions: { node: { scope: 'catalogue', load: supplementById } },
  fields: (t) => ({
    label: t.exposeString('label', { description: 'Display name.' }),
    description: t.exposeString('description', nullable('Description; null if it has none.')),
    productQuantity: t.exposeInt('productQuantity', {
      description: 'Number of items that a buyer gets, such as 3 for three drinks.',
    }),
    price: t.float(amountOf('Price of the supplement.', 'amount')),
    hasFakePrice: t.exposeBoolean('hasFakePrice', {
      description: 'True if `fakePrice` is to be shown struck through.',
    }),
    fakePrice: t.float(nullableAmount('Price to show struck through.', ({ fakeAmount }) => fakeAmount)),
  }),
})

export const QuestionRef = builder.objectRef<Question>('Question').implement({
  description: 'Question that the buyer answers for each ticket.',
  interfaces: [NodeRef],
  extensions: { node: { scope: 'catalogue', load: questionById } },
  fields: (t) => ({
    label: t.exposeString('label', { description: 'Question text.' }),
    type: t.expose('type', { type: QuestionTypeRef, description: 'Kind of answer.' }),
    required: t.exposeBoolean('required', { description: 'True if an answer is required.' }),
    items: t.exposeStringList('items', { description: 'Choices of a dropdown.' }),
  }),
})
