import { graphqlAsk, isIntegration, type Rows } from './matrix-row.ts'
import { seesCatalogue } from './oracle.ts'

// Matrix rows for subscriptions.

const byEvent = graphqlAsk('subscription', 'ticketRates', '$id: ID', 'of: { eventId: $id }')
const byRate = graphqlAsk('subscription', 'ticketRates', '$id: ID!', 'of: { ids: [$id] }')
const changes = graphqlAsk('subscription', 'changes', '$from: FeedStart!', 'from: $from')
const checkIns = graphqlAsk('subscription', 'checkIns', '$id: ID!', 'eventId: $id')

export const liveRows: Rows = {
  'Subscription.ticketRates(of.eventId)': {
    kind: 'event',
    sees: seesCatalogue,
    ask: (_caller, id) => byEvent({ id }),
  },
  'Subscription.ticketRates(of.ids)': {
    kind: 'rate',
    sees: seesCatalogue,
    ask: (_caller, id) => byRate({ id }),
  },
  'Subscription.payment': {
    open: true,
    isFor: ['channel', 'publishable'],
    ask: () => graphqlAsk('subscription', 'payment', '', 'url: "https://shop.example/pay/x"')(),
  },
  'Subscription.changes': {
    open: true,
    isFor: ['channel', 'integration'],
    ask: () => changes({ from: { at: 'OLDEST' } }),
  },
  'Subscription.changes(from.after)': {
    kind: 'changeCursor',
    sees: () => null,
    ask: (_caller, after) => changes({ from: { after } }),
  },
  'Subscription.checkIns(eventId)': {
    kind: 'event',
    sees: (caller, thing) => isIntegration(caller) && seesCatalogue(caller, thing),
    ask: (_caller, id) => checkIns({ id }),
  },
}
