// The bare hold: only the writes of a checkout of one ticket, in one transaction, to the same tables with the
// same constraints. It reads, checks and returns nothing. Identifiers are ordered by time, like the
// gateway's.

import { readFileSync } from 'node:fs'

/** Creates the list of rates to sell, numbered from 1. Runs once before the measurement. */
export const createTargets = `
  create table bench_targets as
  select (row_number() over (order by rate.id))::integer as number, rate.id as rate_id, price.id as price_id,
    event.id as event_id, event.organization_id, price.currency, price.amount
  from ticket_rates as rate
  join events as event on event.id = rate.event_id
  join lateral (
    select * from prices
    where ticket_rate_id = rate.id and not removed and amount > 0
      and (valid_until is null or valid_until > now() + interval '1 day')
    order by position, id limit 1
  ) as price on true
  where event.start_date > now() + interval '1 day' and not rate.removed and not rate.complete
    and coalesce(rate.min, 1) = 1 and coalesce(rate.valid_from, now()) <= now()
    and not exists (select from questions where ticket_rate_id = rate.id and required and not removed)
  order by rate.id
  limit 1000`

/** Raises capacities beyond what a run can sell. A limit remains, so that its check still runs. */
export const openTargets = `
  update stock set capacity = 2000000000
  where id in (select rate_id from bench_targets union all select price_id from bench_targets)`

/** Code of a discount that each organization has. */
export const discountCode = 'bench'

/** Gives each organization a discount of 10 %, with more uses than a run can sell. A limit remains, so that its
 *  check still runs. */
export const createDiscounts = `
  with made as (
    insert into discounts (id, organization_id, position, code, name, percentage, currency)
    select 'dsc_bench_' || id, id, 1000000, '${discountCode}', 'Bench', 10, currency from organizations
    returning id, organization_id
  )
  insert into stock (organization_id, kind, id, capacity) select organization_id, 'discount', id, 2000000000 from made`

/** Counts the holds so far, by rows and by counters. */
export const countHolds = `
  select (select count(*) from payments) as payments, (select count(*) from tickets) as tickets,
    (select sum(held) from stock where id in (select rate_id from bench_targets)) as "rateCounters",
    (select sum(held) from stock where id in (select price_id from bench_targets)) as "priceCounters"`

// End of identifiers: unique per transaction, and equal in all its statements.
const key = (client: string) =>
  `to_hex((extract(epoch from now()) * 1000000)::bigint) || '_' || ${client}::text`
// Token of a payment page, of the form that names its payment and therefore has no index.
const pageToken = (client: string) => `rpad(md5(${key(client)}), 43, '0') || 'cGF5Xz' || md5(${key(client)})`

/** The statements between `begin` and `commit`. `target` and `client` are the placeholders of the rate's
 *  number and the client's. Counters come last, because others wait for their locks, and in order, because a
 *  deadlock costs a second. */
export const hold = {
  insertPayment: (target: string, client: string) => `
    with held as (
      insert into payments (id, channel_id, organization_id, provider, total_amount, currency,
        page_token, redirect_url, error_url, expires_at)
      select 'pay_' || ${key(client)}, (select id from channels limit 1), organization_id, 'sandbox', amount,
        currency, ${pageToken(client)}, 'https://shop.example/done', 'https://shop.example/failed',
        now() + interval '1 day'
      from bench_targets where number = ${target}
      returning organization_id, id, expires_at
    )
    insert into expiries (organization_id, price_id, payment_id, expires_at)
    select held.organization_id, price_id, id, expires_at from held join bench_targets on number = ${target}`,
  insertTicket: (target: string, client: string) => `
    insert into tickets (id, payment_id, position, organization_id, channel_id, event_id, ticket_rate_id, price_id,
      status, qr_code, currency, price_amount, supplements_amount, organization_fee_amount, platform_fee_amount,
      warranty_amount, total_amount, warranty_hours, full_name, email, phone, document_token)
    select 'tkt_' || ${key(client)}, 'pay_' || ${key(client)}, 0, organization_id, (select id from channels limit 1),
      event_id, rate_id, price_id, 'held', left(md5(${key(client)}), 12), currency, amount, 0, 0, 0, 0, amount, 0,
      'Ada Lovelace', 'ada@example.com', '+34600000000',
      'doc_' || ${key(client)}
    from bench_targets where number = ${target}`,
  moveStock: (target: string) => `
    with locked as (
      select id, kind from stock
      where mode = 'live' and id = any (array(select unnest(array[rate_id, price_id]) from bench_targets where number = ${target}))
      order by id for update
    )
    update stock set held = held + 1 from locked
    where stock.mode = 'live' and stock.id = locked.id and stock.kind = locked.kind`,
}

const migration = readFileSync('drizzle/0000_baseline.sql', 'utf8')

// Row of a composite type, whose attributes are null without a value.
function rowOf(type: string, values: Record<string, string>): string {
  const [, body = ''] = new RegExp(`create type ${type} as \\(\\n([^;]*)\\n\\);`).exec(migration) ?? []
  const attributes = body.split('\n').map((line) => values[line.trim().split(' ')[0] ?? ''] ?? 'null')
  return `array_agg(row(${attributes.join(', ')})::${type})`
}

const made = `ids.key || '_' || n`
const payment = {
  id: `'pay_' || ${made}`,
  channel_id: 'ids.channel_id',
  ticket_rate_id: 'rate_id',
  provider: `'sandbox'`,
  total_amount: 'amount',
  currency: 'currency',
  conditions_changed: 'false',
  page_token: `rpad(md5(${made}), 43, '0') || 'cGF5Xz' || md5(${made})`,
  redirect_url: `'https://shop.example/done'`,
  error_url: `'https://shop.example/failed'`,
  send_tickets: 'false',
  hold_minutes: '1380',
}
const ticket = {
  id: `'tkt_' || ${made}`,
  payment_id: payment.id,
  position: '0',
  event_id: 'event_id',
  ticket_rate_id: 'rate_id',
  price_id: 'price_id',
  sale_type: `'online'`,
  qr_code: `left(md5(${made}), 12)`,
  is_code_asked: 'false',
  currency: 'currency',
  price_amount: 'amount',
  ...{
    discount_amount: '0',
    supplements_amount: '0',
    organization_fee_amount: '0',
    platform_fee_amount: '0',
  },
  warranty_amount: '0',
  total_amount: 'amount',
  warranty_hours: '0',
  full_name: `'Ada Lovelace'`,
  search_name: `'ada lovelace'`,
  email: `'ada@example.com'`,
  phone: `'+34600000000'`,
  ...{ answers: `'[]'::jsonb`, supplements: `'[]'::jsonb` },
  language: `'en'`,
  admits: '1',
  document_token: `'doc_' || ${made}`,
}

/** The product's own statement of a flash sale, in a transaction of its own: one call of its function `hold` for this
 *  many checkouts of one ticket of a rate. `target` is the placeholder of the rate's number. */
export const callHold = (target: string, count: number): string => `
  select hold(organization_id, 'live', true, false,
    ${rowOf('new_payment', payment)}, ${rowOf('new_ticket', ticket)})
  from bench_targets
  cross join (select to_hex((extract(epoch from now()) * 1000000)::bigint) as key,
    (select id from channels limit 1) as channel_id) as ids
  cross join generate_series(1, ${count}) as n
  where number = ${target} group by organization_id`
