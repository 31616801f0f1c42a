import { z } from 'zod'
import { builder, type DescribedValues } from '../../graphql/builder.ts'
import { connectionOf } from '../../graphql/connection.ts'
import { inputOf, inputTypes } from '../../graphql/input-of.ts'
import { preload } from '../../graphql/lookahead.ts'
import { requireConfidential } from '../../request/context.ts'
import * as scalars from '../../shared/input-types.ts'
import { TicketRef } from './graphql.ts'
import { type Placed, toCursor } from './list-cursor.ts'
import { listTickets, type TicketOrder, ticketFilter } from './list-tickets.ts'
import { pageArgs, toConnection } from './page-args-graphql.ts'
import { SaleTypeRef, TicketStatusRef } from './parts-graphql.ts'
import type { Ticket } from './table.ts'

const TicketConnectionRef = connectionOf<Ticket, Placed<Ticket>>('Ticket', TicketRef, {
  things: 'tickets',
  description:
    'Page of tickets. It may hold fewer than asked for, even none, although `hasNextPage` is true: a page looks through 10000 tickets of a channel at most for filters that are rare among them, and `endCursor` goes on from there.',
  toCursor,
})

inputTypes.add(ticketFilter.shape.status, { type: TicketStatusRef })
inputTypes.add(ticketFilter.shape.saleType, { type: SaleTypeRef })
const TicketFilterRef = inputOf('TicketFilter', ticketFilter)

const TicketOrderRef = builder.enumType('TicketOrder', {
  description: 'Order of tickets; ties are ordered by identifier.',
  values: {
    CREATED_ASC: { value: 'CREATED_ASC', description: 'By checkout, oldest first.' },
    CREATED_DESC: { value: 'CREATED_DESC', description: 'By checkout, newest first.' },
  } satisfies DescribedValues<TicketOrder>,
})

const input = z.object({ filter: ticketFilter })

builder.objectField(TicketRef, 'updatedAt', (t) =>
  t.expose('updatedAt', { type: 'DateTime', description: 'Time of the last change of the ticket.' }),
)

builder.queryField('tickets', (t) =>
  t.field({
    type: TicketConnectionRef,
    nullable: true,
    description:
      'Lists tickets: those that a channel sold, or all of an integration’s organization. Without `orderBy`, they are ordered by `name` or `phone` if the filter has them, else newest first. Null if the field fails, so that an error here leaves the rest of the query intact.',
    complexity: ({ first, last }) => ({
      field: 1_000,
      multiplier: Math.min(100, Math.max(1, first ?? last ?? 50)),
    }),
    args: {
      ...pageArgs(t, 'tickets'),
      filter: t.arg({ type: TicketFilterRef, description: 'Filter; all tickets if omitted.' }),
      orderBy: t.arg({
        type: TicketOrderRef,
        description: 'Order. With `name` or `phone` there is none to choose.',
      }),
    },
    resolve: async (_root, { filter, orderBy, ...args }, ctx, info) => {
      requireConfidential(ctx)
      const { filter: parsed } = scalars.parse(input, { filter: filter ?? {} })
      const list = await toConnection(args, (page) => listTickets(parsed, orderBy, page, ctx))
      await preload([list], info, ctx)
      return list
    },
  }),
)
