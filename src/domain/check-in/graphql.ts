import type { ObjectRef } from '@pothos/core'
import { refusalOf } from '../../engine/base/errors.ts'
import {
  builder,
  enumOf,
  fieldOf,
  NodeRef,
  nullable,
  nullableTime,
  subscriptionField,
  type Types,
  time,
} from '../../engine/graphql/builder.ts'
import { connectionOf, costOfPage, forwardArgs, readForward } from '../../engine/graphql/connection.ts'
import { inputOf, inputTypes } from '../../engine/graphql/input-of.ts'
import { viaLoader } from '../../engine/graphql/lookahead.ts'
import { mutation, oneObject } from '../../engine/graphql/mutation-result.ts'
import { isIntegrationWith, loadNamed } from '../caller/context.ts'
import { EventRef } from '../event/graphql.ts'
import { eventById } from '../event/loaders.ts'
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
import { checkInTicket, checkInTickets } from './check-in-tickets.ts'
import {
  attendanceByEventId,
  checkInById,
  checkInsByEventId,
  checkInsByTicketId,
  pageKey,
  readCursor,
  toCursor,
} from './loaders.ts'
import { redeemSupplement } from './redeem-supplement.ts'
import { doorsOpenAt, type NewCheckIn } from './scan-book.ts'
import { type CheckIn, checkInOutcomes, redemptionOutcomes } from './table.ts'
import { watchCheckIns } from './watch-check-ins.ts'

const CheckInOutcomeRef = enumOf(
  'CheckInOutcome',
  'Outcome of a scan. Values may be added: treat an unknown one as people who were turned away.',
  checkInOutcomes,
)

const DirectionRef = enumOf<NewCheckIn['direction']>(
  'CheckInDirection',
  'Direction of a scan. Values may be added: treat an unknown one as one that changes nothing.',
  {
    in: 'People enter.',
    out: 'People leave, and may enter again with the same ticket.',
  },
)

inputTypes.add(direction, { type: DirectionRef })
inputOf('ScannedTicketInput', scannedTicket, { isOneOf: true })
inputOf('ScanInput', uploadedScan)

/** Field of an outcome, at the door or at the bar. */
const ticketOfScan = {
  type: TicketRef,
  ...nullable('Ticket that was scanned; null if none was found.'),
  ...viaLoader(ticketById, ({ ticketId }: { ticketId: string | null }) => ticketId),
} as const

const reasonsOf = ({ outcome, isEarly }: NewCheckIn): NewCheckIn['outcome'][] => {
  if (outcome === 'OK') return []
  return outcome === 'NO_ENTRIES_LEFT' && isEarly ? [outcome, 'TOO_EARLY'] : [outcome]
}

const CheckInRef = builder.objectRef<NewCheckIn>('CheckIn').implement({
  description: 'Scan at the door and its outcome, which stands whatever happens later.',
  interfaces: [NodeRef],
  extensions: { node: { prefix: 'chk', scope: 'door', load: checkInById } },
  fields: (t) => ({
    event: t.field({
      type: EventRef,
      ...nullable('Event at the door; null if there is no such event.'),
      resolve: ({ eventId }, _args, ctx) => loadNamed(ctx, eventById, eventId),
    }),
    outcome: t.expose('outcome', { type: CheckInOutcomeRef, description: 'Outcome of the scan.' }),
    reasons: t.field({
      type: [CheckInOutcomeRef],
      description:
        'All reasons why the people were turned away, the outcome first; empty if that is `OK`. Both `NO_ENTRIES_LEFT` and `TOO_EARLY` may apply, after a forced scan.',
      resolve: reasonsOf,
    }),
    ticket: t.field(ticketOfScan),
    firstEnteredAt: t.expose(
      'firstEnteredAt',
      nullableTime(
        'Time of the first entry with the ticket that was known before this scan; null if there was none. It may be later than `scannedAt` of a scan that was uploaded.',
      ),
    ),
    direction: t.expose('direction', { type: DirectionRef, description: 'Direction of the scan.' }),
    people: t.exposeInt('people', {
      description: 'Number of people who entered or left, or who were turned away, together.',
    }),
    inside: t.exposeInt(
      'inside',
      nullable('Number of people inside with the ticket after this scan; null if no ticket was found.'),
    ),
    admits: t.exposeInt(
      'admits',
      nullable('Number of people that the ticket admits; null if no ticket was found.'),
    ),
    scannedAt: t.expose('scannedAt', time('Time of the scan.')),
    forced: t.exposeBoolean('forced', { description: 'True if the scan was forced.' }),
  }),
})

const CheckInTicketResultRef = mutation('checkInTicket', {
  description:
    "Checks people with a ticket of the integration's organization in or out: all `people` or none, never more than the ticket admits. Reports a ticket that cannot enter as an outcome, not as an error.",
  input: checkInInput,
  needs: { caller: 'integration', scope: 'door' },
  async run(input, ctx) {
    const outcome = await checkInTicket(input, ctx)
    if ('refused' in outcome) throw refusalOf(outcome.refused)
    return outcome
  },
  payload: 'Scan that was decided.',
  fields: oneObject('checkIn', CheckInRef, 'The scan and its outcome.'),
})

