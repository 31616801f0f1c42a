import { personalDocumentTypes } from '../../engine/base/input-types.ts'
import {
  amount,
  amountOf,
  builder,
  enumOf,
  nullable,
  nullableAmount,
  time,
} from '../../engine/graphql/builder.ts'
import { toRow, viaId, viaLoader } from '../../engine/graphql/lookahead.ts'
import { eventById } from '../event/loaders.ts'
import type { Event } from '../event/table.ts'
import { questionById } from '../ticket-rate/loaders.ts'
import { compareAt, QuestionOptionRef, QuestionRef } from '../ticket-rate/parts-graphql.ts'
import { warrantyEnd } from '../ticket-rate/sale-rules.ts'
import type { Answer, SoldSupplement, Ticket } from './table.ts'
import * as views from './views.ts'

// Object types that a ticket's fields return.

export const TicketStatusRef = enumOf<(typeof views.lookupStatuses)[number]>(
  'TicketStatus',
  'Status of a ticket. Values may be added: treat an unknown one as not valid at the door.',
  {
    pending: 'Held until the buyer pays.',
    activated: 'Paid and valid.',
    cancelled: 'Cancelled after payment. Its place is available again.',
    expired: 'Never paid, and no longer held.',
  },
)

export const DocumentTypeRef = enumOf<(typeof personalDocumentTypes)[number]>(
  'IdentityDocumentType',
  'Kind of identity document. Values may be added: treat an unknown one as `OTHER`.',
  {
    dni: 'Spanish identity card.',
    nie: 'Identity number of a foreigner in Spain.',
    passport: 'Passport.',
    other: 'Any other document.',
  },
)

export const AnswerRef = builder.objectRef<Answer>('Answer').implement({
  description: 'Answer to a question of the ticket rate.',
  fields: (t) => ({
    question: t.field({
      type: QuestionRef,
      description: 'Question that it answers.',
      ...viaId(questionById, ({ questionId }: Answer) => questionId),
    }),
    text: t.string({
      ...nullable(
        'Answer in words: text, or the label of the option when the ticket was sold; null for a checkbox.',
      ),
      resolve: ({ text, option }) => text ?? option?.label,
    }),
    checked: t.exposeBoolean(
      'checked',
      nullable('True if the checkbox was ticked; null for other questions.'),
    ),
    option: t.field({
      type: QuestionOptionRef,
      ...nullable(
        'Chosen option of a dropdown, with its label of today, or its last one if it is no longer offered; null for other questions.',
      ),
      resolve: ({ questionId, option }, _args, { loaders }, info) =>
        option
          ? toRow(option.id, info, async () => {
              const question = await loaders.load(questionById, questionId)
              return question?.options.find(({ id }) => id === option.id) ?? option
            })
          : null,
    }),
  }),
})

const AddressRef = builder.objectRef<Ticket>('Address').implement({
  description: 'Postal address.',
  fields: (t) => ({
    street: t.exposeString('address', nullable('Street and number.')),
    postalCode: t.exposeString('postalCode', nullable('Postal code.')),
    countryCode: t.exposeString('countryCode', nullable('Two-letter ISO 3166 country code.')),
  }),
})

const IdentityDocumentRef = builder.objectRef<Ticket>('IdentityDocument').implement({
  description: 'Identity document of an attendee.',
  fields: (t) => ({
    type: t.field({
      type: DocumentTypeRef,
      ...nullable('Kind of document.'),
      resolve: ({ personalDocumentType: type }) =>
        type === null ? null : (personalDocumentTypes.find((known) => known === type) ?? 'other'),
    }),
    number: t.exposeString('personalDocumentNumber', nullable('Number of the document.')),
  }),
})

/** Reports whether any of these is known. */
const isAnyGiven = (...values: (string | null)[]) => values.some((value) => value !== null)

