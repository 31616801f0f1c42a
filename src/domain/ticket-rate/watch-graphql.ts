import { builder } from '../../graphql/builder.ts'
import type { Live } from '../../graphql/live.ts'
import type { RateAvailability } from './rate-watch.ts'
import { maxWatchedRates, watchRates } from './watch-rates.ts'

const RateAvailabilityRef = builder.objectRef<RateAvailability>('RateAvailability').implement({
  description: 'Places of a ticket rate at a time.',
  fields: (t) => ({
    ticketRateId: t.exposeID('ticketRateId', { description: 'Identifier of the ticket rate.' }),
    available: t.exposeBoolean('available', { description: 'True if the rate can be bought now.' }),
    sold: t.exposeInt('sold', {
      description: 'Number of places sold, here and elsewhere before the import.',
    }),
    left: t.exposeInt('left', {
      nullable: true,
      description: 'Number of places left after sales and holds; null if unlimited.',
    }),
    at: t.expose('at', { type: 'DateTime', description: "Time of these numbers, by the database's clock." }),
  }),
})

builder.subscriptionField('rateAvailability', (t) =>
  t.field({
    type: RateAvailabilityRef,
    description:
      'Tells how many places of ticket rates are left: of each rate at once, and again whenever that changes. A later state replaces an earlier one that was not sent yet. Refuses rates that the caller does not see with `NOT_FOUND`.',
    extensions: {
      live: { latestBy: ({ ticketRateId }) => ticketRateId } satisfies Live<RateAvailability>,
    },
    args: {
      eventId: t.arg.id({
        description: 'Watches the rates that this event has now. Give this or `ticketRateIds`.',
      }),
      ticketRateIds: t.arg.idList({
        description: `Watches these ticket rates, at most ${maxWatchedRates}.`,
      }),
    },
    subscribe: (_root, args, ctx) => watchRates(args, ctx),
    resolve: (rate) => rate,
  }),
)
