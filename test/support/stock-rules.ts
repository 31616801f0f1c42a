/** Rules of counters and holds, which hold after any sale, in tests as in the bench. Each query returns the rows that
 *  break one. */
export const stockRules = {
  'stock counters differ from the tickets': `
    select stock.id from stock
    left join (
      select of_mode.id, count(*) filter (where status = 'held') as held, count(*) filter (where status = 'active') as sold
      from tickets cross join lateral unnest(array[ticket_rate_id, price_id, discount_id]) as of(part)
        cross join lateral (select case mode when 'test' then 'test/' else '' end || part as id) as of_mode
      group by of_mode.id
    ) as counted on counted.id = stock.id
    where stock.held <> coalesce(counted.held, 0) or stock.sold <> coalesce(counted.sold, 0)`,
  'a ticket is held without an open payment, or not held with one': `
    select tickets.id from tickets join payments on payments.id = payment_id
    where (tickets.status = 'held') <> (payments.status in ('pending', 'processing'))`,
}