export const AttendeeRef = builder.objectRef<Ticket>('Attendee').implement({
  description:
    'Person that a ticket is for. What is not known is null. An integration whose key has neither the scope `TICKETS_READ` nor `SALES` sees the name alone.',
  extensions: { needs: { oneOf: ['tickets:read', 'sales'], except: new Set(['fullName']) } },
  fields: (t) => ({
    fullName: t.exposeString('fullName', nullable('Full name; null where it is not known.')),
    email: t.exposeString('email', nullable('E-mail address.')),
    phone: t.exposeString('phone', nullable('Phone number in international format.')),
    language: t.exposeString(
      'language',
      nullable('Language that the attendee is addressed in, as an ISO 639-1 code.'),
    ),
    birthDate: t.expose('birthday', { type: 'Date', ...nullable('Date of birth.') }),
    address: t.field({
      type: AddressRef,
      ...nullable('Postal address.'),
      resolve: (ticket) =>
        isAnyGiven(ticket.address, ticket.postalCode, ticket.countryCode) ? ticket : null,
    }),
    identityDocument: t.field({
      type: IdentityDocumentRef,
      ...nullable('Identity document.'),
      resolve: (ticket) =>
        isAnyGiven(ticket.personalDocumentType, ticket.personalDocumentNumber) ? ticket : null,
    }),
  }),
})

export const TicketWarrantyRef = builder.objectRef<Ticket>('TicketWarranty').implement({
  description: 'Warranty that was bought with a ticket.',
  fields: (t) => ({
    price: t.field(amountOf('Price of the warranty.', 'warrantyAmount')),
    endsAt: t.field({
      ...time('Time until which the ticket can be returned.'),
      ...viaLoader(
        eventById,
        ({ eventId }: Ticket) => eventId,
        (event, ticket) => warrantyEnd(event as Event, ticket),
      ),
    }),
  }),
})

export const TicketSupplementRef = builder
  .objectRef<SoldSupplement & { currency: string }>('TicketSupplement')
  .implement({
    description: 'Supplement that was bought with a ticket, as it was then.',
    fields: (t) => ({
      supplementId: t.exposeID('supplementId', {
        description: 'Identifier of the supplement, the same on every ticket that it was sold with.',
      }),
      name: t.exposeString('label', { description: 'Display name.' }),
      description: t.exposeString('description', nullable('Description; null if it has none.')),
      price: t.field(amountOf('Price paid.', 'amount')),
      compareAtPrice: t.field(
        nullableAmount('Price that was shown struck through; null if there was none.', compareAt),
      ),
      count: t.exposeInt('productQuantity', { description: 'Number of items bought.' }),
      redeemed: t.exposeInt('used', { description: 'Number of items redeemed.' }),
    }),
  })

/** Amounts of a ticket that make its total, and the total. */
export const partsOfTotal = [
  ...(['priceAmount', 'discountAmount', 'supplementsAmount'] as const),
  ...(['organizationFeeAmount', 'warrantyAmount', 'totalAmount'] as const),
]
type Amounts = Pick<Ticket, 'currency' | (typeof partsOfTotal)[number]>

export const AmountsRef = builder.objectRef<Amounts>('Amounts').implement({
  description: 'Cost of a ticket, or of all tickets of a quote, part by part.',
  fields: (t) => ({
    price: t.field(amountOf('Price before the discount.', 'priceAmount')),
    discount: t.field(amountOf('Amount that a discount takes off the price.', 'discountAmount')),
    supplements: t.field(amountOf('Total of the supplements.', 'supplementsAmount')),
    fees: t.field(amountOf('Fees that the buyer pays on top of the price.', 'organizationFeeAmount')),
    warranty: t.field(amountOf('Price of the warranty.', 'warrantyAmount')),
    total: t.field(
      amountOf('Total of price, supplements, fees and warranty, minus the discount.', 'totalAmount'),
    ),
  }),
})

export const SettlementRef = builder.objectRef<Ticket>('Settlement').implement({
  description: 'Money of a ticket after its sale, and how platform and organization share it.',
  fields: (t) => ({
    paid: t.field(amount('Amount that the buyer paid; 0 unless paid.', views.totalPaid)),
    refunded: t.field(amountOf('Amount refunded so far.', 'refundedAmount')),
    commission: t.field(
      amount(
        'Commission that the platform keeps from the organization. None is owed for what was refunded in full.',
        views.commission,
      ),
    ),
    net: t.field(amount('Amount that the organization keeps after refunds and commission.', views.raised)),
  }),
})
