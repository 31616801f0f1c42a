import { builder } from '../../graphql/builder.ts'
import { toMajor } from '../../shared/money.ts'
import type { Price, Question, Supplement } from './table.ts'

export const PriceRef = builder.objectRef<Price>('Price').implement({
  description: 'One step of a ticket rate: early bird, regular, late.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its identifier: what a checkout names.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    price: t.float({
      description: 'Amount in major units, without the fee.',
      resolve: (price) => toMajor(price.amount, price.currency),
    }),
    currency: t.exposeString('currency', { description: 'ISO 4217 code.' }),
    validUntil: t.expose('validUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when it can be bought; null is until the sale ends.',
    }),
    quantity: t.int({
      description: 'How many are sold at this price; 0 is no limit of its own.',
      resolve: (price) => price.capacity ?? 0,
    }),
    includes: t.exposeString('includes', { nullable: true, description: 'What comes with it.' }),
    additionalInfo: t.exposeString('additionalInfo', { nullable: true, description: 'What else to know.' }),
    feeType: t.exposeString('feeType', { description: '`percentage` of the price, or `fixed`.' }),
    feeQuantity: t.float({
      description: 'The fee on top of the price: a percentage, or an amount in major units.',
      resolve: (price) =>
        price.feeType === 'fixed' ? toMajor(price.feeQuantity, price.currency) : price.feeQuantity,
    }),
  }),
})

export const SupplementRef = builder.objectRef<Supplement>('Supplement').implement({
  description: 'What can be bought with a ticket.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its identifier: what a checkout names.' }),
    label: t.exposeString('label', { description: 'What it is.' }),
    price: t.float({
      description: 'Amount in major units.',
      resolve: (supplement) => toMajor(supplement.amount, supplement.currency),
    }),
    hasFakePrice: t.exposeBoolean('hasFakePrice', { description: 'Whether to show a price struck through.' }),
    fakePrice: t.float({
      nullable: true,
      description: 'The price struck through, in major units.',
      resolve: ({ fakeAmount, currency }) => (fakeAmount === null ? null : toMajor(fakeAmount, currency)),
    }),
  }),
})

export const QuestionRef = builder.objectRef<Question>('Question').implement({
  description: 'What a buyer is asked.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its identifier: what an answer names.' }),
    label: t.exposeString('label', { description: 'The question.' }),
    type: t.exposeString('type', { description: '`dropdown` takes one of `items`.' }),
    required: t.exposeBoolean('required', { description: 'Whether it must be answered.' }),
    items: t.exposeStringList('items', { description: 'The choices.' }),
  }),
})
