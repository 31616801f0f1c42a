import { z } from 'zod'
import { builder, type DescribedValues } from '../../graphql/builder.ts'
import { connectionOf } from '../../graphql/connection.ts'
import { inputOf, inputTypes } from '../../graphql/input-of.ts'
import { preload } from '../../graphql/lookahead.ts'
import { requireConfidential } from '../../request/context.ts'
import * as scalars from '../../shared/input-types.ts'
import { PaymentRef, PaymentStatusRef } from '../payment/graphql.ts'
import type { Payment } from '../payment/table.ts'
import { type Placed, toCursor } from './list-cursor.ts'
import { listPayments, type PaymentOrder, paymentFilter } from './list-payments.ts'
import { pageArgs, toConnection } from './page-args-graphql.ts'

const PaymentConnectionRef = connectionOf<Payment, Placed<Payment>>('Payment', PaymentRef, {
  things: 'payments',
  description:
    'Page of payments. It may hold fewer than asked for, even none, although `hasNextPage` is true: see `TicketConnection`.',
  toCursor,
})

inputTypes.add(paymentFilter.shape.status, { type: PaymentStatusRef })
const PaymentFilterRef = inputOf('PaymentFilter', paymentFilter)

const PaymentOrderRef = builder.enumType('PaymentOrder', {
  description: 'Order of payments; ties are ordered by identifier.',
  values: {
    CREATED_ASC: { value: 'CREATED_ASC', description: 'By checkout, oldest first.' },
    CREATED_DESC: { value: 'CREATED_DESC', description: 'By checkout, newest first.' },
  } satisfies DescribedValues<PaymentOrder>,
})

const input = z.object({ filter: paymentFilter })

builder.queryField('payments', (t) =>
  t.field({
    type: PaymentConnectionRef,
    nullable: true,
    description:
      "Lists payments: those of a channel's checkouts, or all of an integration's organization. Null if the field fails, so that an error here leaves the rest of the query intact.",
    complexity: ({ first, last }) => ({
      field: 1_000,
      multiplier: Math.min(100, Math.max(1, first ?? last ?? 50)),
    }),
    args: {
      ...pageArgs(t, 'payments'),
      filter: t.arg({ type: PaymentFilterRef, description: 'Filter; all payments if omitted.' }),
      orderBy: t.arg({ type: PaymentOrderRef, description: 'Order; newest first if omitted.' }),
    },
    resolve: async (_root, { filter, orderBy, ...args }, ctx, info) => {
      requireConfidential(ctx)
      const { filter: parsed } = scalars.parse(input, { filter: filter ?? {} })
      const list = await toConnection(args, (page) => listPayments(parsed, orderBy, page, ctx))
      await preload([list], info, ctx)
      return list
    },
  }),
)
