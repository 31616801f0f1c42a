import type { InputFieldBuilder } from '@pothos/core'
import { builder, type DescribedValues } from '../../graphql/builder.ts'
import { catchRefusal, resultUnion } from '../../graphql/mutation-result.ts'
import { requireIntegration } from '../../request/context.ts'
import * as scalars from '../../shared/input-types.ts'
import { TicketRef } from '../ticket/graphql.ts'
import { ticketById } from '../ticket/loaders.ts'
import { checkInInput } from './check-in-input.ts'
import { type CheckedIn, checkInTicket } from './check-in-tickets.ts'
import { ScannedTicketInputRef } from './scanned-ticket-graphql.ts'

const CheckInOutcomeRef = builder.enumType('CheckInOutcome', {
  description: 'Outcome of a scan.',
  values: {
    OK: { value: 'OK', description: 'Admitted, or counted out.' },
    ALREADY_ENTERED: {
      value: 'ALREADY_ENTERED',
      description:
        'The ticket admits no more people, or fewer than the scan lets in: see `entered` and `admits`. Comes before `TOO_EARLY`: see `reasons`.',
    },
    NOT_INSIDE: { value: 'NOT_INSIDE', description: 'Fewer people are inside than leave.' },
    UNPAID: { value: 'UNPAID', description: 'The ticket was never paid, or has expired.' },
    CANCELLED: { value: 'CANCELLED', description: 'The ticket was cancelled.' },
    WRONG_EVENT: { value: 'WRONG_EVENT', description: 'The ticket is for another event.' },
    TOO_EARLY: { value: 'TOO_EARLY', description: 'The doors are not open yet.' },
    UNKNOWN: { value: 'UNKNOWN', description: 'No ticket of the organization matches.' },
  } satisfies DescribedValues<CheckedIn['result']>,
})

export const DirectionRef = builder.enumType('CheckInDirection', {
  description: 'Direction of a scan.',
  values: {
    IN: { value: 'in', description: 'People enter.' },
    OUT: { value: 'out', description: 'People leave, and may enter again with the same ticket.' },
  } as const,
})

const reasonsOf = ({ result, isEarly }: CheckedIn): CheckedIn['result'][] => {
  if (result === 'OK') return []
  return result === 'ALREADY_ENTERED' && isEarly ? [result, 'TOO_EARLY'] : [result]
}

export const CheckInRef = builder.objectRef<CheckedIn>('CheckIn').implement({
  description: 'Scan at the door and its outcome.',
  fields: (t) => ({
    result: t.expose('result', { type: CheckInOutcomeRef, description: 'Outcome of the scan.' }),
    reasons: t.field({
      type: [CheckInOutcomeRef],
      description:
        'All reasons why the people were turned away, the result first; empty if the result is `OK`. Somebody may be inside already before the doors open, by a forced scan: then both `ALREADY_ENTERED` and `TOO_EARLY` are listed.',
      resolve: reasonsOf,
    }),
    ticket: t.field({
      type: TicketRef,
      nullable: true,
      description: 'Ticket that was scanned; null if none was found.',
      resolve: ({ ticketId }, _args, { loaders }) => (ticketId ? loaders.load(ticketById, ticketId) : null),
    }),
    firstEnteredAt: t.expose('firstEnteredAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'Time of the first entry with this ticket that was known before this scan; null if there was none. Later than `at` if this scan was uploaded after it.',
    }),
    direction: t.expose('direction', { type: DirectionRef, description: 'Direction of the scan.' }),
    people: t.exposeInt('people', {
      description: 'Number of people who entered or left, or who were turned away, together.',
    }),
    entered: t.exposeInt('entered', {
      nullable: true,
      description:
        'Number of people inside with the ticket after this scan, or now if it is repeated; null if no ticket was found.',
    }),
    admits: t.exposeInt('admits', {
      nullable: true,
      description: 'Number of people that the ticket admits; null if no ticket was found.',
    }),
    at: t.expose('at', { type: 'DateTime', description: 'Time of the scan.' }),
    force: t.exposeBoolean('force', { description: 'True if the scan was forced.' }),
    idempotentReplayed: t.exposeBoolean('replayed', {
      description: 'True if this repeats the result of an earlier call with the same nonce.',
    }),
  }),
})

export const CheckInResultRef = resultUnion(
  'CheckInResult',
  CheckInRef,
  'Scan and its outcome, or the errors if the input was refused.',
)

type Types = typeof builder.$inferSchemaTypes

/** Input fields of a scan beside its ticket. */
export const scanFields = (t: InputFieldBuilder<Types, 'InputObject'>) => ({
  eventId: t.id({ description: 'Event at this door. Tickets of other events result in `WRONG_EVENT`.' }),
  nonce: t.string({
    required: true,
    description:
      'Idempotency key of the scan, chosen by the scanner. A repeated scan returns the first result.',
  }),
  direction: t.field({
    type: DirectionRef,
    required: true,
    defaultValue: 'in',
    description: 'Direction of the scan.',
  }),
  people: t.int({
    required: true,
    defaultValue: 1,
    description: 'Number of people who enter or leave together, at least 1: all of them or none.',
  }),
  at: t.field({
    type: 'DateTime',
    description:
      'Time of the scan, for scans that are uploaded later; now if omitted. Neither in the future nor before the ticket was sold.',
  }),
})

const CheckInTicketInputRef = builder.inputType('CheckInTicketInput', {
  description: 'Scan at the door.',
  fields: (t) => ({
    ticket: t.field({
      type: ScannedTicketInputRef,
      required: true,
      description: 'Ticket to check in or out.',
    }),
    ...scanFields(t),
    force: t.boolean({
      required: true,
      defaultValue: false,
      description:
        'Overrides `TOO_EARLY` on the day of the event, from midnight at its venue, and, for people who left without a scan, `ALREADY_ENTERED`: up to as many people as the ticket admits then count as inside.',
    }),
  }),
})

builder.mutationField('checkInTicket', (t) =>
  t.field({
    type: CheckInResultRef,
    description:
      "Checks people with a ticket of the integration's organization in or out: all `people` or none, never more than the ticket admits. Integrations only. Reports a ticket that cannot enter as an outcome, not as an error. Idempotent by `nonce`.",
    args: { input: t.arg({ type: CheckInTicketInputRef, required: true, description: 'Scan.' }) },
    resolve: (_root, { input }, ctx) =>
      catchRefusal(
        async () => requireIntegration(ctx) && checkInTicket(scalars.parse(checkInInput, input), ctx),
      ),
  }),
)
