import { builder } from '../../../graphql/builder.ts'
import { inputOf, inputTypes } from '../../../graphql/input-of.ts'
import { mutation, resultUnion } from '../../../graphql/mutation-result.ts'
import { CheckoutRefusedRef } from '../../../graphql/problems.ts'
import { toMajor } from '../../../shared/money.ts'
import { parseRequest } from '../../../shared/parse.ts'
import { PaymentMethodRef, PaymentRef } from '../../payment/graphql.ts'
import { TicketRef } from '../../ticket/graphql.ts'
import { maxInvitations, maxTickets } from '../../ticket/table.ts'
import type { CheckoutAnswer } from '../checkout/sell-tickets.ts'
import { invitation, invitationsInput, issueInvitations } from './issue-invitations.ts'
import { boxOfficeInput, sellAtBoxOffice } from './sell-at-box-office.ts'

const replayed = 'True if this repeats an earlier result under the same idempotency key.'

const BoxOfficePayloadRef = builder.objectRef<CheckoutAnswer>('BoxOfficePayload').implement({
  description: 'Tickets sold at the box office. They are paid and active.',
  fields: (t) => ({
    payment: t.expose('payment', { type: PaymentRef, description: 'Payment, which is paid.' }),
    tickets: t.expose('tickets', {
      type: [TicketRef],
      complexity: { field: 1, multiplier: maxTickets },
      description: 'Tickets, one per entry of the input; print them from their `documentUrl`.',
    }),
    totalAmount: t.float({
      description: 'Amount that the buyer has paid, in major units, such as 10.5 for €10.50.',
      resolve: ({ payment }) => toMajor(payment.totalAmount, payment.currency),
    }),
    idempotentReplayed: t.exposeBoolean('replayed', { description: replayed }),
  }),
})

inputTypes.add(boxOfficeInput.shape.method, { type: PaymentMethodRef })

mutation('sellAtBoxOffice', {
  description:
    'Sells tickets of one rate of the organization at the door, all or none, by the rules and prices of `checkout`, but until the event ends. They are paid at once by what the organization took itself; `refundTicket` records what it gives back by hand. Integrations only.',
  input: boxOfficeInput,
  parse: parseRequest,
  result: resultUnion(
    'SellAtBoxOfficeResult',
    BoxOfficePayloadRef,
    'Tickets sold at the box office, or the reasons for the refusal.',
    CheckoutRefusedRef,
  ),
  needs: { caller: 'integration', scope: 'sales' },
  run: sellAtBoxOffice,
})

inputOf('InvitationInput', invitation)

const InvitationsPayloadRef = builder.objectRef<CheckoutAnswer>('InvitationsPayload').implement({
  description: 'Tickets given away. They cost nothing and are active.',
  fields: (t) => ({
    payment: t.expose('payment', {
      type: PaymentRef,
      description: 'Payment that the tickets belong to, with a total of 0.',
    }),
    tickets: t.expose('tickets', {
      type: [TicketRef],
      complexity: { field: 1, multiplier: maxInvitations },
      description: 'Tickets, one per guest, in the order of the input.',
    }),
    idempotentReplayed: t.exposeBoolean('replayed', { description: replayed }),
  }),
})

mutation('issueInvitations', {
  description:
    'Gives tickets of one rate of the organization away, all or none, until the event ends. They take places and cost nothing; the questions and the limits per checkout of the rate do not apply. Integrations only.',
  input: invitationsInput,
  parse: parseRequest,
  result: resultUnion(
    'IssueInvitationsResult',
    InvitationsPayloadRef,
    'Tickets given away, or the reasons for the refusal.',
    CheckoutRefusedRef,
  ),
  needs: { caller: 'integration', scope: 'sales' },
  run: issueInvitations,
})
