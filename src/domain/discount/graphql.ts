import {
  builder,
  NodeRef,
  nullable,
  nullableAmount,
  nullableTime,
  part,
  queryField,
} from '../../engine/graphql/builder.ts'
import { connectionOf, costOfPage, forwardArgs, readForward } from '../../engine/graphql/connection.ts'
import { toRow } from '../../engine/graphql/lookahead.ts'
import { requireIntegration } from '../caller/context.ts'
import { leftOf } from '../stock/table.ts'
import { TicketRateRef } from '../ticket-rate/graphql.ts'
import { ticketRateById } from '../ticket-rate/loaders.ts'
import type { TicketRate } from '../ticket-rate/table.ts'
import { discountById, listDiscounts, readCursor, toCursor } from './loaders.ts'
import type { Discount } from './table.ts'

const DiscountUsesRef = builder.objectRef<Discount>('DiscountUses').implement({
  description: 'Number of tickets that a discount was used for, and may still be used for.',
  fields: (t) => ({
    held: t.exposeInt('held', { description: 'Number of unpaid tickets that hold a use until they expire.' }),
    sold: t.exposeInt('sold', { description: 'Number of paid tickets that used it and were not cancelled.' }),
    available: t.int({ ...nullable('Number of uses left; null if they have no limit.'), resolve: leftOf }),
  }),
})

export const DiscountRef = builder.objectRef<Discount>('Discount').implement({
  description:
    'Discount that a checkout claims by its code. Visible to integrations of its organization only.',
  interfaces: [NodeRef],
  extensions: { node: { scope: 'catalogue', load: discountById } },
  fields: (t) => ({
    code: t.exposeString(
      'code',
      nullable('Code that buyers type. Its case does not matter. Null where the caller may not see it.'),
    ),
    name: t.exposeString('name', { description: 'Display name.' }),
    percentage: t.exposeFloat('percentage', nullable('Percentage off the price; null if `amount` is set.')),
    amount: t.field(
      nullableAmount('Amount off the price; null if `percentage` is set.', ({ amount }) => amount),
    ),
    ticketRates: t.field({
      type: [TicketRateRef],
      ...nullable('Rates that it applies to; null for all of the organization.'),
      resolve({ ticketRateIds }, _args, { loaders }, info) {
        const load = (id: string) => loaders.load(ticketRateById, id) as Promise<TicketRate>
        const rates = ticketRateIds.map((id) => toRow(id, info, () => load(id)))
        return rates.length > 0 ? Promise.all(rates) : null
      },
    }),
    validFrom: t.expose('validFrom', nullableTime('Start of its validity; null if it has none.')),
    validUntil: t.expose('validUntil', nullableTime('End of its validity; null if it has none.')),
    limit: t.exposeInt(
      'capacity',
      nullable('Maximum number of tickets that it can be used for; null for no limit.'),
    ),
    maxPerCheckout: t.exposeInt(
      'maxPerCheckout',
      nullable('Maximum number of tickets per checkout that it applies to; null for no limit.'),
    ),
    uses: t.field(part(DiscountUsesRef, 'Uses so far, and uses left.')),
  }),
})

const { connection: DiscountConnectionRef } = connectionOf('Discount', DiscountRef, {
  things: 'discounts',
  description: 'Page of discounts, in the order of the catalogue.',
  toCursor,
})

queryField('discounts', {
  type: DiscountConnectionRef,
  description: "Lists the discounts that the integration's organization offers.",
  needs: { caller: 'integration', scope: 'catalogue' },
  complexity: costOfPage(1_000),
  args: forwardArgs('Returns discounts after this cursor; from the first if omitted.'),
  resolve(_root, args, ctx) {
    const [organizationId] = requireIntegration(ctx).organizationIds
    return readForward(args, readCursor, (after, limit) =>
      listDiscounts(ctx.db, {
        organizationId,
        mode: ctx.mode,
        limit,
        ...(after ?? { position: -1, id: '' }),
      }),
    )
  },
})
