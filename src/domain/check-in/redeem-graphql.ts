import { builder, type DescribedValues } from '../../graphql/builder.ts'
import { mutation, resultUnion } from '../../graphql/mutation-result.ts'
import { requireIntegration } from '../../request/context.ts'
import { TicketRef } from '../ticket/graphql.ts'
import { ticketById } from '../ticket/loaders.ts'
import { redeemInput } from './check-in-input.ts'
import { type Redeemed, redeemSupplement } from './redeem-supplement.ts'

const RedemptionOutcomeRef = builder.enumType('RedemptionOutcome', {
  description: 'Outcome of a redemption.',
  values: {
    OK: { value: 'OK', description: 'The items are to be handed out.' },
    USED_UP: {
      value: 'USED_UP',
      description: 'Fewer items are left than were asked for. None was redeemed.',
    },
    NOT_BOUGHT: { value: 'NOT_BOUGHT', description: 'The supplement was not bought with the ticket.' },
    UNPAID: { value: 'UNPAID', description: 'The ticket was never paid, or has expired.' },
    CANCELLED: { value: 'CANCELLED', description: 'The ticket was cancelled.' },
    UNKNOWN: { value: 'UNKNOWN', description: 'No ticket of the organization matches.' },
  } satisfies DescribedValues<Redeemed['result']>,
})

const RedemptionRef = builder.objectRef<Redeemed>('Redemption').implement({
  description: 'Redemption of a supplement and its outcome.',
  fields: (t) => ({
    result: t.expose('result', { type: RedemptionOutcomeRef, description: 'Outcome of the redemption.' }),
    ticket: t.field({
      type: TicketRef,
      nullable: true,
      description: 'Ticket that was scanned; null if none was found.',
      resolve: ({ ticketId }, _args, { loaders }) => (ticketId ? loaders.load(ticketById, ticketId) : null),
    }),
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
  caller: requireIntegration,
  run: redeemSupplement,
})
