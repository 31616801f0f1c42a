import { builder } from '../../../graphql/builder.ts'
import { mutation, resultUnion } from '../../../graphql/mutation-result.ts'
import { requireIntegration } from '../../../request/context.ts'
import * as scalars from '../../../shared/input-types.ts'
import { toMajor } from '../../../shared/money.ts'
import { PaymentMethodRef, PaymentRef } from '../../payment/graphql.ts'
import { TicketRef } from '../../ticket/graphql.ts'
import { maxInvitations, maxTickets } from '../../ticket/table.ts'
import { CheckoutTicketInputRef } from '../checkout/input-graphql.ts'
import { CheckoutRefusedRef } from '../checkout/refused-graphql.ts'
import type { CheckoutAnswer } from '../checkout/sell-tickets.ts'
import { invitationsInput, issueInvitations } from './issue-invitations.ts'
import { boxOfficeInput, sellAtBoxOffice } from './sell-at-box-office.ts'

const idempotencyKey =
  'Key that makes retries safe: the same key and input return the first result for 24 hours.'
const replayed = 'True if this repeats an earlier result under the same idempotency key.'

const SellAtBoxOfficeInputRef = builder.inputType('SellAtBoxOfficeInput', {
  description: 'Tickets of one rate that are sold at the box office.',
  fields: (t) => ({
    ticketRateId: t.id({ required: true, description: 'Ticket rate identifier.' }),
    tickets: t.field({
      type: [CheckoutTicketInputRef],
      required: true,
      description: 'Tickets to sell, one entry per attendee; at most 50.',
    }),
    method: t.field({
      type: PaymentMethodRef,
      required: true,
      description: 'Means by which the buyer has paid.',
    }),
    reference: t.string({
      description:
        'Reference of the payment, such as the number of a receipt: 1 to 100 characters. Not meant for personal data.',
    }),
    language: t.string({
      description:
        'Language that the buyer is addressed in, as a BCP 47 tag; that of the organization if omitted.',
    }),
    discountCode: t.string({
      description: 'Code of a discount of the organization. Its case does not matter.',
    }),
    idempotencyKey: t.string({ description: idempotencyKey }),
    expectedTotal: t.float({
      description:
        'Total that the buyer was told, in major units, such as 10.5 for €10.50. A higher total is refused, and nothing is sold.',
    }),
  }),
})

const BoxOfficePayloadRef = builder.objectRef<CheckoutAnswer>('BoxOfficePayload').implement({
  description: 'Tickets sold at the box office. They are paid and active.',
  fields: (t) => ({
    payment: t.field({
      type: PaymentRef,
      description: 'Payment, which is paid.',
      resolve: ({ payment }) => payment,
    }),
    tickets: t.field({
      type: [TicketRef],
      complexity: { field: 1, multiplier: maxTickets },
      description: 'Tickets, one per entry of the input; print them from their `documentUrl`.',
      resolve: ({ tickets }) => tickets,
    }),
    totalAmount: t.float({
      description: 'Amount that the buyer has paid, in major units, such as 10.5 for €10.50.',
      resolve: ({ payment }) => toMajor(payment.totalAmount, payment.currency),
    }),
    idempotentReplayed: t.exposeBoolean('replayed', { description: replayed }),
  }),
})

mutation('sellAtBoxOffice', {
  description:
    'Sells tickets of one rate of the organization at the door, all or none, by the rules and prices of `checkout`, but until the event ends. They are paid at once by what the organization took itself; `refundTicket` records what it gives back by hand. Integrations only.',
  input: [SellAtBoxOfficeInputRef, 'Tickets to sell.'],
  result: resultUnion(
    'SellAtBoxOfficeResult',
    BoxOfficePayloadRef,
    'Tickets sold at the box office, or the reasons for the refusal.',
    CheckoutRefusedRef,
  ),
  caller: requireIntegration,
  run: (input, ctx) => sellAtBoxOffice(scalars.parseRequest(boxOfficeInput, input), ctx),
})

const InvitationInputRef = builder.inputType('InvitationInput', {
  description: 'Guest who is given a ticket.',
  fields: (t) => ({
    fullName: t.string({ required: true, description: 'Full name.' }),
    email: t.string({ required: true, description: 'E-mail address.' }),
    phone: t.string({ description: 'Phone number in international format, with a leading plus sign.' }),
    language: t.string({
      description:
        'Language that the guest is addressed in, as a BCP 47 tag; that of the organization if omitted.',
    }),
  }),
})

const IssueInvitationsInputRef = builder.inputType('IssueInvitationsInput', {
  description: 'Tickets of one rate that are given away.',
  fields: (t) => ({
    ticketRateId: t.id({ required: true, description: 'Ticket rate identifier.' }),
    invitations: t.field({
      type: [InvitationInputRef],
      required: true,
      description: 'Guests, one ticket for each; at most 100.',
    }),
    sendResourcers: t.boolean({ description: 'True to send the tickets to the guests.' }),
    idempotencyKey: t.string({ description: idempotencyKey }),
  }),
})

const InvitationsPayloadRef = builder.objectRef<CheckoutAnswer>('InvitationsPayload').implement({
  description: 'Tickets given away. They cost nothing and are active.',
  fields: (t) => ({
    payment: t.field({
      type: PaymentRef,
      description: 'Payment that the tickets belong to, with a total of 0.',
      resolve: ({ payment }) => payment,
    }),
    tickets: t.field({
      type: [TicketRef],
      complexity: { field: 1, multiplier: maxInvitations },
      description: 'Tickets, one per guest, in the order of the input.',
      resolve: ({ tickets }) => tickets,
    }),
    idempotentReplayed: t.exposeBoolean('replayed', { description: replayed }),
  }),
})

mutation('issueInvitations', {
  description:
    'Gives tickets of one rate of the organization away, all or none, until the event ends. They take places and cost nothing; the questions and the limits per checkout of the rate do not apply. Integrations only.',
  input: [IssueInvitationsInputRef, 'Tickets to give away.'],
  result: resultUnion(
    'IssueInvitationsResult',
    InvitationsPayloadRef,
    'Tickets given away, or the reasons for the refusal.',
    CheckoutRefusedRef,
  ),
  caller: requireIntegration,
  run: (input, ctx) => issueInvitations(scalars.parseRequest(invitationsInput, input), ctx),
})
