import type { GraphQLResolveInfo } from 'graphql'
import type { Loader } from '../../../engine/data/loader.ts'
import { amountOf, builder, enumOf, fieldOf, nullable } from '../../../engine/graphql/builder.ts'
import { connectionOf, costOfPage, forwardArgs, readForward } from '../../../engine/graphql/connection.ts'
import { toRow } from '../../../engine/graphql/lookahead.ts'
import type { LoaderDefinition } from '../../../engine/request/loaders.ts'
import { type Context, isIntegrationWith } from '../../caller/context.ts'
import { EventRef } from '../../event/graphql.ts'
import { channelById } from '../../organization/loaders.ts'
import { ChannelRef } from '../../organization/viewer-graphql.ts'
import { SaleTypeRef } from '../../payment/graphql.ts'
import { TicketRateRef } from '../../ticket-rate/graphql.ts'
import { priceById, ticketRateById } from '../../ticket-rate/loaders.ts'
import { PriceRef } from '../../ticket-rate/parts-graphql.ts'
import { readCursor, type SalesGrouping, type SalesRow, salesByEventId, toCursor } from './sales-loaders.ts'

const SalesGroupingRef = enumOf<SalesGrouping>('SalesGrouping', 'Property that sales are summed by.', {
  RATE: 'Ticket rate.',
  PRICE: 'Price of a rate.',
  DAY: "Day of the payment in the time zone of the event's location, UTC without one.",
  CHANNEL: 'Channel. Sales at the door and invitations have none, and come last.',
  REFERRAL: 'Referral of the checkout. Tickets without one come last.',
  SALE_TYPE: 'Way of selling.',
})

/** Reads the key of a row of a grouping; null from rows of others. */
const keyBy = (groupBy: SalesGrouping) => (row: SalesRow) => (row.groupBy === groupBy ? row.key : null)

/** Options of an edge to what the key of a grouping identifies. */
const edge = <Row>(
  groupBy: SalesGrouping,
  description: string,
  definition: LoaderDefinition<Loader<Row | null>>,
) => ({
  ...nullable(description),
  resolve(row: SalesRow, _args: object, { loaders }: Context, info: GraphQLResolveInfo) {
    const id = keyBy(groupBy)(row)
    return id === null ? null : toRow(id, info, () => loaders.load(definition, id))
  },
})

const SalesRowRef = builder.objectRef<SalesRow>('SalesRow').implement({
  description:
    'Sums of the paid tickets of a group, with those that were cancelled later. One of the fields from `ticketRate` to `saleType` names the group, by `groupBy`; the others are null.',
  fields: (t) => ({
    ticketRate: t.field({ type: TicketRateRef, ...edge('RATE', 'Ticket rate.', ticketRateById) }),
    price: t.field({ type: PriceRef, ...edge('PRICE', 'Price, as it is now.', priceById) }),
    day: t.field({ type: 'Date', ...nullable('Day of the payment.'), resolve: keyBy('DAY') }),
    channel: t.field({
      type: ChannelRef,
      ...edge('CHANNEL', 'Channel; null if the organization sold itself.', channelById),
    }),
    referral: t.string({
      ...nullable('`referralId` of the checkout; null for tickets without one.'),
      resolve: keyBy('REFERRAL'),
    }),
    saleType: t.field({
      type: SaleTypeRef,
      ...nullable('Way of selling.'),
      resolve: (row) => keyBy('SALE_TYPE')(row) as typeof SaleTypeRef.$inferType | null,
    }),
    name: t.exposeString(
      'name',
      nullable('Name of the rate, the price or the channel; null for other groupings.'),
    ),
    ticketCount: t.exposeInt('ticketCount', { description: 'Number of tickets that were paid.' }),
    cancelled: t.exposeInt('cancelled', { description: 'Number of these that were cancelled later.' }),
    gross: t.field(amountOf('Total of prices, supplements, fees and warranties, before discounts.', 'gross')),
    discounted: t.field(
      amountOf('Amount that discounts took off. `gross` minus this is what the buyers paid.', 'discounted'),
    ),
    commission: t.field(
      amountOf(
        'Commission that the platform keeps from the organization. None is owed for what was refunded in full.',
        'commission',
      ),
    ),
    refunded: t.field(amountOf('Amount that was refunded.', 'refunded')),
    net: t.field(
      amountOf(
        'Amount that the organization keeps: `gross` - `discounted` - `commission` - `refunded`, which is the sum of `settlement { net }` of the tickets.',
        'net',
      ),
    ),
    inside: t.exposeInt('inside', { description: 'Number of people inside now.' }),
  }),
})

const { connection: SalesRowConnectionRef } = connectionOf('SalesRow', SalesRowRef, {
  things: 'sums',
  description: 'Page of sums, ordered by what they are grouped by.',
  toCursor,
})

fieldOf(EventRef, 'sales', {
  type: SalesRowConnectionRef,
  ...nullable(
    "Sums of the event's sales, a row per group. Null unless the caller is an integration with `SALES`.",
  ),
  complexity: costOfPage(1_000),
  args: builder.args((t) => ({
    groupBy: t.field({
      type: SalesGroupingRef,
      required: true,
      description: 'Property that sales are summed by.',
    }),
    ...forwardArgs('Returns rows after this cursor; from the first if omitted.'),
  })),
  resolve: ({ id }, { groupBy, ...args }, ctx) =>
    isIntegrationWith(ctx, 'sales')
      ? readForward(args, readCursor, (after, first) =>
          ctx.loaders
            .get(salesByEventId)({ groupBy, first, after: after ?? '' })
            .load(id),
        )
      : null,
})
