import { type PromiseOrValue, whenKnown } from '../../engine/data/loader.ts'
import { builder, fieldOf } from '../../engine/graphql/builder.ts'
import { toRow } from '../../engine/graphql/lookahead.ts'
import { type Context, loadNamed } from '../caller/context.ts'
import { ChangeRef } from '../change/graphql.ts'
import { PaymentRef } from '../payment/graphql.ts'
import { paymentById } from '../payment/loaders.ts'
import type { Payment } from '../payment/table.ts'
import { TicketRateRef } from '../ticket-rate/graphql.ts'
import { ticketRateById } from '../ticket-rate/loaders.ts'
import type { TicketRate } from '../ticket-rate/table.ts'
import { TicketRef } from './graphql.ts'
import { ticketById } from './loaders.ts'
import type { Ticket } from './table.ts'

type Subject = Payment | Ticket | TicketRate

const ChangeSubjectRef = builder.unionType('ChangeSubject', {
  description:
    'Subject of a change. Members may be added: treat an unknown one as nothing that concerns you.',
  types: [PaymentRef, TicketRef, TicketRateRef],
})

type Find = (id: string, ctx: Context) => PromiseOrValue<Subject | null>

// By the part of a change's type before the dot. The loader of rates finds those of any organization.
const subjects: Record<string, { __typename: string; find: Find }> = {
  payment: { __typename: 'Payment', find: (id, { loaders }) => loaders.get(paymentById).get(id) },
  ticket: { __typename: 'Ticket', find: (id, { loaders }) => loaders.get(ticketById).get(id) },
  rate: { __typename: 'TicketRate', find: (id, ctx) => loadNamed(ctx, ticketRateById, id) },
}

fieldOf(ChangeRef, 'subject', {
  type: ChangeSubjectRef,
  nullable: true,
  description:
    'Payment, ticket or rate that changed, as it is now; null if the caller may not see it any more, unless only its `id` is asked for. Their `status` are of different types, so ask for each under a name of its own: `subject { ... on Payment { paymentStatus: status } ... on Ticket { ticketStatus: status } }`.',
  resolve(change, _args, ctx, info) {
    const { subjectId, type } = change
    const subject = subjects[type.split('.')[0] ?? '']
    if (!subject) throw new Error(`nothing has changes of type ${type}`)
    const { __typename, find } = subject
    const row = toRow(subjectId, info, () => find(subjectId, ctx))
    return whenKnown(row, (row) => row && { ...row, __typename })
  },
})
