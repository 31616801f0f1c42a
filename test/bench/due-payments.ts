// Payments that wait to be paid: rows as a checkout of one ticket leaves them, all of one rate. Made by PostgreSQL alone,
// because what is measured is the paying of them.

/** Who takes the money. Stripe's have a session that their buyer was sent to. */
export type Provider = 'sandbox' | 'stripe'

/** A payment that waits, and what is told of it by whoever pays. Amount in minor units. */
export type DuePayment = { id: string; token: string; sessionId: string; amount: number; currency: string }

/** Makes the list of payments that are next, and the series that their invoices are of. Run once a database. */
export const createDue = [
  `create table bench_due (number integer primary key, payment_id text not null, organization_id text not null,
    rate_id text not null, price_id text not null, amount bigint not null, currency text not null)`,
  `insert into invoice_series (organization_id, kind, year, last)
    select organization_id, 'invoice', extract(year from now() at time zone 'UTC')::integer, 0
    from bench_targets where number = 1
    on conflict do nothing`,
]

/** Fills the list up to so many payments of the first target, with what was left over first. Run in one transaction. */
export const fillDue = (count: number, provider: Provider): string[] => [
  // Rows that refer to what they were made from need no look at it. Only who owns the server may do without.
  `select set_config('session_replication_role', 'replica', true) where current_setting('is_superuser') = 'on'`,
  `create temporary table prepared on commit drop as
    select 'bench_' || to_hex((extract(epoch from now()) * 1000000)::bigint) || '_' || lpad(n::text, 7, '0') as key,
      channel.id as channel_id, target.*
    from generate_series(1, ${count} - (
      select count(*) from payments join bench_targets on rate_id = ticket_rate_id and number = 1
      where status = 'pending')) as n
    cross join (select id from channels order by id limit 1) as channel
    join bench_targets as target on target.number = 1`,
  `insert into payments (id, channel_id, organization_id, ticket_rate_id, provider, total_amount, currency, page_token,
      redirect_url, error_url, expires_at, session_id, session_url, session_open, session_due_at)
    select 'pay_' || key, channel_id, organization_id, rate_id, '${provider}', amount, currency,
      left(md5('a' || key) || md5('b' || key), 43), 'https://shop.example/done', 'https://shop.example/failed',
      now() + interval '1 day',
      ${provider === 'stripe' ? `'cs_' || key, 'https://stripe.example/' || key, true, now() + interval '1 day'` : 'null, null, false, null'}
    from prepared`,
  `insert into tickets (id, payment_id, position, organization_id, channel_id, event_id, ticket_rate_id, price_id,
      status, qr_code, currency, price_amount, supplements_amount, organization_fee_amount, platform_fee_amount,
      warranty_amount, total_amount, warranty_hours, full_name, email, phone)
    select 'tkt_' || key, 'pay_' || key, 0, organization_id, channel_id, event_id, rate_id, price_id,
      'held', left(md5(key), 12), currency, amount, 0, 0, 0, 0, amount, 0,
      'Ada Lovelace', 'ada@example.com', '+34600000000'
    from prepared`,
  `update stock set held = held + (select count(*) from prepared)
    where id in (select unnest(array[rate_id, price_id]) from bench_targets where number = 1)`,
  'truncate bench_due',
  `insert into bench_due
    select row_number() over (order by id), id, target.organization_id, rate_id, price_id, total_amount, payment.currency
    from payments as payment join bench_targets as target on rate_id = ticket_rate_id and number = 1
    where status = 'pending'`,
]

/** The payments of the list, in its order. */
export const readDue = `
  select id, page_token as token, coalesce(session_id, '') as "sessionId", due.amount::float8 as amount, due.currency
  from bench_due as due join payments on id = payment_id order by number`

/** Everything that paying must have written, each counted for itself: by rows and by counters. */
export const countPaid = `
  select (select count(*) from payments where status = 'paid' and paid_at is not null) as payments,
    (select count(*) from tickets where status = 'active' and activated_at is not null) as tickets,
    (select sum(sold) from stock where id in (select rate_id from bench_targets)) as "rateCounters",
    (select sum(sold) from stock where id in (select price_id from bench_targets)) as "priceCounters",
    (select count(*) from invoices where kind = 'invoice') as invoices,
    (select sum(last) from invoice_series where kind = 'invoice') as series`

/** What must hold of a database after any number of payments, each as the rows that break it. */
export const paymentRules: Record<string, string> = {
  'stock counters differ from the tickets': `
    select stock.id from stock
    left join (
      select of.id, count(*) filter (where status = 'held') as held, count(*) filter (where status = 'active') as sold
      from tickets cross join lateral unnest(array[ticket_rate_id, price_id]) as of(id) group by of.id
    ) as counted on counted.id = stock.id
    where stock.held <> coalesce(counted.held, 0) or stock.sold <> coalesce(counted.sold, 0)`,
  'a ticket is held without an open payment, or not held with one': `
    select tickets.id from tickets join payments on payments.id = payment_id
    where (tickets.status = 'held') <> (payments.status in ('pending', 'processing'))`,
  'an invoice series has a gap': `
    select organization_id from invoice_series as series
    left join invoices using (organization_id, kind, year)
    group by organization_id, kind, year, series.last
    having coalesce(max(number), 0) <> series.last or count(number) <> series.last`,
  // Payments that were sold by SQL before anything was measured never had one.
  'a payment has an unexpected invoice': `
    select payments.id from payments
    join invoices on invoices.payment_id = payments.id and kind = 'invoice'
    join tickets on tickets.payment_id = payments.id
    group by payments.id
    having count(distinct invoices.id) <> 1 or payments.status <> 'paid'
      or max(invoices.reference) <> coalesce(payments.invoice_reference, '')
      or bool_or(tickets.invoice_reference is distinct from payments.invoice_reference)`,
  'a paid payment has no invoice': `
    select id from payments
    where status = 'paid' and total_amount > 0 and id not like 'pay\\_sold\\_%'
      and not exists (select from invoices where payment_id = payments.id and kind = 'invoice')`,
  'a payment was charged twice or a wrong amount': `
    select payment_id from charges join payments on payments.id = payment_id
    group by payments.id, payment_id having count(*) <> 1 or sum(charges.amount) <> total_amount`,
}
