import { graphqlAsk, isIntegration, type Rows } from './matrix-row.ts'
import { seesCatalogue } from './oracle.ts'

// Matrix rows for subscriptions.

const byEvent = graphqlAsk('subscription', 'rateAvailability', '$id: ID', 'eventId: $id')
const byRate = graphqlAsk('subscription', 'rateAvailability', '$id: ID!', 'ticketRateIds: [$id]')
const checkIns = graphqlAsk('subscription', 'checkIns', '$id: ID!', 'eventId: $id')

export const liveRows: Rows = {
  'Subscription.rateAvailability': {
    open: true,
    isFor: ['channel', 'publishable', 'integration'],
    ask: () => graphqlAsk('subscription', 'rateAvailability', '', '')(),
  },
  'Subscription.rateAvailability(eventId)': {
    kind: 'event',
    sees: seesCatalogue,
    ask: (_caller, id) => byEvent({ id }),
  },
  'Subscription.rateAvailability(ticketRateIds)': {
    kind: 'rate',
    sees: seesCatalogue,
    ask: (_caller, id) => byRate({ id }),
  },
  'Subscription.changes': {
    open: true,
    isFor: ['channel', 'integration'],
    ask: () => graphqlAsk('subscription', 'changes', '', '')(),
  },
  'Subscription.checkIns(eventId)': {
    kind: 'event',
    sees: (caller, thing) => isIntegration(caller) && seesCatalogue(caller, thing),
    ask: (_caller, id) => checkIns({ id }),
  },
}
