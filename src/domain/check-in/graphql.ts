import { builder, enumOf, nullable, nullableTime, time } from '../../graphql/builder.ts'
import { inputOf, inputTypes } from '../../graphql/input-of.ts'
import { mutation, resultUnion } from '../../graphql/mutation-result.ts'
import type { Context } from '../../request/context.ts'
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
import { type CheckInAnswer, checkInTicket, checkInTickets, type ScanOutcome } from './check-in-tickets.ts'
import { type Redeemed, redeemSupplement } from './redeem-supplement.ts'
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
inputOf('CheckInScanInput', uploadedScan)

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
  return result === 'ALREADY_ENTERED' && isEarly ? [result, 'TOO_EARLY'] : [result]
}

const CheckInRef = builder.objectRef<CheckInAnswer>('CheckIn').implement({
  description: 'Scan at the door and its outcome.',
  fields: (t) => ({
    result: t.expose('result', { type: CheckInOutcomeRef, description: 'Outcome of the scan.' }),
    reasons: t.field({
      type: [CheckInOutcomeRef],
      description:
        'All reasons why the people were turned away, the result first; empty if the result is `OK`. Somebody may be inside already before the doors open, by a forced scan: then both `ALREADY_ENTERED` and `TOO_EARLY` are listed.',
      resolve: reasonsOf,
    }),
    ticket: t.field(ticketOfScan),
    firstEnteredAt: t.expose(
      'firstEnteredAt',
      nullableTime(
        'Time of the first entry with this ticket that was known before this scan; null if there was none. Later than `at` if this scan was uploaded after it.',
      ),
    ),
    direction: t.expose('direction', { type: DirectionRef, description: 'Direction of the scan.' }),
    people: t.exposeInt('people', {
      description: 'Number of people who entered or left, or who were turned away, together.',
    }),
    entered: t.exposeInt(
      'entered',
      nullable(
        'Number of people inside with the ticket after this scan, or now if it is repeated; null if no ticket was found.',
      ),
    ),
    admits: t.exposeInt(
      'admits',
      nullable('Number of people that the ticket admits; null if no ticket was found.'),
    ),
    at: t.expose('at', time('Time of the scan.')),
    force: t.exposeBoolean('force', { description: 'True if the scan was forced.' }),
    idempotentReplayed: t.exposeBoolean('replayed', {
      description: 'True if this repeats the result of an earlier call with the same nonce.',
    }),
  }),
})

const CheckInResultRef = resultUnion(
  'CheckInResult',
  CheckInRef,
  'Scan and its outcome, or the errors if the input was refused.',
)

mutation('checkInTicket', {
  description:
    "Checks people with a ticket of the integration's organization in or out: all `people` or none, never more than the ticket admits. Integrations only. Reports a ticket that cannot enter as an outcome, not as an error. Idempotent by `nonce`.",
  input: checkInInput,
  result: CheckInResultRef,
  needs: { caller: 'integration', scope: 'door' },
  run: checkInTicket,
})

const PayloadRef = builder.objectRef<{ results: ScanOutcome[] }>('CheckInTicketsPayload').implement({
  description: 'Outcomes of scans that were uploaded together.',
  fields: (t) => ({
    results: t.field({
      type: [CheckInResultRef],
      description:
        'Outcome of each scan, in the order of the request. A scan that is not valid, or whose nonce was used for another one, is `Refused` by itself.',
      // The mutation field counts the scans.
      complexity: { field: 1, multiplier: 1 },
      resolve: ({ results }) => results,
    }),
  }),
})

mutation('checkInTickets', {
  description:
    "Uploads scans that were made while a scanner was offline: checks people with tickets of the integration's organization in or out, each scan with an outcome of its own. Integrations only. Scans are decided in the order of their times `at`: if two doors let the same ticket in, the earlier scan is `OK` and the later one `ALREADY_ENTERED`. A result that was once given stands: a scan that arrives after a later one was counted may be `ALREADY_ENTERED` or `NOT_INSIDE`, so that no more people were ever inside than the ticket admits. Each scan is idempotent by its `nonce`, also against `checkInTicket`.",
  input: checkInBatchInput,
  result: resultUnion(
    'CheckInTicketsResult',
    PayloadRef,
    'Outcomes of scans, or the errors if there were none or too many.',
  ),
  needs: { caller: 'integration', scope: 'door' },
  complexity: ({ input }) => ({ field: 1_000, multiplier: Math.min(maxScans, input.scans.length) }),
  run: async ({ scans }, ctx) => ({ results: await checkInTickets(scans, ctx) }),
})

builder.subscriptionField('checkIns', (t) =>
  t.field({
    type: CheckInRef,
    description:
      "Streams the scans of an event's tickets, as they are made at any door, those that were turned away included; a test key hears of test tickets alone, a live key of live ones. Scans that match no ticket are not streamed. Integrations only. A client that sends the `id` of the last event in the stream as `Last-Event-ID` gets the scans since then, of which some may come again.",
    extensions: { needs: { caller: 'integration', scope: 'door', stream: { eventIdOf } } },
    args: { eventId: t.arg.id({ required: true, description: "Event of the integration's organization." }) },
    subscribe: (_root, { eventId }, ctx) => watchCheckIns(eventId, ctx.lastEventId, ctx),
    resolve: (checkIn: LoggedCheckIn, _args, { services }) => ({
      ...checkIn,
      isEarly: checkIn.at.getTime() < doorsOpenAt(checkIn.startDate, services.admissionHours),
      replayed: false,
    }),
  }),
)

const RedemptionOutcomeRef = enumOf('RedemptionOutcome', 'Outcome of a redemption.', redemptionResults)

const RedemptionRef = builder.objectRef<Redeemed>('Redemption').implement({
  description: 'Redemption of a supplement and its outcome.',
  fields: (t) => ({
    result: t.expose('result', { type: RedemptionOutcomeRef, description: 'Outcome of the redemption.' }),
    ticket: t.field(ticketOfScan),
    supplementId: t.exposeID('supplementId', { description: 'Identifier of the supplement.' }),
    redeemed: t.exposeInt('redeemed', { description: 'Number of items redeemed by this call.' }),
    left: t.exposeInt('left', {
      description:
        'Number of items that could still be redeemed after this call; 0 unless `OK` or `USED_UP`.',
    }),
    idempotentReplayed: t.exposeBoolean('replayed', {
      description: 'True if this repeats the result of an earlier call with the same nonce.',
    }),
  }),
})

mutation('redeemSupplement', {
  description:
    "Redeems items of a supplement that was bought with a ticket of the integration's organization, such as a drink at the bar. Integrations only. Requires a paid ticket, and never redeems more than was bought. Reports a ticket without items left as an outcome, not as an error. Idempotent by `nonce`.",
  input: redeemInput,
  result: resultUnion(
    'RedeemSupplementResult',
    RedemptionRef,
    'Redemption and its outcome, or the errors if the input was refused.',
  ),
  needs: { caller: 'integration', scope: 'door' },
  run: redeemSupplement,
})
