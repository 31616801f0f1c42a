// Tickets that were sold, as many as one likes: rows as a checkout and its payment leave them, and the counters moved
// accordingly. Made by PostgreSQL alone, because a million checkouts take half an hour.

/** Every other ticket is of the first target, the others are spread over all targets. Half of them have a supplement,
 *  a third have entered. To be run in one transaction, once a database: identifiers are numbered from 1. */
export const sellTickets = (count: number): string[] => [
  // Rows that refer to what they were made from need no look at it: a million of them would take minutes. Only who owns
  // the server may do without.
  `select set_config('session_replication_role', 'replica', true) where current_setting('is_superuser') = 'on'`,
  `create temporary table sold on commit drop as
    select n, channel.id as channel_id, target.*, case when n % 4 < 2 then 150 else 0 end as extra
    from generate_series(1, ${count}) as n
    cross join (select id from channels order by id limit 1) as channel
    join bench_targets as target
      on target.number = case when n % 2 = 0 then 1 else 1 + (n / 2) % (select count(*) from bench_targets) end`,
  `insert into payments (id, channel_id, organization_id, ticket_rate_id, provider, status, total_amount, currency,
      page_token, created_at, expires_at, paid_at)
    select 'pay_sold_' || n, channel_id, organization_id, rate_id, 'sandbox', 'paid', amount + extra, currency,
      md5('sold ' || n), now() - interval '1 day', now(), now() - interval '1 day'
    from sold`,
  `insert into tickets (id, payment_id, position, organization_id, channel_id, event_id, ticket_rate_id, price_id,
      status, qr_code, currency, price_amount, supplements_amount, organization_fee_amount, platform_fee_amount,
      warranty_amount, total_amount, warranty_hours, full_name, email, phone, supplements, entered, last_entry_at,
      created_at, activated_at)
    select 'tkt_sold_' || n, 'pay_sold_' || n, 0, organization_id, channel_id, event_id, rate_id, price_id,
      'active', lpad(n::text, 12, '0'), currency, amount, extra, 0, amount / 20,
      0, amount + extra, 0, 'Ada Lovelace', 'ada@example.com', '+34600000000',
      case when extra = 0 then '[]' else jsonb_build_array(jsonb_build_object('supplementId', 'sup_sold',
        'label', 'Cloakroom', 'amount', extra, 'hasFakePrice', true, 'fakeAmount', extra * 2)) end,
      (n % 3 = 0)::integer, case when n % 3 = 0 then now() end,
      now() - interval '1 day', now() - interval '1 day'
    from sold`,
  `update stock set sold = stock.sold + sale.count
    from (select unnest(array[rate_id, price_id]) as id, count(*) as count from sold group by 1) as sale
    where stock.id = sale.id`,
]

/** Whether the counters say what the rows say: `rows` and `counters` must be the same. */
export const countSold = `
  select (select count(*) from tickets where status = 'active') as rows,
    (select sum(sold) from stock where id in (select id from ticket_rates)) as counters`
