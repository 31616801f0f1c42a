import { builder } from '../../graphql/builder.ts'
import { catchRefusal, resultUnion } from '../../graphql/mutation-result.ts'
import { requireIntegration } from '../../request/context.ts'
import * as scalars from '../../shared/input-types.ts'
import { TicketRef } from '../ticket/graphql.ts'
import { ticketById } from '../ticket/loaders.ts'
import { checkInInput } from './check-in-input.ts'
import { type CheckedIn, checkInTicket } from './check-in-ticket.ts'
import { checkInResult } from './table.ts'

const CheckInOutcomeRef = builder.enumType('CheckInOutcome', {
  description:
    '`OK`, or why not: in already, not inside when going out, not paid (or no longer held), cancelled, a ticket of another event, the doors are not open yet, or no ticket of the organization.',
  values: checkInResult.enumValues,
})

const DirectionRef = builder.enumType('CheckInDirection', {
  description: 'Which way somebody goes.',
  values: { IN: { value: 'in' }, OUT: { value: 'out' } } as const,
})

const CheckInRef = builder.objectRef<CheckedIn>('CheckIn').implement({
  description: 'A scan at the door, and how it went.',
  fields: (t) => ({
    result: t.expose('result', { type: CheckInOutcomeRef, description: 'How it went.' }),
    ticket: t.field({
      type: TicketRef,
      nullable: true,
      description: 'The ticket; null where there is none.',
      resolve: ({ ticketId }, _args, { loaders }) => (ticketId ? loaders.load(ticketById, ticketId) : null),
    }),
    firstEnteredAt: t.expose('firstEnteredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When somebody was first let in with it, before this.',
    }),
    direction: t.expose('direction', { type: DirectionRef, description: 'Which way.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When it was scanned.' }),
    force: t.exposeBoolean('force', { description: 'Whether it was by force.' }),
    idempotentReplayed: t.exposeBoolean('replayed', {
      description: 'Whether this is an earlier answer again, under the same nonce.',
    }),
  }),
})

const CheckInResultRef = resultUnion(
  'CheckInResult',
  CheckInRef,
  'A scan and how it went; refused only where it was not asked for as it must be.',
)

builder.mutationField('checkInTicket', (t) =>
  t.field({
    type: CheckInResultRef,
    description:
      'Lets in (or out) with a ticket of the integration’s organization. Answers at the door with a result rather than an error.',
    args: {
      qrCode: t.arg.string({ description: 'The code that was scanned; else `ticketId`.' }),
      ticketId: t.arg.id({ description: 'The ticket, where its code was not scanned.' }),
      eventId: t.arg.id({ description: 'The event at whose door it is: others’ tickets are WRONG_EVENT.' }),
      nonce: t.arg.string({
        required: true,
        description: 'The scanner’s own name for the scan: sent again, it is answered the same again.',
      }),
      direction: t.arg({
        type: DirectionRef,
        required: true,
        defaultValue: 'in',
        description: 'Which way.',
      }),
      at: t.arg({ type: 'DateTime', description: 'When it was scanned, for what is sent later; else now.' }),
      force: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: 'Lets in before the doors open, and whoever is in already by what was scanned.',
      }),
    },
    resolve: (_root, given, ctx) =>
      catchRefusal(
        async () => requireIntegration(ctx) && checkInTicket(scalars.parse(checkInInput, given), ctx),
      ),
  }),
)
