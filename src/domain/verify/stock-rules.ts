/** Rules of counters and holds. Each query returns the rows that break one. */
export const stockRules = {
  'stock counters differ from the tickets': `
    select stock.id from stock
    left join (
      select organization_id, of_mode.id, count(*) filter (where status = 'held') as held,
        count(*) filter (where status = 'active') as sold
      from tickets cross join lateral unnest(array[ticket_rate_id, price_id, discount_id]) as of(part)
        cross join lateral (select case mode when 'test' then 'test/' else '' end || part as id) as of_mode
      group by organization_id, of_mode.id
    ) as counted on counted.organization_id = stock.organization_id and counted.id = stock.id
    where stock.held <> coalesce(counted.held, 0) or stock.sold <> coalesce(counted.sold, 0)`,
  'a ticket is held without an open payment, or not held with one': `
    select tickets.id from tickets
    join payments on payments.organization_id = tickets.organization_id and payments.id = payment_id
    where (tickets.status = 'held') <> (payments.status in ('pending', 'processing'))`,
  'an unpaid payment is not queued to expire when its hold ends': `
    select id from payments where status in ('pending', 'processing') and not exists (select from holds
      where holds.organization_id = payments.organization_id and payment_id = payments.id
        and holds.ticket_rate_id = payments.ticket_rate_id and holds.expires_at <= payments.expires_at)`,
  'held and sold exceed the capacity': `
    select id from stock where sold_before + sold + held > capacity`,
  'the uses of a discount exceed its quantity': `
    select stock.id from stock join (
      select organization_id, case mode when 'test' then 'test/' else '' end || discount_id as id, count(*) as uses
      from tickets where discount_id is not null and status in ('held', 'active') group by 1, 2
    ) as counted using (organization_id, id) where uses > capacity`,
  'a ticket has an amount without a discount, or one of another organization': `
    select tickets.id from tickets left join discounts on discounts.id = discount_id
    where (discount_id is null) <> (discount_amount = 0) or discounts.organization_id <> tickets.organization_id`,
}
