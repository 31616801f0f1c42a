import { builder } from '../../graphql/builder.ts'
import type { Live } from '../../graphql/live.ts'
import { doorsOpenAt } from './decide-scan.ts'
import type { LoggedCheckIn } from './find-check-ins.ts'
import { CheckInRef } from './graphql.ts'
import { eventIdOf, watchCheckIns } from './watch-check-ins.ts'

builder.subscriptionField('checkIns', (t) =>
  t.field({
    type: CheckInRef,
    description:
      "Streams the scans of an event's tickets, as they are made at any door, those that were turned away included; a test key hears of test tickets alone, a live key of live ones. Scans that match no ticket are not streamed. Integrations only. A client that sends the `id` of the last event in the stream as `Last-Event-ID` gets the scans since then, of which some may come again.",
    extensions: { live: { eventIdOf } satisfies Live<LoggedCheckIn> },
    args: {
      eventId: t.arg.id({ required: true, description: "Event of the integration's organization." }),
    },
    subscribe: (_root, { eventId }, ctx) => watchCheckIns(eventId, ctx.lastEventId, ctx),
    resolve: (checkIn: LoggedCheckIn, _args, { services }) => ({
      ...checkIn,
      isEarly: checkIn.at.getTime() < doorsOpenAt(checkIn.startDate, services.admissionHours),
      replayed: false,
    }),
  }),
)
