import { amount } from '../../graphql/amount.ts'
import { builder } from '../../graphql/builder.ts'
import { toMajor } from '../../shared/money.ts'
import type { Price, Question, Supplement } from './table.ts'

export const PriceRef = builder.objectRef<Price>('Price').implement({
  description:
    'Price step of a ticket rate, such as early bird, regular or late. Amounts are in major units, such as 10.5 for €10.50.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Price identifier, which a checkout refers to.' }),
    name: t.exposeString('name', { description: 'Display name.' }),
    price: t.float(amount('Amount without fees.', (price) => price.amount)),
    currency: t.exposeString('currency', { description: 'Currency, as an ISO 4217 code.' }),
    validUntil: t.expose('validUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'Time until which tickets can be bought at this price; null means until the sale ends.',
    }),
    quantity: t.int({
      description: 'Maximum number of tickets sold at this price; 0 means no limit of its own.',
      resolve: (price) => price.capacity ?? 0,
    }),
    includes: t.exposeString('includes', {
      nullable: true,
      description: 'Description of what the price includes.',
    }),
    additionalInfo: t.exposeString('additionalInfo', {
      nullable: true,
      description: 'Additional information for the buyer.',
    }),
    feeType: t.exposeString('feeType', {
      description: 'Unit of `feeQuantity`: `percentage` of the price, or `fixed` amount.',
    }),
    feeQuantity: t.float({
      description: 'Fee added to the price: a percentage or an amount.',
      resolve: (price) =>
        price.feeType === 'fixed' ? toMajor(price.feeQuantity, price.currency) : price.feeQuantity,
    }),
  }),
})

export const SupplementRef = builder.objectRef<Supplement>('Supplement').implement({
  description: 'Extra that can be bought with a ticket. Amounts are in major units, such as 10.5 for €10.50.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Supplement identifier, which a checkout refers to.' }),
    label: t.exposeString('label', { description: 'Display name.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'Description; null if it has none.',
    }),
    productQuantity: t.exposeInt('productQuantity', {
      description: 'Number of items that a buyer gets, such as 3 for three drinks.',
    }),
    price: t.float(amount('Price of the supplement.', (supplement) => supplement.amount)),
    hasFakePrice: t.exposeBoolean('hasFakePrice', {
      description: 'True if `fakePrice` is to be shown struck through.',
    }),
    fakePrice: t.float({
      nullable: true,
      description: 'Price to show struck through.',
      resolve: ({ fakeAmount, currency }) => (fakeAmount === null ? null : toMajor(fakeAmount, currency)),
    }),
  }),
})

export const QuestionRef = builder.objectRef<Question>('Question').implement({
  description: 'Question that the buyer answers for each ticket.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Question identifier, which an answer refers to.' }),
    label: t.exposeString('label', { description: 'Question text.' }),
    type: t.exposeString('type', {
      description:
        'Kind of answer: `dropdown` takes one of `items`, `text` up to 500 characters, `checkbox` `true` or `false`.',
    }),
    required: t.exposeBoolean('required', { description: 'True if an answer is required.' }),
    items: t.exposeStringList('items', { description: 'Choices of a dropdown.' }),
  }),
})
