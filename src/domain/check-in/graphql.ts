import { builder, enumOf, nullable, nullableTime, time } from '../../graphql/builder.ts'
import { inputOf, inputTypes } from '../../graphql/input-of.ts'
import { mutation, oneObject } from '../../graphql/mutation-result.ts'
import type { Context } from '../../request/context.ts'
import { refusalOf } from '../../shared/errors.ts'
import { EventRef } from '../event/graphql.ts'
import { TicketRef } from '../ticket/graphql.ts'
import { ticketById } from '../ticket/loaders.ts'
import {
  checkInBatchInput,
  checkInInput,
  direction,
  maxScans,
  redeemInput,
  scannedTicket,
  uploadedScan,
} from './check-in-input.ts'
import { type CheckInAnswer, checkInTicket, checkInTickets } from './check-in-tickets.ts'
import { redeemSupplement } from './redeem-supplement.ts'
import { doorsOpenAt } from './scan-book.ts'
import { checkInResults, redemptionResults } from './table.ts'
import { eventIdOf, type LoggedCheckIn, watchCheckIns } from './watch-check-ins.ts'

const CheckInOutcomeRef = enumOf('CheckInOutcome', 'Outcome of a scan.', checkInResults)

const DirectionRef = enumOf<CheckInAnswer['direction']>('CheckInDirection', 'Direction of a scan.', {
  in: 'People enter.',
  out: 'People leave, and may enter again with the same ticket.',
})

inputTypes.add(direction, { type: DirectionRef })
inputOf('ScannedTicketInput', scannedTicket, { isOneOf: true })
inputOf('ScanInput', uploadedScan)

/** Field of an outcome, at the door or at the bar. */
const ticketOfScan = {
  type: TicketRef,
  nullable: true,
  description: 'Ticket that was scanned; null if none was found.',
  resolve: ({ ticketId }: { ticketId: string | null }, _args: object, { loaders }: Context) =>
    ticketId ? loaders.load(ticketById, ticketId) : null,
} as const

const reasonsOf = ({ result, isEarly }: CheckInAnswer): CheckInAnswer['result'][] => {
  if (result === 'OK') return []
  return result === 'NO_ENTRIES_LEFT' && isEarly ? [result, 'TOO_EARLY'] : [result]
}

const CheckInRef = builder.objectRef<CheckInAnswer>('CheckIn').implement({
  description: 'Scan at the door and its outcome.',
  fields: (t) => ({
    outcome: t.expose('result', { type: CheckInOutcomeRef, description: 'Outcome of the scan.' }),
    reasons: t.field({
      type: [CheckInOutcomeRef],
      description:
        'All reasons why the people were turned away, the outcome first; empty if that is `OK`. Somebody may be inside already before the doors open, by a forced scan: then both `NO_ENTRIES_LEFT` and `TOO_EARLY` are listed.',
      resolve: reasonsOf,
    }),
    ticket: t.field(ticketOfScan),
    firstEnteredAt: t.expose(
      'firstEnteredAt',
      nullableTime(
        'Time of the first entry with this ticket that was known before this scan; null if there was none. Later than `scannedAt` if this scan was uploaded after it.',
      ),
    ),
    direction: t.expose('direction', { type: DirectionRef, description: 'Direction of the scan.' }),
    people: t.exposeInt('people', {
      description: 'Number of people who entered or left, or who were turned away, together.',
    }),
    inside: t.exposeInt(
      'entered',
      nullable(
        'Number of people inside with the ticket after this scan, or now if it is repeated; null if no ticket was found.',
      ),
    ),
    admits: t.exposeInt(
      'admits',
      nullable('Number of people that the ticket admits; null if no ticket was found.'),
    ),
    scannedAt: t.expose('at', time('Time of the scan.')),
    forced: t.exposeBoolean('force', { description: 'True if the scan was forced.' }),
  }),
})

const toPayload = (checkIn: CheckInAnswer) => ({ checkIn, replayed: checkIn.replayed })

