import { sql } from 'drizzle-orm'
import { beforeAll, expect, test } from 'vitest'
import { errorCode } from '../../../src/engine/base/errors.ts'
import { aCatalogueOfTwo, channelHeaders } from '../../support/factories.ts'
import { sharedSale } from '../../support/sale.ts'
import { holdTickets } from '../../support/tickets.ts'

// Foreign keys keep the rows of a sale consistent, whatever statement is run.

const sale = sharedSale(aCatalogueOfTwo(10))
beforeAll(async () => {
  await channelHeaders(sale.db, 'org_1')
  for (const rate of ['1', '2']) await holdTickets(sale, { rate })
})

const other = (column: string, table: string, from = table) =>
  `${column} = (select id from ${from} where id not in (select ${column} from ${table}) limit 1)`
const ofTheFirst = "where ticket_rate_id = 'rate_1'"

const refusedBy = (statement: string): Promise<string | undefined> =>
  sale.db.execute(sql.raw(statement)).then(() => 'done', errorCode)

test.each([
  ['a ticket at a price of another rate', `update tickets set price_id = 'price_2' ${ofTheFirst}`],
  [
    'a ticket of another event than its rate',
    `update tickets set event_id =
    (select event_id from ticket_rates where id = 'rate_2') ${ofTheFirst}`,
  ],
  [
    'a ticket of another organization than its payment',
    `update tickets set organization_id = 'org_2' ${ofTheFirst}`,
  ],
  [
    'a ticket of another channel than its payment',
    `update tickets set ${other('channel_id', 'tickets', 'channels')}`,
  ],
  [
    'a ticket of another organization than its rate',
    `update tickets set ticket_rate_id = 'rate_2', price_id = 'price_2',
    event_id = (select event_id from ticket_rates where id = 'rate_2') ${ofTheFirst}`,
  ],
  [
    'a ticket of another payment than its own',
    `update tickets set payment_id =
    (select payment_id from tickets where ticket_rate_id = 'rate_2') ${ofTheFirst}`,
  ],
  [
    'a payment of another organization than its tickets',
    `update payments set organization_id = 'org_2' where id = (select payment_id from tickets ${ofTheFirst})`,
  ],
])('database refuses %s', async (_what, statement) => {
  expect(await refusedBy(statement)).toBe('23503')
})

// No single foreign key forbids these; several together do.
test.each([
  ['a payment of an unknown organization', "update payments set organization_id = 'none'"],
  ['a payment of an unknown channel', "update payments set channel_id = 'none'"],
  ...['payment_id', 'organization_id', 'channel_id', 'event_id', 'ticket_rate_id', 'price_id'].map(
    (column) => [`a ticket with an unknown ${column}`, `update tickets set ${column} = 'none'`],
  ),
  ...['organizations', 'channels', 'events', 'ticket_rates', 'prices', 'payments'].map((table) => [
    `deleting ${table} while tickets exist`,
    `delete from ${table}`,
  ]),
  ['moving a price to another rate', "update prices set ticket_rate_id = 'rate_2' where id = 'price_1'"],
  [
    'moving a rate to another organization',
    "update ticket_rates set organization_id = 'org_2' where id = 'rate_1'",
  ],
  [
    'moving a rate to another event',
    `update ticket_rates set event_id =
    (select event_id from ticket_rates where id = 'rate_2') where id = 'rate_1'`,
  ],
])('database refuses %s', async (_what, statement = '') => {
  expect(await refusedBy(statement)).toBe('23503')
})

test('control: a price with no sales can be moved', async () => {
  await sale.db.execute(sql`insert into prices (id, ticket_rate_id, position, name, amount, currency)
    values ('price_3', 'rate_1', 9, 'Late', 100, 'EUR')`)
  expect(await refusedBy("update prices set ticket_rate_id = 'rate_2' where id = 'price_3'")).toBe('done')
})
