import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anEntry, mustCheckOut } from '../support/checkouts.ts'
import { openSeenSale } from '../support/explain.ts'
import { openPageBuyer } from '../support/payment-page-buyer.ts'
import type { Sale } from '../support/sale.ts'

// Lives of many tickets in SQL, with the rows that the service writes for them: held, nine of ten paid some time later in
// random order, 32 payments a transaction, and a third of those scanned. Says in lines what a ticket takes on disk, the
// share of heap-only updates, and the times of the service's own requests beside them. GROWN_TICKETS names how many there
// are (docs/operations.md, Growth).

const ticketCount = Number(process.env.GROWN_TICKETS ?? 20_000)
const perPayment = 2
const rateCount = 100
// Payments that are open at a time.
const window = 1_000

let sale: Sale
beforeAll(async () => {
  ;({ sale } = await openSeenSale(rateCount, null, { statementTimeoutMs: 3_600_000 }))
}, 60_000)
afterAll(() => sale?.close())

const say = (line: string) => process.stdout.write(`${line}\n`)
const hash = (text: string) => `encode(sha256((${text})::bytea), 'hex')`
const wide = (text: string) => `lpad((${text})::text, 26, '0')`
// Tokens of the same form and length as the service makes.
const pageToken = `substr(${hash(`'p' || n`)}, 1, 43) || 'cGF5Xz' || lpad(n::text, 34, '0')`
const documentToken = `${hash(`'t' || n || '_' || m`)} || 'dGt0Xz' || lpad(n || '_' || m, 34, '0')`

const hold = `
  insert into payments (id, channel_id, organization_id, provider, total_amount, currency, page_token, expires_at)
    select 'pay_' || ${wide('n')}, 'org_1', 'org_1', 'sandbox', 0, 'EUR', ${pageToken},
      now() + interval '1 day' from generate_series(first, last) as n;
  insert into expiries (organization_id, price_id, payment_id, expires_at)
    select 'org_1', 'price_' || n % ${rateCount}, id, expires_at
    from generate_series(first, last) as n join payments on id = 'pay_' || ${wide('n')};
  insert into tickets (id, payment_id, position, organization_id, channel_id, event_id, ticket_rate_id, price_id, sale_type,
      qr_code, currency, price_amount, supplements_amount, organization_fee_amount, platform_fee_amount, warranty_amount,
      total_amount, warranty_hours, full_name, search_name, email, phone, document_token)
    select 'tkt_' || ${wide(`n || '_' || m`)}, 'pay_' || ${wide('n')}, m, 'org_1', 'org_1', 'evt_' || n % ${rateCount},
      'rate_' || n % ${rateCount}, 'price_' || n % ${rateCount}, 'invitation', substr(${hash(`n || '_' || m`)}, 1, 12), 'EUR',
      0, 0, 0, 0, 0, 0, 0, 'Ana ' || n, 'ana ' || n, 'ana' || n || '@example.com', '+34' || 600000000 + n, ${documentToken}
    from generate_series(first, last) as n, generate_series(0, ${perPayment - 1}) as m;`
const priceOf = (payments: string) =>
  `select price_id from tickets where payment_id = ${payments}.id and position = 0`
const pay = `
  with paid as (
    update payments set status = 'paid', paid_at = now(), invoice_reference = 'F2026-000001' where id = any(ids) returning *),
  dropped as (delete from expiries using paid where expiries.price_id = (${priceOf('paid')})
    and expiries.expires_at = paid.expires_at and payment_id = paid.id)
  update tickets set status = 'active', activated_at = now(), invoice_reference = 'F2026-000001', updated_at = now()
    from paid where payment_id = paid.id;`
const expire = `
  with ended as (update payments set status = 'expired' where id = any(ids) returning *),
  dropped as (delete from expiries using ended where expiries.price_id = (${priceOf('ended')})
    and expiries.expires_at = ended.expires_at and payment_id = ended.id)
  update tickets set status = 'expired', updated_at = now() from ended where payment_id = ended.id;`
const scan = `
  update tickets set entered = 1, first_entry_at = now(), last_entry_at = now(), updated_at = now()
    where payment_id = any(ids) and position = 0;`