mutation('checkInTickets', {
  description:
    'Uploads scans that were made while a scanner was offline, each with an outcome of its own. They are decided in the order of `scannedAt`: if two doors let the same ticket in, the earlier scan is `OK` and the later one `NO_ENTRIES_LEFT`. An outcome once given stands, whatever earlier scans arrive afterwards. Each scan can be repeated by its `idempotencyKey`, also as `checkInTicket`.',
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
      resolve: ({ results }) => results,
    }),
  }),
})

const list = connectionOf<NewCheckIn, CheckIn>('CheckIn', CheckInRef, {
  things: 'check-ins',
  description: 'Page of check-ins, newest first.',
  toCursor,
})

subscriptionField('checkIns', {
  type: list.edge,
  description:
    'Streams the scans of an event, as `Event.checkIns` lists them. After a cursor it begins with those since then, of which some may come again: their `id` tells. The cursor is also the `id` of the message, which a client may send as `Last-Event-ID` to go on.',
  needs: { caller: 'integration', scope: 'door', stream: { eventIdOf: toCursor } },
  args: builder.args((t) => ({
    eventId: t.id({ required: true, description: "Event of the integration's organization." }),
    after: t.string({
      description:
        'Streams scans after this cursor, such as the `startCursor` of the first page of `Event.checkIns`; those made from now on if omitted.',
    }),
  })),
  subscribe: (_root, { eventId, after }, ctx) => watchCheckIns(eventId, after, ctx),
  resolve: (checkIn) => checkIn,
})

/** Defines the list of check-ins of an event or a ticket. */
const defineCheckIns = <Parent extends { id: string }>(
  ref: ObjectRef<Types, Parent>,
  load: typeof checkInsByEventId,
  what: string,
) =>
  fieldOf(ref, 'checkIns', {
    type: list.connection,
    ...nullable(`${what} Null unless the caller is an integration with \`DOOR\`.`),
    complexity: costOfPage(20),
    args: forwardArgs('Returns check-ins before that of this cursor; from the newest if omitted.'),
    resolve: async ({ id }, args, ctx) => {
      if (!isIntegrationWith(ctx, 'door')) return null
      const page = await readForward(args, readCursor, (before, limit) =>
        ctx.loaders.load(load, pageKey(id, limit, before)),
      )
      // A stream goes on from an empty list, too.
      const startCursor = page.after || page.nodes[0] ? null : toCursor({ createdAt: ctx.now, id: '' })
      return { ...page, startCursor }
    },
  })

defineCheckIns(
  EventRef,
  checkInsByEventId,
  "Scans at the event's doors in the mode of the key, newest first, also of those who were turned away.",
)
defineCheckIns(TicketRef, checkInsByTicketId, 'Scans of the ticket at any door, newest first.')

const AttendanceRef = builder
  .objectRef<{ sold: number; inside: number; entered: number }>('Attendance')
  .implement({
    description: "Numbers of people at an event, by the tickets of the key's mode.",
    fields: (t) => ({
      sold: t.exposeInt('sold', {
        description: 'Number of people that the paid tickets admit, without cancelled ones.',
      }),
      inside: t.exposeInt('inside', { description: 'Number of people inside now.' }),
      entered: t.exposeInt('entered', {
        description:
          'Number of people who have ever entered: with each ticket the most who were inside at once.',
      }),
    }),
  })

fieldOf(EventRef, 'attendance', {
  type: AttendanceRef,
  ...nullable(
    'Numbers of people with a ticket, inside, and who have entered. Null unless the caller is an integration with `DOOR` or `SALES`.',
  ),
  // Adds up the tickets of the event.
  complexity: { field: 200, multiplier: 1 },
  resolve: async ({ id }, _args, ctx) => {
    if (!isIntegrationWith(ctx, 'door', 'sales')) return null
    return (await ctx.loaders.load(attendanceByEventId, id)) ?? { sold: 0, inside: 0, entered: 0 }
  },
})

fieldOf(EventRef, 'doorsOpenAt', {
  ...time('Time at which the doors open. Scans before it are `TOO_EARLY`.'),
  resolve: ({ startDate }, _args, { services }) => doorsOpenAt(startDate, services.admissionHours),
})

const RedemptionOutcomeRef = enumOf(
  'RedemptionOutcome',
  'Outcome of a redemption. Values may be added: treat an unknown one as nothing that is to be handed out.',
  redemptionOutcomes,
)

mutation('redeemSupplement', {
  description:
    "Redeems items of a supplement that was bought with a ticket of the integration's organization, such as a drink at the bar. Requires a paid ticket, and never redeems more than was bought. Reports a ticket without items left as an outcome, not as an error.",
  input: redeemInput,
  needs: { caller: 'integration', scope: 'door' },
  run: redeemSupplement,
  payload: 'Redemption of a supplement and its outcome.',
  fields: (t) => ({
    outcome: t.expose('outcome', { type: RedemptionOutcomeRef, description: 'Outcome of the redemption.' }),
    ticket: t.field(ticketOfScan),
    redeemed: t.exposeInt('redeemed', { description: 'Number of items redeemed by this call.' }),
    left: t.int({
      ...nullable(
        'Number of items that can still be redeemed after this call; null unless the outcome is `OK` or `USED_UP`.',
      ),
      resolve: ({ outcome, left }) => (outcome === 'OK' || outcome === 'USED_UP' ? left : null),
    }),
  }),
})
