// Runs in: postgres

import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { aRateOf } from '../support/factories.ts'
import { sharedSale } from '../support/sale.ts'
import { settlePaymentById } from '../support/settle-payment.ts'
import { paidOutcome } from '../support/stub-provider.ts'
import { holdTickets } from '../support/tickets.ts'

const sale = sharedSale({ rates: [aRateOf(50)] })

type Planned = { text: string; generic: number; custom: number }

// PostgreSQL plans a prepared statement five times before it considers a generic plan.
const tries = 5
// Uses of a statement before it is prepared (DECISIONS 205), and those that are planned.
const uses = 4 + tries * 2

test('checkout statements are planned once per connection for any number of keys', async () => {
  // Sequential checkouts share one connection.
  for (let buyer = 0; buyer < uses; buyer++) await holdTickets(sale)
  const planned = (await sale.db.execute(sql`
    select statement as text, generic_plans::integer as generic, custom_plans::integer as custom
    from pg_prepared_statements where generic_plans + custom_plans = ${tries * 2}`)) as unknown as Planned[]
  expect(planned.map(({ text }) => /from "keys"|hold\(/.exec(text)?.[0]).sort()).toEqual([
    'from "keys"',
    'hold(',
  ])
  for (const { text, generic, custom } of planned)
    expect({ generic, custom }, text).toEqual({ generic: tries, custom: tries })
})

test('changes of a sale are planned once per connection', async () => {
  for (let buyer = 0; buyer < uses; buyer++) {
    const { payment_id } = await holdTickets(sale)
    await settlePaymentById(sale.db, payment_id, paidOutcome(payment_id))
  }
  const planned =
    (await sale.db.execute(sql`select generic_plans::integer as generic, custom_plans::integer as custom
    from pg_prepared_statements where statement like '%insert into "changes"%' or statement like '%as "webhookId"%'`)) as unknown as Planned[]
  expect(planned).toEqual([
    { generic: tries, custom: tries },
    { generic: tries, custom: tries },
  ])
})
