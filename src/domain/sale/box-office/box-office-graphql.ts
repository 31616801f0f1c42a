import { parseRequest } from '../../../engine/base/parse.ts'
import { inputTypes } from '../../../engine/graphql/input-of.ts'
import { mutation } from '../../../engine/graphql/mutation-result.ts'
import { PaymentMethodRef } from '../../payment/graphql.ts'
import { maxInvitations } from '../../ticket/table.ts'
import { saleFields } from '../checkout/checkout-graphql.ts'
import {
  attendeeColumns,
  boxOfficeInput,
  invitationsInput,
  ofRate,
  sellItems,
} from '../checkout/items-input.ts'
import { issueInvitations } from './issue-invitations.ts'
import { sellAtBoxOffice } from './sell-at-box-office.ts'

inputTypes.add(boxOfficeInput.shape.method, { type: PaymentMethodRef })

mutation('sellAtBoxOffice', {
  description:
    'Sells tickets of the organization at the door, all or none, by the rules and prices of `checkout`, but until the event ends. They are paid with what the organization took itself; `refundTickets` records what it gives back.',
  input: boxOfficeInput,
  parse: parseRequest,
  needs: { caller: 'integration', scope: 'sales' },
  run: ({ items, ...input }, ctx) =>
    sellItems(items, (asked) => sellAtBoxOffice({ ...input, ...asked }, ctx)),
  payload: 'Tickets sold at the box office. They are `ACTIVATED`.',
  fields: saleFields({
    payment: 'Payment, which is paid.',
    tickets: 'Tickets, in the order of the input; print them from their `documentUrl`.',
  }),
})

mutation('issueInvitations', {
  description:
    'Gives tickets of one rate of the organization away, all or none, until the event ends. They take places and cost nothing; the questions and the limits per checkout of the rate do not apply.',
  input: invitationsInput,
  parse: parseRequest,
  needs: { caller: 'integration', scope: 'sales' },
  run: ({ guests, ...input }, ctx) =>
    ofRate(input.ticketRateId, () =>
      issueInvitations({ ...input, guests: guests.map(attendeeColumns) }, ctx),
    ),
  payload: 'Tickets given away. They cost nothing and are `ACTIVATED`.',
  fields: saleFields(
    {
      payment: 'Payment that the tickets belong to, with a total of 0.',
      tickets: 'Tickets, one per guest, in the order of the input.',
    },
    maxInvitations,
  ),
})
