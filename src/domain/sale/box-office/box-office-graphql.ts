import { inputOf, inputTypes } from '../../../graphql/input-of.ts'
import { mutation } from '../../../graphql/mutation-result.ts'
import { parseRequest } from '../../../shared/parse.ts'
import { PaymentMethodRef } from '../../payment/graphql.ts'
import { maxInvitations } from '../../ticket/table.ts'
import { saleResult } from '../checkout/checkout-graphql.ts'
import { invitationInput, invitationsInput, issueInvitations } from './issue-invitations.ts'
import { boxOfficeInput, sellAtBoxOffice } from './sell-at-box-office.ts'

inputTypes.add(boxOfficeInput.shape.method, { type: PaymentMethodRef })

mutation('sellAtBoxOffice', {
  description:
    'Sells tickets of one rate of the organization at the door, all or none, by the rules and prices of `checkout`, but until the event ends. They are paid at once by what the organization took itself; `refundTicket` records what it gives back by hand. Integrations only.',
  input: boxOfficeInput,
  parse: parseRequest,
  result: saleResult('SellAtBoxOfficeResult', 'BoxOfficePayload', {
    what: 'Tickets sold at the box office',
    note: 'They are paid and active.',
    payment: 'Payment, which is paid.',
    tickets: 'Tickets, one per entry of the input; print them from their `documentUrl`.',
    totalAmount: 'Amount that the buyer has paid, in major units, such as 10.5 for €10.50.',
  }),
  needs: { caller: 'integration', scope: 'sales' },
  run: sellAtBoxOffice,
})

inputOf('InvitationInput', invitationInput)

mutation('issueInvitations', {
  description:
    'Gives tickets of one rate of the organization away, all or none, until the event ends. They take places and cost nothing; the questions and the limits per checkout of the rate do not apply. Integrations only.',
  input: invitationsInput,
  parse: parseRequest,
  result: saleResult(
    'IssueInvitationsResult',
    'InvitationsPayload',
    {
      what: 'Tickets given away',
      note: 'They cost nothing and are active.',
      payment: 'Payment that the tickets belong to, with a total of 0.',
      tickets: 'Tickets, one per guest, in the order of the input.',
    },
    maxInvitations,
  ),
  needs: { caller: 'integration', scope: 'sales' },
  run: issueInvitations,
})
