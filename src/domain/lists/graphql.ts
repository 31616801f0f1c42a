import type { ObjectRef } from '@pothos/core'
import { z } from 'zod'
import * as scalars from '../../engine/base/input-types.ts'
import { parse } from '../../engine/base/parse.ts'
import { enumOf, queryField, type Types } from '../../engine/graphql/builder.ts'
import { connectionOf, costOfPage } from '../../engine/graphql/connection.ts'
import { argsOf, inputOf, inputTypes } from '../../engine/graphql/input-of.ts'
import { preload } from '../../engine/graphql/lookahead.ts'
import type { Context } from '../caller/context.ts'
import { refusal } from '../contract/problem-codes.ts'
import { PaymentRef, PaymentStatusRef, SaleTypeRef } from '../payment/graphql.ts'
import { TicketRef } from '../ticket/graphql.ts'
import { TicketStatusRef } from '../ticket/parts-graphql.ts'
import * as payments from './list-payments.ts'
import * as tickets from './list-tickets.ts'
import { type ListOrder, type ListPage, listOrders, type PageRequest } from './request.ts'
import { type Positioned, toCursor } from './search.ts'

const orders = z.enum(listOrders)

/** Defines the root field of a list, which is read in either direction, with the types of its pages, filters and
 *  orders. Refuses: INVALID, for `first` with `last`. */
function defineList<Row extends object, Filter>(
  name: 'Ticket' | 'Payment',
  node: ObjectRef<Types, Row>,
  filterType: z.ZodType<Filter, object>,
  list: (filter: Filter, page: PageRequest, ctx: Context) => Promise<ListPage<Row>>,
  orderBy: z.ZodType<ListOrder | null | undefined>,
  texts: { list: string; page: string },
): void {
  const things = `${name.toLowerCase()}s`
  const { connection } = connectionOf<Row, Positioned<Row>>(name, node, {
    things,
    toCursor,
    description: `Page of ${things}. It may hold fewer than asked for, even none, although \`hasNextPage\` is true: ${texts.page}`,
  })
  const OrderRef = enumOf<ListOrder>(`${name}Order`, `Order of ${things}; ties are ordered by identifier.`, {
    CREATED_ASC: 'By checkout, oldest first.',
    CREATED_DESC: 'By checkout, newest first.',
  })
  inputTypes.add(orderBy, { type: OrderRef })
  inputOf(`${name}Filter`, filterType)
  const input = z.object({
    first: scalars.pageSize.nullish().describe('Page size from the front, 1 to 100; 50 without `last`.'),
    after: z.string().nullish().describe('Returns what follows this cursor.'),
    last: scalars.pageSize.nullish().describe('Page size from the end, 1 to 100.'),
    before: z.string().nullish().describe('Returns what comes before this cursor.'),
    filter: filterType.nullish().describe(`Filter; all ${things} if omitted.`),
    orderBy,
  })
  queryField(things, {
    type: connection,
    description: texts.list,
    needs: { caller: 'confidential', scope: 'tickets:read' },
    complexity: costOfPage(1_000),
    args: argsOf(input),
    resolve: async (_root, args, ctx, info) => {
      const { first, last, filter, orderBy, ...asked } = parse(input, args)
      if (first && last) throw refusal('INVALID', 'last goes without first.', ['last'])
      const [after, before] = [asked.after || null, asked.before || null]
      const request = { orderBy, after, before, size: first ?? last ?? 50, isBackward: Boolean(last) }
      const { rows: nodes, ...found } = await list(filter ?? ({} as Filter), request, ctx)
      const page = { ...found, nodes, after: after ?? before }
      await preload([page], info, ctx)
      return page
    },
  })
}

inputTypes.add(tickets.listedStatus, { type: TicketStatusRef })
inputTypes.add(tickets.listedSaleType, { type: SaleTypeRef })
// Its default depends on the filter.
const ticketOrder = orders
  .nullish()
  .describe('Order; newest first if omitted. A filter by `name` or `phone` orders by itself, and takes none.')
defineList('Ticket', TicketRef, tickets.ticketFilter, tickets.listTickets, ticketOrder, {
  list: "Lists the tickets that a channel sold, or all of an integration's organization.",
  page: 'a page looks through at most 10000 tickets of a channel, and `endCursor` goes on from there.',
})

inputTypes.add(payments.listedStatus, { type: PaymentStatusRef })
const paymentOrder = orders.default('CREATED_DESC').describe('Order of the payments.')
defineList('Payment', PaymentRef, payments.paymentFilter, payments.listPayments, paymentOrder, {
  list: "Lists the payments of a channel's checkouts, or all of an integration's organization.",
  page: 'see `TicketConnection`.',
})
