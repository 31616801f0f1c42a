import type { GraphQLResolveInfo } from 'graphql'
import { z } from 'zod'
import { builder, enumOf } from '../../graphql/builder.ts'
import { connectionOf, costOfPage, type Page } from '../../graphql/connection.ts'
import { argsOf, inputOf, inputTypes } from '../../graphql/input-of.ts'
import { preload } from '../../graphql/lookahead.ts'
import type { Context } from '../../request/context.ts'
import { refusal } from '../../shared/errors.ts'
import * as scalars from '../../shared/input-types.ts'
import { parse } from '../../shared/parse.ts'
import { PaymentRef, PaymentStatusRef } from '../payment/graphql.ts'
import type { Payment } from '../payment/table.ts'
import { TicketRef } from '../ticket/graphql.ts'
import { SaleTypeRef, TicketStatusRef } from '../ticket/parts-graphql.ts'
import type { Ticket } from '../ticket/table.ts'
import { listPayments, paymentFilter } from './list-payments.ts'
import { listTickets, ticketFilter } from './list-tickets.ts'
import type { ListOrder, ListPage, PageRequest } from './request.ts'
import { type Placed, toCursor } from './search.ts'

/** Arguments of a list that is read in either direction. */
const pageArgs = z.object({
  first: scalars.pageSize.nullish().describe('Page size from the front, 1 to 100; 50 without `last`.'),
  after: z.string().nullish().describe('Returns what follows this cursor.'),
  last: scalars.pageSize.nullish().describe('Page size from the end, 1 to 100.'),
  before: z.string().nullish().describe('Returns what comes before this cursor.'),
})
type PageArgs = z.output<typeof pageArgs>

/** Defines the order of a list of these things. */
const orderOf = (name: string, things: string) =>
  enumOf<ListOrder>(name, `Order of ${things}; ties are ordered by identifier.`, {
    CREATED_ASC: 'By checkout, oldest first.',
    CREATED_DESC: 'By checkout, newest first.',
  })

/** Reads a page of a list as a connection, with what the operation selects of its rows. Refuses: INVALID, for `first`
 *  with `last`. */
async function toConnection<Row>(
  { first, last, ...args }: PageArgs,
  info: GraphQLResolveInfo,
  ctx: Context,
  read: (page: PageRequest) => Promise<ListPage<Row>>,
): Promise<Page<Placed<Row>>> {
  if (first && last) throw refusal('INVALID', 'last goes without first.', ['last'])
  const [after, before] = [args.after || null, args.before || null]
  const page = { after, before, size: first ?? last ?? 50, isBackward: Boolean(last) }
  const { rows: nodes, ...found } = await read(page)
  const list = { ...found, nodes, after: after ?? before }
  await preload([list], info, ctx)
  return list
}

const TicketConnectionRef = connectionOf<Ticket, Placed<Ticket>>('Ticket', TicketRef, {
  things: 'tickets',
  description:
    'Page of tickets. It may hold fewer than asked for, even none, although `hasNextPage` is true: a page looks through 10000 tickets of a channel at most for filters that are rare among them, and `endCursor` goes on from there.',
  toCursor,
})

inputTypes.add(ticketFilter.shape.status, { type: TicketStatusRef })
inputTypes.add(ticketFilter.shape.saleType, { type: SaleTypeRef })
inputOf('TicketFilter', ticketFilter)

const TicketOrderRef = orderOf('TicketOrder', 'tickets')

const ticketArgs = pageArgs.extend({
  filter: ticketFilter.nullish().describe('Filter; all tickets if omitted.'),
})

builder.queryField('tickets', (t) =>
  t.field({
    type: TicketConnectionRef,
    nullable: true,
    description:
      'Lists tickets: those that a channel sold, or all of an integration’s organization. Without `orderBy`, they are ordered by `name` or `phone` if the filter has them, else newest first. Null if the field fails, so that an error here leaves the rest of the query intact.',
    extensions: { needs: { caller: 'confidential', scope: 'tickets:read' } },
    complexity: costOfPage(1_000),
    args: {
      ...argsOf(t.arg, ticketArgs),
      orderBy: t.arg({
        type: TicketOrderRef,
        description: 'Order. With `name` or `phone` there is none to choose.',
      }),
    },
    resolve: async (_root, { orderBy, ...args }, ctx, info) => {
      const { filter, ...asked } = parse(ticketArgs, args)
      return toConnection(asked, info, ctx, (page) => listTickets(filter ?? {}, orderBy, page, ctx))
    },
  }),
)

const PaymentConnectionRef = connectionOf<Payment, Placed<Payment>>('Payment', PaymentRef, {
  things: 'payments',
  description:
    'Page of payments. It may hold fewer than asked for, even none, although `hasNextPage` is true: see `TicketConnection`.',
  toCursor,
})

inputTypes.add(paymentFilter.shape.status, { type: PaymentStatusRef })
inputOf('PaymentFilter', paymentFilter)

const PaymentOrderRef = orderOf('PaymentOrder', 'payments')

const paymentArgs = pageArgs.extend({
  filter: paymentFilter.nullish().describe('Filter; all payments if omitted.'),
})

builder.queryField('payments', (t) =>
  t.field({
    type: PaymentConnectionRef,
    nullable: true,
    description:
      "Lists payments: those of a channel's checkouts, or all of an integration's organization. Null if the field fails, so that an error here leaves the rest of the query intact.",
    extensions: { needs: { caller: 'confidential', scope: 'tickets:read' } },
    complexity: costOfPage(1_000),
    args: {
      ...argsOf(t.arg, paymentArgs),
      orderBy: t.arg({ type: PaymentOrderRef, description: 'Order; newest first if omitted.' }),
    },
    resolve: async (_root, { orderBy, ...args }, ctx, info) => {
      const { filter, ...asked } = parse(paymentArgs, args)
      return toConnection(asked, info, ctx, (page) => listPayments(filter ?? {}, orderBy, page, ctx))
    },
  }),
)