// Calls a statement for the payments of a window in random order, 32 at a time.
const each = (condition: string, statement: string) => `
  for ids in select array_agg(id) from (
    select 'pay_' || ${wide('n')} as id, row_number() over (order by ${hash("'o' || n")}) as number
    from generate_series(first, last) as n where ${condition}) as shuffled group by number / 32
  loop ${statement} commit; end loop;`

// Windows a statement: a connection tells autovacuum what it changed when it has ended one.
const windows = 20

async function run(body: string): Promise<void> {
  const count = Math.ceil(ticketCount / perPayment / window)
  for (let from = 0; from < count; from += windows)
    await sale.db.execute(
      sql.raw(`do $$ declare first bigint; last bigint; ids text[]; begin
        for batch in ${from} .. ${Math.min(from + windows, count) - 1} loop
          first := batch * ${window}; last := first + ${window - 1};
          -- As autovacuum does, after which statements are planned again.
          if batch % 10 = 5 then analyze payments, tickets, expiries; end if;
          ${body}
        end loop; end $$`),
    )
}

async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const start = performance.now()
  await work()
  say(`${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`)
}

const writtenBytes = async () => {
  const [row] = await sale.db
    .select({ bytes: sql<number>`(pg_current_wal_insert_lsn() - '0/0')::float8` })
    .from(sql`(select) as one`)
  return row?.bytes ?? 0
}

async function median(name: string, times: number, work: (n: number) => Promise<unknown>): Promise<void> {
  const taken: number[] = []
  const before = await writtenBytes()
  for (let n = 0; n < times; n++) {
    const start = performance.now()
    await work(n)
    taken.push(performance.now() - start)
  }
  const written = Math.round((await writtenBytes()) - before) / times
  taken.sort((one, other) => one - other)
  say(`${name}: ${taken[taken.length >> 1]?.toFixed(2)} ms, ${Math.round(written)} bytes of WAL`)
}

test('a ticket takes a bounded number of bytes, and requests beside many take as long as beside few', async () => {
  say(`${ticketCount} tickets`)
  await timed('held, and paid or expired', () =>
    run(`${hold} commit; ${each('n % 10 > 0', pay)} ${each('n % 10 = 0', expire)}`),
  )
  await timed('a third of the paid scanned', () => run(each('n % 10 > 0 and n % 3 = 0', scan)))
  const sizes = await sale.db
    .select({
      table: sql<string>`relname`,
      heap: sql<number>`(pg_relation_size(relid) / ${ticketCount}::float8)::integer`,
      indexes: sql<number>`(pg_indexes_size(relid) / ${ticketCount}::float8)::integer`,
      hot: sql<number>`coalesce(100 * n_tup_hot_upd / nullif(n_tup_upd, 0), 0)::integer`,
    })
    .from(sql`pg_stat_user_tables`)
    .where(sql`relname in ('payments', 'tickets', 'expiries')`)
  for (const { table, heap, indexes, hot } of sizes)
    say(`${table}: ${heap} bytes a ticket and ${indexes} of indexes, ${hot} % heap-only updates`)
  await sale.db.execute(sql`vacuum analyze`)
  const made: Awaited<ReturnType<typeof mustCheckOut>>[] = []
  const body = (n: number) => ({
    ticket_rate_id: `rate_${n % rateCount}`,
    tickets: [anEntry(`price_${n % rateCount}`)],
  })
  await median('checkout', 200, async (n) => made.push(await mustCheckOut(sale, body(n))))
  const buyer = openPageBuyer(sale)
  await median('payment page', 200, (n) => buyer.view(made[n] as (typeof made)[number]))
  await median('payment', 200, (n) => buyer.pay(made[n] as (typeof made)[number]))
  for (const list of ['orderBy: CREATED_DESC', 'filter: { eventIds: "evt_7" }'])
    await median(`tickets(${list})`, 50, () =>
      sale.graphql(`{ tickets(${list}) { nodes { id } } }`, {}, sale.integration.v2),
    )
  const total = sizes.reduce((sum, { heap, indexes }) => sum + heap + indexes, 0)
  expect(total).toBeGreaterThan(500)
  expect(total).toBeLessThan(4_000)
}, 7_200_000)
