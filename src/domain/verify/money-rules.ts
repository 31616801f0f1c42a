import { isoDecimals } from '../../shared/currencies.ts'

/** Rules of payments, charges, refunds and invoices. Each query returns the rows that break one. */
export const moneyRules = {
  'amounts of an organization are stored with other decimals than its currency has': `
    select id from organizations where decimals <>
      coalesce(('${JSON.stringify(Object.fromEntries(isoDecimals))}'::jsonb ->> currency)::integer, -1)`,
  'an open session is not scheduled to close, or is that of another payment': `
    select id from payments left join open_sessions as session on session.organization_id = payments.organization_id
      and session.provider = payments.provider and session.session_id = payments.session_id
    where session_open and (session.payment_id is distinct from id
      or status not in ('pending', 'processing') and due_at > now() + interval '6 hours')`,
  'a test sale was paid at a real provider': `
    select charges.id from charges
    join payments on payments.organization_id = charges.organization_id and payments.id = payment_id
    where payments.mode = 'test' and charges.provider not in ('sandbox', 'box_office')`,
  'a charge has neither a ticket nor a refund': `
    select charges.id from charges
    join payments on payments.organization_id = charges.organization_id and payments.id = charges.payment_id
    where not exists (select from refunds
        where refunds.organization_id = charges.organization_id and refunds.charge_id = charges.id)
      and (paid_at is null or not exists (select from tickets where activated_at is not null
        and tickets.organization_id = payments.organization_id and payment_id = payments.id))`,
  'refunds exceed the charge': `
    select charge_id from refunds
    join charges on charges.organization_id = refunds.organization_id and charges.id = charge_id
    where status <> 'failed'
    group by refunds.organization_id, charge_id, charges.amount having sum(refunds.amount) > charges.amount`,
  'refunded amount of a ticket differs from its refund attempts': `
    select tickets.id from tickets left join (
      select organization_id, ticket_id, sum(amount) as amount from refunds where status = 'succeeded'
      group by organization_id, ticket_id
    ) as refunded on refunded.organization_id = tickets.organization_id and refunded.ticket_id = tickets.id
    where refunded_amount <> coalesce(refunded.amount, 0)`,
  'refunded amount of a payment differs from its refund attempts': `
    select payments.id from payments
    left join refunds on refunds.organization_id = payments.organization_id and refunds.payment_id = payments.id
      and refunds.status = 'succeeded' and reason not in ('PAID_TWICE', 'AMOUNT_MISMATCH')
      and (ticket_id is not null or paid_at is null)
    group by payments.organization_id, payments.id, refunded_amount, total_amount
    having refunded_amount <> least(total_amount, coalesce(sum(refunds.amount), 0))`,
  'the box office has taken money without a charge, or has a charge of another amount': `
    select payments.id from payments
    left join charges on charges.organization_id = payments.organization_id
      and charges.payment_id = payments.id and charges.provider = 'box_office'
    where case when method is not null and total_amount > 0 then charges.amount is distinct from total_amount
      else charges.id is not null end`,
  'a refund by hand is not settled': `
    select refunds.id from refunds
    join charges on charges.organization_id = refunds.organization_id and charges.id = charge_id
    where charges.provider = 'box_office' and refunds.status <> 'succeeded'`,
  'a sale of the organization itself was not paid at once, or is open at a provider': `
    select id from payments where channel_id = organization_id
      and (paid_at is distinct from created_at or provider <> 'box_office' or session_id is not null)`,
  'an invoice series has a gap': `
    select organization_id || ' ' || kind from invoices group by organization_id, kind, year
    having min(number) <> 1 or max(number) <> count(*)`,
  'an invoice series counts other invoices than there are': `
    select organization_id || ' ' || kind from invoice_series as series
    full join (select organization_id, kind, year, count(*) as issued from invoices group by 1, 2, 3) as counted
      using (organization_id, kind, year)
    where coalesce(last, 0) <> coalesce(issued, 0)`,
  'a paid checkout has no invoice': `
    select payments.id from payments left join (
      select organization_id, payment_id, count(*) as invoices from invoices
      where kind in ('invoice', 'test_invoice') group by organization_id, payment_id
    ) as issued on issued.organization_id = payments.organization_id and issued.payment_id = payments.id
    where paid_at is not null and total_amount > 0 and invoices is distinct from 1`,
  'a ticket refund has no corrective invoice': `
    select id from refunds where ticket_id is not null and status = 'succeeded' and not exists (
      select from invoices where invoices.organization_id = refunds.organization_id
        and refund_id = refunds.id and kind in ('corrective', 'test_corrective'))`,
}