const CheckInTicketResultRef = mutation('checkInTicket', {
  description:
    "Checks people with a ticket of the integration's organization in or out: all `people` or none, never more than the ticket admits. Reports a ticket that cannot enter as an outcome, not as an error.",
  input: checkInInput,
  needs: { caller: 'integration', scope: 'door' },
  async run(input, ctx) {
    const outcome = await checkInTicket(input, ctx)
    if ('refused' in outcome) throw refusalOf(outcome.refused)
    return toPayload(outcome)
  },
  payload: 'Scan that was decided.',
  fields: oneObject('checkIn', CheckInRef, 'The scan and its outcome.'),
})

mutation('checkInTickets', {
  description:
    "Uploads scans that were made while a scanner was offline: checks people with tickets of the integration's organization in or out, each scan with an outcome of its own. Scans are decided in the order of their times `scannedAt`: if two doors let the same ticket in, the earlier scan is `OK` and the later one `NO_ENTRIES_LEFT`. An outcome that was once given stands: a scan that arrives after a later one was counted may be `NO_ENTRIES_LEFT` or `NOT_INSIDE`, so that no more people were ever inside than the ticket admits. Each scan is repeatable by its `idempotencyKey`, also against `checkInTicket`.",
  input: checkInBatchInput,
  needs: { caller: 'integration', scope: 'door' },
  complexity: ({ input }) => ({ field: 1_000, multiplier: Math.min(maxScans, input.scans.length) }),
  run: async ({ scans }, ctx) => ({ results: await checkInTickets(scans, ctx) }),
  payload: 'Outcomes of scans that were uploaded together.',
  fields: (t) => ({
    results: t.field({
      type: [CheckInTicketResultRef],
      description:
        'Result of each scan, in the order of the request. A scan that is not valid, or whose key was used for another one, is `Refused` by itself.',
      // The mutation field counts the scans.
      complexity: { field: 1, multiplier: 1 },
      resolve: ({ results }) =>
        results.map((outcome) => ('refused' in outcome ? outcome : toPayload(outcome))),
    }),
  }),
})

builder.subscriptionField('checkIns', (t) =>
  t.field({
    type: CheckInRef,
    description:
      "Streams the scans of an event's tickets, as they are made at any door, those that were turned away included; a test key hears of test tickets alone, a live key of live ones. Scans that match no ticket are not streamed. A client that sends the `id` of the last event in the stream as `Last-Event-ID` gets the scans since then, of which some may come again.",
    extensions: { needs: { caller: 'integration', scope: 'door', stream: { eventIdOf } } },
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

builder.objectField(EventRef, 'doorsOpenAt', (t) =>
  t.field({
    ...time('Time at which the doors open: scans before it are `TOO_EARLY`.'),
    resolve: ({ startDate }, _args, { services }) =>
      new Date(doorsOpenAt(startDate, services.admissionHours)),
  }),
)

const RedemptionOutcomeRef = enumOf('RedemptionOutcome', 'Outcome of a redemption.', redemptionResults)

mutation('redeemSupplement', {
  description:
    "Redeems items of a supplement that was bought with a ticket of the integration's organization, such as a drink at the bar. Requires a paid ticket, and never redeems more than was bought. Reports a ticket without items left as an outcome, not as an error.",
  input: redeemInput,
  needs: { caller: 'integration', scope: 'door' },
  run: redeemSupplement,
  payload: 'Redemption of a supplement and its outcome.',
  fields: (t) => ({
    outcome: t.expose('result', { type: RedemptionOutcomeRef, description: 'Outcome of the redemption.' }),
    ticket: t.field(ticketOfScan),
    redeemed: t.exposeInt('redeemed', { description: 'Number of items redeemed by this call.' }),
    left: t.int({
      ...nullable(
        'Number of items that can still be redeemed after this call; null unless the outcome is `OK` or `USED_UP`.',
      ),
      resolve: ({ result, left }) => (result === 'OK' || result === 'USED_UP' ? left : null),
    }),
  }),
})
