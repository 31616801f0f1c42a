import type { Rule } from './oracle.ts'

// The access rule of each edge's target. `part`: the target belongs to the object it is reached from, which
// has its own row in the matrix. A price is part of a ticket that was sold at it.
// `sold`: a ticket leads there too, also after the grant was withdrawn, but to nothing else that its event offers.

const edges: Record<Rule | 'part', string> = {
  catalogue: `Event.ticketRates Discount.ticketRates EventConnection.nodes EventEdge.node OrganizationConnection.nodes OrganizationEdge.node
    Integration.organization QuotedItem.ticketRate QuotedTicket.price AvailabilityError.ticketRate
    SalesRow.ticketRate SalesRow.price CheckoutPayload.ticketRates SellAtBoxOfficePayload.ticketRates
      IssueInvitationsPayload.ticketRates CheckIn.event`,
  sold: `Ticket.event Ticket.ticketRate TicketRate.event Event.organization Change.organization Event.location Location.organization
    TicketRate.prices TicketRate.currentPrice TicketRate.supplements TicketRate.questions Answer.question`,
  channel: 'Viewer.channel Ticket.channel SalesRow.channel',
  integration: 'Viewer.integration',
  sale: `TicketConnection.nodes TicketEdge.node PaymentConnection.nodes PaymentEdge.node Payment.tickets Payment.refunds
    Ticket.payment Ticket.refunds Refund.ticket Refund.payment CheckoutPayload.payment CheckoutPayload.tickets
    SellAtBoxOfficePayload.payment SellAtBoxOfficePayload.tickets IssueInvitationsPayload.payment
    IssueInvitationsPayload.tickets CancelPaymentPayload.payment CancelTicketsPayload.tickets
    RefundTicketsPayload.refunds ReturnTicketPayload.refund CheckIn.ticket RedeemSupplementPayload.ticket
    UpdateAttendeesPayload.tickets TransferTicketPayload.ticket ResendTicketsPayload.tickets
    TransitionError.ticket TransitionError.payment`,
  checkIn: 'CheckInConnection.nodes CheckInEdge.node CheckInTicketPayload.checkIn',
  discount: 'Ticket.discount DiscountConnection.nodes DiscountEdge.node',
  webhook: `UpdateWebhookPayload.webhook EnableWebhookPayload.webhook DisableWebhookPayload.webhook
    RegisterWebhookPayload.webhook RotateWebhookSecretPayload.webhook`,
  change: 'ChangeConnection.nodes ChangeEdge.node WebhookDelivery.change',
  subject: 'Change.subject',
  part: `TicketConnection.edges TicketConnection.pageInfo PaymentConnection.edges PaymentConnection.pageInfo
    Organization.events OrganizationConnection.edges OrganizationConnection.pageInfo EventConnection.edges EventConnection.pageInfo
    DiscountConnection.edges DiscountConnection.pageInfo ChangeConnection.edges ChangeConnection.pageInfo
    Webhook.deliveries WebhookDeliveryConnection.edges WebhookDeliveryConnection.nodes WebhookDeliveryConnection.pageInfo
    WebhookDeliveryEdge.node RedeliverWebhookPayload.delivery
    Event.artists Event.iframe Event.priceRange PriceRange.min PriceRange.max
    TicketRate.availability TicketRate.warranty Price.availability Price.price Price.fee Price.total
    Supplement.price Supplement.compareAtPrice Discount.uses Discount.amount
    CheckoutQuote.items CheckoutQuote.amounts QuotedItem.tickets QuotedTicket.amounts
    Question.options Ticket.attendee Attendee.address Attendee.identityDocument Ticket.answers Answer.option Ticket.price Ticket.supplements
    TicketSupplement.price TicketSupplement.compareAtPrice Ticket.warranty TicketWarranty.price
    Ticket.amounts Amounts.price Amounts.discount Amounts.supplements Amounts.fees Amounts.warranty Amounts.total
    Ticket.settlement Settlement.paid Settlement.refunded Settlement.commission Settlement.net
    Payment.totalAmount Payment.refunded Payment.boxOffice Refund.amount
      Event.sales SalesRowConnection.edges SalesRowConnection.nodes SalesRowConnection.pageInfo SalesRowEdge.node
      SalesRow.gross SalesRow.discounted SalesRow.commission SalesRow.refunded SalesRow.net
      Event.checkIns Event.attendance Ticket.checkIns CheckInConnection.edges CheckInConnection.pageInfo
      CheckInTicketsPayload.results Refused.errors AmountError.amount`,
}

export const edgeRules = new Map(
  Object.entries(edges).flatMap(([rule, list]) =>
    list.split(/\s+/).map((edge): [string, Rule | 'part'] => [edge, rule as Rule | 'part']),
  ),
)
