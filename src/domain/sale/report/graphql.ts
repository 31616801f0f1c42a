import { z } from 'zod'
import { amountOf, builder, enumOf, nullable } from '../../../graphql/builder.ts'
import { argsOf } from '../../../graphql/input-of.ts'
import { requireIntegration } from '../../../request/context.ts'
import * as scalars from '../../../shared/input-types.ts'
import { parse } from '../../../shared/parse.ts'
import { type SalesGrouping, type SalesRow, sumSales } from './sum-sales.ts'

const maxRows = 1_000

const SalesGroupingRef = enumOf<SalesGrouping>('SalesGrouping', 'Property that sales are summed by.', {
  RATE: 'Ticket rate. The key is its identifier.',
  PRICE: 'Price of a rate. The key is its identifier.',
  DAY: "Day of the payment in the time zone of the event's location, UTC without one. The key is `YYYY-MM-DD`.",
  CHANNEL:
    "Channel. The key is its identifier; the organization's own for sales at the door and invitations.",
  REFERRAL: "Referral. The key is the checkout's `referralId`, null for tickets without one.",
  SALE_TYPE: 'Way of selling. The key is `ONLINE`, `BOX_OFFICE` or `INVITATION`.',
})

const SalesRowRef = builder.objectRef<SalesRow>('SalesRow').implement({
  description:
    'Sums of the paid tickets of a group, even of those that were cancelled later: cancelling returns no money.',
  fields: (t) => ({
    key: t.exposeString('key', nullable('Key of the group; null for tickets without one.')),
    label: t.exposeString(
      'label',
      nullable('Name of the rate, the price or the channel; null for other groupings.'),
    ),
    currency: t.exposeString('currency', { description: 'Currency of all amounts, as an ISO 4217 code.' }),
    tickets: t.exposeInt('tickets', { description: 'Number of tickets that were paid.' }),
    cancelled: t.exposeInt('cancelled', { description: 'Number of these that were cancelled later.' }),
    gross: t.field(
      amountOf(
        'Total of prices, supplements, fees of the organization and warranties, before discounts.',
        'gross',
      ),
    ),
    discounts: t.field(
      amountOf('Amount that discounts took off. `gross` minus this is what the buyers paid.', 'discounts'),
    ),
    fees: t.field(
      amountOf('Commission that the platform keeps. None is owed for what was refunded in full.', 'fees'),
    ),
    refunded: t.field(amountOf('Amount that was refunded.', 'refunded')),
    net: t.field(
      amountOf(
        'Amount that the organization keeps: `gross` - `discounts` - `fees` - `refunded`, which is the sum of `settlement { net }` of the tickets.',
        'net',
      ),
    ),
    entered: t.exposeInt('entered', { description: 'Number of people inside now.' }),
  }),
})

const page = z.object({
  first: scalars.integer(1, maxRows).default(maxRows).describe(`Maximum number of rows, 1 to ${maxRows}.`),
  after: scalars.reference.nullish().describe('Returns rows after this key, for more than one page of rows.'),
})

builder.queryField('sales', (t) =>
  t.field({
    type: [SalesRowRef],
    nullable: true,
    description:
      "Sums up the sales of an event of the integration's organization, as they are now: a row per group, ordered by key. Null if there is no such event. Integrations only.",
    extensions: { needs: { caller: 'integration', scope: 'sales' } },
    complexity: ({ first }) => ({
      field: 1_000,
      multiplier: Math.min(maxRows, Math.max(1, first ?? maxRows)),
    }),
    args: {
      eventId: t.arg.id({ required: true, description: 'Event identifier.' }),
      groupBy: t.arg({
        type: SalesGroupingRef,
        required: true,
        description: 'Property that sales are summed by.',
      }),
      ...argsOf(t.arg, page),
    },
    resolve: async (_root, { eventId, groupBy, ...args }, ctx) => {
      const { organizationIds } = requireIntegration(ctx)
      const { first, after } = parse(page, { ...args, after: args.after || null })
      return sumSales(ctx.db, organizationIds, {
        eventId,
        groupBy,
        mode: ctx.mode,
        first,
        // Ways of selling are taken in lower case as well.
        after: (groupBy === 'SALE_TYPE' ? after?.toUpperCase() : after) ?? null,
      })
    },
  }),
)
