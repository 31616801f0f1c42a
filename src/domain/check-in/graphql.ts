import { builder, type DescribedValues } from '../../graphql/builder.ts'
import { catchRefusal, resultUnion } from '../../graphql/mutation-result.ts'
import { requireIntegration } from '../../request/context.ts'
import * as scalars from '../../shared/input-types.ts'
import { TicketRef } from '../ticket/graphql.ts'
import { ticketById } from '../ticket/loaders.ts'
import { checkInInput } from './check-in-input.ts'
import { type CheckedIn, checkInTicket } from './check-in-ticket.ts'

const CheckInOutcomeRef = builder.enumType('CheckInOutcome', {
  description: 'Outcome of a scan.',
  values: {
    OK: { value: 'OK', description: 'Admitted, or counted out.' },
    ALREADY_ENTERED: {
      value: 'ALREADY_ENTERED',
      description: 'Everybody that the ticket admits is already inside.',
    },
    NOT_INSIDE: { value: 'NOT_INSIDE', description: 'Nobody is inside to leave.' },
    UNPAID: { value: 'UNPAID', description: 'The ticket was never paid, or has expired.' },
    CANCELLED: { value: 'CANCELLED', description: 'The ticket was cancelled.' },
    WRONG_EVENT: { value: 'WRONG_EVENT', description: 'The ticket is for another event.' },
    TOO_EARLY: { value: 'TOO_EARLY', description: 'The doors are not open yet.' },
    UNKNOWN: { value: 'UNKNOWN', description: 'No ticket of the organization matches.' },
  } satisfies DescribedValues<CheckedIn['result']>,
})

const DirectionRef = builder.enumType('CheckInDirection', {
  description: 'Direction of a scan.',
  values: {
    IN: { value: 'in', description: 'Somebody enters.' },
    OUT: { value: 'out', description: 'Somebody leaves, and may enter again with the same ticket.' },
  } as const,
})

const CheckInRef = builder.objectRef<CheckedIn>('CheckIn').implement({
  description: 'Scan at the door and its outcome.',
  fields: (t) => ({
    result: t.expose('result', { type: CheckInOutcomeRef, description: 'Outcome of the scan.' }),
    ticket: t.field({
      type: TicketRef,
      nullable: true,
      description: 'Ticket that was scanned; null if none was found.',
      resolve: ({ ticketId }, _args, { loaders }) => (ticketId ? loaders.load(ticketById, ticketId) : null),
    }),
    firstEnteredAt: t.expose('firstEnteredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the first entry with this ticket before this scan; null if there was none.',
    }),
    direction: t.expose('direction', { type: DirectionRef, description: 'Direction of the scan.' }),
    at: t.expose('at', { type: 'DateTime', description: 'Time of the scan.' }),
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

builder.mutationField('checkInTicket', (t) =>
  t.field({
    type: CheckInResultRef,
    description:
      "Checks a ticket of the integration's organization in or out. Integrations only. Reports a ticket that cannot enter as an outcome, not as an error. Idempotent by `nonce`.",
    args: {
      qrCode: t.arg.string({
        description:
          'Code that was scanned. Required unless `ticketId` is given. Give exactly one of the two.',
      }),
      ticketId: t.arg.id({ description: 'Ticket identifier, for a check-in without a scan.' }),
      eventId: t.arg.id({
        description: 'Event at this door. Tickets of other events result in `WRONG_EVENT`.',
      }),
      nonce: t.arg.string({
        required: true,
        description:
          'Idempotency key of the scan, chosen by the scanner. A repeated call returns the first result.',
      }),
      direction: t.arg({
        type: DirectionRef,
        required: true,
        defaultValue: 'in',
        description: 'Direction of the scan.',
      }),
      at: t.arg({
        type: 'DateTime',
        description: 'Time of the scan, for scans that are uploaded later; now if omitted.',
      }),
      force: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: 'Overrides `TOO_EARLY` and `ALREADY_ENTERED`.',
      }),
    },
    resolve: (_root, args, ctx) =>
      catchRefusal(
        async () => requireIntegration(ctx) && checkInTicket(scalars.parse(checkInInput, args), ctx),
      ),
  }),
)
