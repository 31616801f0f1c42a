import type { Caller } from './callers.ts'
import { doorRows } from './door-rows.ts'
import { graphqlAsk, isChannel, isIntegration, organizationOf, type Row, type Rows } from './matrix-row.ts'
import { ownsWebhook, seesChange, seesSale } from './oracle.ts'
import { buyAs, register } from './sell-as.ts'
import type { Thing } from './world.ts'

// Matrix rows for what a caller owns: payments, tickets, webhooks, changes and deliveries.

const verb = (name: string, argument: string, row: Pick<Row, 'kind' | 'sees'>, more = ''): Row => {
  const ask = graphqlAsk('mutation', name, '$id: ID!', `input: { ${argument}: $id${more} }`)
  return { ...row, writes: true, ask: (_caller, id) => ask({ id }) }
}

/** A mutation on tickets, whose input names one, or their payment. */
const ofTickets = (name: string, kind: 'ticket' | 'payment', sees: Row['sees'] = seesSale): Row => {
  const ask = graphqlAsk('mutation', name, '$id: ID!', `input: { of: { ${kind}Id: $id } }`)
  return { kind, sees, writes: true, ask: (_caller, id) => ask({ id }) }
}

const webhook = (name: string, more = '') =>
  verb(name, 'webhookId', { kind: 'webhook', sees: ownsWebhook }, more)

const ofChannel: Row['sees'] = (caller, thing) => isChannel(caller) && seesSale(caller, thing)
const ofIntegration: Row['sees'] = (caller, thing) => isIntegration(caller) && seesSale(caller, thing)

const ownedBy = (things: Thing[], caller: Caller) =>
  things.find((thing) => ownsWebhook(caller, thing))?.id ?? 'whk_0'

const redeliver = graphqlAsk(
  'mutation',
  'redeliverWebhook',
  '$id: ID!, $changeId: ID!',
  'input: { webhookId: $id, changeId: $changeId }',
)
const changes = graphqlAsk('query', 'changes', '$from: FeedStart!', 'from: $from, first: 20')

const refund = graphqlAsk('mutation', 'refundTickets', '$input: RefundTicketsInput!', 'input: $input')
let refunds = 100
const refundOf = (kind: 'ticket' | 'payment'): Row => ({
  kind,
  sees: ofIntegration,
  writes: true,
  ask: (_caller, id) =>
    refund({ input: { of: { [`${kind}Id`]: id }, idempotencyKey: `refund-${++refunds}` } }),
})

const discounts = graphqlAsk('query', 'discounts', '$after: String', 'after: $after, first: 5')

export const ownerRows: Rows = {
  'Query.discounts': { open: true, isFor: ['integration'], ask: () => discounts() },
  'Query.discounts(after)': {
    kind: 'discount',
    sees: () => null,
    ask: (_caller, id) => discounts({ after: Buffer.from(`0 ${id}`).toString('base64url') }),
  },
  'Query.changes': {
    open: true,
    isFor: ['channel', 'integration'],
    ask: () => changes({ from: { at: 'OLDEST' } }),
  },
  'Query.changes(from.after)': {
    kind: 'changeCursor',
    sees: () => null,
    ask: (_caller, after) => changes({ from: { after } }),
  },
  'Query.webhooks': {
    open: true,
    isFor: ['channel', 'integration'],
    ask: () => graphqlAsk('query', 'webhooks', '', '')(),
  },
  // An expired ticket's code is free again, so scans come before the mutations that end a checkout.
  ...doorRows,
  // A transfer ends codes, so it comes after the scans.
  'Mutation.updateAttendees(input.attendees.ticketId)': {
    kind: 'ticket',
    sees: seesSale,
    writes: true,
    ask: (_caller, id) =>
      graphqlAsk(
        'mutation',
        'updateAttendees',
        '$id: ID!',
        'input: { attendees: [{ ticketId: $id, address: { street: "mk-sale-matrix" } }] }',
      )({ id }),
  },
  'Mutation.transferTicket(input.ticketId)': verb(
    'transferTicket',
    'ticketId',
    { kind: 'ticket', sees: seesSale },
    ', attendee: { fullName: "mk-sale-matrix", email: "mk-sale-matrix@example.com" }',
  ),
  'Mutation.resendTickets(input.of.ticketId)': ofTickets('resendTickets', 'ticket'),
  'Mutation.resendTickets(input.of.paymentId)': ofTickets('resendTickets', 'payment'),
  'Mutation.cancelPayment(input.paymentId)': verb('cancelPayment', 'paymentId', {
    kind: 'payment',
    sees: ofChannel,
  }),
  'Mutation.returnTicket(input.ticketId)': {
    ...verb('returnTicket', 'ticketId', { kind: 'ticket', sees: ofChannel }),
    // One with which nobody has entered; one that it has, if it may not buy any more.
    fresh: async (caller, { sale, things }) =>
      caller.organizations.length > 0
        ? buyAs(sale, caller, Number(organizationOf(caller)))
        : (things.ticket.find((thing) => seesSale(caller, thing))?.id ?? ''),
  },
  'Mutation.refundTickets(input.of.ticketId)': refundOf('ticket'),
  'Mutation.refundTickets(input.of.paymentId)': refundOf('payment'),
  'Mutation.cancelTickets(input.of.ticketId)': ofTickets('cancelTickets', 'ticket'),
  'Mutation.cancelTickets(input.of.paymentId)': ofTickets('cancelTickets', 'payment'),
  'Mutation.registerWebhook': {
    open: true,
    isFor: ['channel', 'integration'],
    ask: ({ name }: Caller) =>
      graphqlAsk(
        'mutation',
        'registerWebhook',
        '$url: String!',
        'input: { url: $url, idempotencyKey: $url }',
      )({ url: `https://hooks.example/mk-hook-${name}` }),
  },
  'Mutation.updateWebhook(input.webhookId)': webhook('updateWebhook', ', types: [PAYMENT_PAID]'),
  'Mutation.rotateWebhookSecret(input.webhookId)': webhook(
    'rotateWebhookSecret',
    ', idempotencyKey: "rotated"',
  ),
  'Mutation.redeliverWebhook(input.webhookId)': {
    kind: 'webhook',
    sees: ownsWebhook,
    writes: true,
    ask: (_caller, id) => redeliver({ id, changeId: 'chg_0' }),
  },
  'Mutation.redeliverWebhook(input.changeId)': {
    kind: 'change',
    sees: seesChange,
    writes: true,
    ask: (caller, changeId, { things }) => redeliver({ id: ownedBy(things.webhook, caller), changeId }),
  },
  'Mutation.disableWebhook(input.webhookId)': webhook('disableWebhook'),
  'Mutation.enableWebhook(input.webhookId)': webhook('enableWebhook'),
  'Mutation.deleteWebhook(input.webhookId)': {
    ...webhook('deleteWebhook'),
    fresh: (caller, { sale }) => register(sale, caller),
  },
}
