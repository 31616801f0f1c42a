import type { Rule } from './oracle.ts'

// The access rule of each edge's target. `part`: the target belongs to the object it is reached from, which
// has its own row in the matrix. A price is part of a ticket that was sold at it.

const edges: Record<Rule | 'part', string> = {
  catalogue: `Event.location Event.organization Event.ticketRates EventConnection.nodes EventEdge.node OrganizationConnection.nodes OrganizationEdge.node Viewer.organizations
    Location.organization TicketRate.event TicketRate.prices TicketRate.currentPrice TicketRate.supplements
    TicketRate.questions Ticket.event Ticket.ticketRate CheckoutQuote.ticketRate QuotedTicket.price`,
  sale: `TicketConnection.nodes TicketEdge.node PaymentConnection.nodes PaymentEdge.node Payment.tickets Payment.refunds Ticket.payment Ticket.refundAttempts RefundAttempt.ticket
    CheckoutPayload.payment CheckoutPayload.tickets BoxOfficePayload.payment BoxOfficePayload.tickets
    InvitationsPayload.payment InvitationsPayload.tickets CancelCheckoutPayload.payment CancelTicketPayload.ticket
    RefundPayload.refund CheckIn.ticket Redemption.ticket UpdateAttendeePayload.ticket
    UpdateAttendeesPayload.tickets TransferTicketPayload.ticket ResendTicketsPayload.tickets`,
  discount: 'Ticket.discount DiscountConnection.nodes DiscountEdge.node',
  webhook: 'WebhookPayload.webhook WebhookSecretPayload.webhook',
  change: 'ChangeConnection.nodes ChangeEdge.node WebhookDelivery.change',
  part: `TicketConnection.edges TicketConnection.pageInfo PaymentConnection.edges PaymentConnection.pageInfo
    OrganizationConnection.edges OrganizationConnection.pageInfo Event.artists Event.iframe EventConnection.edges EventConnection.pageInfo TicketRate.availability Price.availability
    TicketRate.warranty Ticket.answers Ticket.fees Ticket.price Ticket.priceInfo Ticket.refunds Ticket.supplements
    Ticket.warranty CheckoutQuote.tickets ChangeConnection.edges ChangeConnection.pageInfo
    WebhookDeliveryConnection.edges WebhookDeliveryConnection.nodes WebhookDeliveryConnection.pageInfo
    WebhookDeliveryEdge.node RedeliverWebhookPayload.delivery CheckInTicketsPayload.results
    DiscountConnection.edges DiscountConnection.pageInfo Discount.uses Refused.errors CheckoutRefused.errors`,
}

export const edgeRules = new Map(
  Object.entries(edges).flatMap(([rule, list]) =>
    list.split(/\s+/).map((edge): [string, Rule | 'part'] => [edge, rule as Rule | 'part']),
  ),
)
