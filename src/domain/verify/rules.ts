import { isoDecimals } from '../../engine/base/money.ts'
import { anonymized } from '../ticket/anonymized.ts'

// Condition that a row belongs to one of another table: to a payment by its `payment_id`.
const belong = (rows: string, others: string) =>
  `${rows}.organization_id = ${others}.organization_id and ${rows}.${others.slice(0, -1)}_id = ${others}.id`

// Rows of a table, each with the payment that it belongs to.
const withPayment = (rows: string) => `${rows} join payments on ${belong(rows, 'payments')}`
const refundsWithCharge = `refunds join charges on ${belong('refunds', 'charges')}`

/** Rules of counters and holds. */
export const stockRules = {
  'stock counters differ from the tickets': `
    select stock.id from stock
    left join (
      select organization_id, mode, kind::stock_kind, part as id, count(*) filter (where status = 'held') as held,
        count(*) filter (where status = 'active') as sold
      from tickets cross join lateral (values ('rate', ticket_rate_id), ('price', price_id), ('discount', discount_id))
        as of(kind, part)
      group by organization_id, mode, kind, part
    ) as counted using (organization_id, mode, kind, id)
    where stock.held <> coalesce(counted.held, 0) or stock.sold <> coalesce(counted.sold, 0)`,
  'a ticket is held without an open payment, or not held with one': `
    select tickets.id from ${withPayment('tickets')}
    where (tickets.status = 'held') <> (payments.status in ('pending', 'processing'))`,
  'an unpaid payment is not queued to expire when its hold ends': `
    select payments.id from ${withPayment('tickets')}
    where payments.status in ('pending', 'processing') and not exists (select from expiries
      where ${belong('expiries', 'payments')}
        and expiries.price_id = tickets.price_id and expiries.expires_at <= payments.expires_at)`,
  'held and sold exceed the capacity': `select id from stock where sold_before + sold + held > capacity`,
  'the uses of a discount exceed its quantity': `
    select stock.id from stock join (
      select organization_id, mode, discount_id as id, count(*) as uses
      from tickets where discount_id is not null and status in ('held', 'active') group by 1, 2, 3
    ) as counted using (organization_id, mode, id) where kind = 'discount' and uses > capacity`,
  'a ticket has an amount without a discount, or one of another organization': `
    select tickets.id from tickets left join discounts on discounts.id = discount_id
    where (discount_id is null) <> (discount_amount = 0) or discounts.organization_id <> tickets.organization_id`,
}

const isFarOff = `status = 'pending' and due_at > now() + interval '2 days'`

// Old changes are deleted: then less is known than happened.
const hasDropped = (organizationId: string) =>
  `${organizationId} in (select dropped_changes.organization_id from dropped_changes)`

/** Invariants of the database, by what they say when broken. Each query returns the rows that break one, in
 *  one snapshot, by scans and hash joins, so that it takes as long as reading its tables. */
export const invariants = {
  ...stockRules,

  // Payments, charges, refunds and invoices.
  'amounts of an organization are stored with other decimals than its currency has': `
    select id from organizations where decimals <>
      coalesce(('${JSON.stringify(Object.fromEntries(isoDecimals))}'::jsonb ->> currency)::integer, -1)`,
  'an open session is not scheduled to close, or is that of another payment': `
    select id from payments left join open_sessions as session on session.organization_id = payments.organization_id
      and session.provider = payments.provider and session.session_id = payments.session_id
    where session_open and (session.payment_id is distinct from id
      or status not in ('pending', 'processing') and due_at > now() + interval '6 hours')`,
  'a test sale was paid at a real provider': `
    select charges.id from ${withPayment('charges')}
    where payments.mode = 'test' and charges.provider not in ('sandbox', 'box_office')`,
  'a charge has neither a ticket nor a refund': `
    select charges.id from ${withPayment('charges')}
    where not exists (select from refunds where ${belong('refunds', 'charges')}) and (paid_at is null
      or not exists (select from tickets where activated_at is not null and ${belong('tickets', 'payments')}))`,
  'refunds exceed the charge': `
    select charge_id from ${refundsWithCharge} where status <> 'failed'
    group by refunds.organization_id, charge_id, charges.amount having sum(refunds.amount) > charges.amount`,
  'refunded amount of a ticket differs from its refund attempts': `
    select tickets.id from tickets left join (
      select organization_id, ticket_id, sum(amount) as amount from refunds where status = 'succeeded'
      group by organization_id, ticket_id
    ) as refunded on refunded.organization_id = tickets.organization_id and refunded.ticket_id = tickets.id
    where refunded_amount <> coalesce(refunded.amount, 0)`,
  'refunded amount of a payment differs from its refund attempts': `
    select payments.id from payments
    left join refunds on ${belong('refunds', 'payments')} and refunds.status = 'succeeded' and reason not in ('PAID_TWICE', 'AMOUNT_MISMATCH')
      and (ticket_id is not null or paid_at is null)
    group by payments.organization_id, payments.id, refunded_amount, total_amount
    having refunded_amount <> least(total_amount, coalesce(sum(refunds.amount), 0))`,
  'the box office has taken money without a charge, or has a charge of another amount': `
    select payments.id from payments
    left join charges on ${belong('charges', 'payments')} and charges.provider = 'box_office'
    where case when method is not null and total_amount > 0 then charges.amount is distinct from total_amount
      else charges.id is not null end`,
  'a refund by hand is not settled': `
    select refunds.id from ${refundsWithCharge}
    where charges.provider = 'box_office' and refunds.status <> 'succeeded'`,
  'a sale of the organization itself was not paid at once, or is open at a provider': `
    select id from payments where channel_id = organization_id
      and (paid_at is null or paid_at not between created_at - interval '1 minute' and created_at + interval '1 minute'
        or provider <> 'box_office' or session_id is not null)`,
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
      select from invoices where ${belong('invoices', 'refunds')} and kind in ('corrective', 'test_corrective'))`,

  // Tickets and what is done with them.
  'a paid checkout has a ticket that was never activated': `
    select tickets.id from ${withPayment('tickets')}
    where paid_at is not null and activated_at is null`,
  'a row of a sale has another mode than its payment': `
    select tickets.id from ${withPayment('tickets')}
    where tickets.mode <> payments.mode
    union all select refunds.id from ${withPayment('refunds')}
      where refunds.mode <> payments.mode
    union all select changes.id from changes
      join payments on payments.organization_id = changes.organization_id and payments.id = subject_id
      where changes.mode <> payments.mode
    union all select changes.id from changes
      join tickets on tickets.organization_id = changes.organization_id and tickets.id = subject_id
      where changes.mode <> tickets.mode
    union all select invoices.id from ${withPayment('invoices')}
      where (payments.mode = 'test') <> (kind in ('test_invoice', 'test_corrective'))`,
  'a ticket was entered more often than it admits': `select id from tickets where entered > admits`,
  'the way of selling contradicts the channel or the payment': `
    select tickets.id from ${withPayment('tickets')}
    where (sale_type = 'online') <> (payments.channel_id <> payments.organization_id)
      or (sale_type = 'box_office') <> (method is not null)`,
  'an invitation costs something': `
    select id from tickets where sale_type = 'invitation'
      and (price_amount, discount_amount, supplements_amount, organization_fee_amount, platform_fee_amount,
        warranty_amount) <> (0, 0, 0, 0, 0, 0)`,
  'redeemed items of a ticket differ from its redemptions': `
    select ticket_id from (
      select organization_id, tickets.id as ticket_id, "supplementId" as supplement_id, used as items
      from tickets, jsonb_to_recordset(supplements) as sold("supplementId" text, used integer) where used > 0
      union all select organization_id, ticket_id, supplement_id, -redeemed from redemptions
        where ticket_id is not null
    ) as counted group by organization_id, ticket_id, supplement_id having sum(items) <> 0`,
  'requested tickets are not to be sent': `
    select tickets.id from ${withPayment('tickets')}
    where send_tickets and tickets.status = 'active' and tickets.email <> '${anonymized}'
      and not exists (select from deliveries where ${belong('deliveries', 'payments')} and medium = 'email'
        and (recipient = email or occasion = 'public') and deliveries.status in ('sent', 'pending', 'dead'))
      -- An address that was corrected after payment gets nothing by itself.
      and not exists (select from changes as corrected
        join changes as activated on activated.organization_id = corrected.organization_id
          and activated.subject_id = corrected.subject_id
        where corrected.organization_id = tickets.organization_id and corrected.subject_id = tickets.id and corrected.type = 'ticket.updated'
          and activated.type = 'ticket.activated' and corrected.sequence > activated.sequence)
      and (not ${hasDropped('tickets.organization_id')} or exists (select from changes as activated
        where activated.organization_id = tickets.organization_id and activated.subject_id = tickets.id
          and activated.type = 'ticket.activated'))`,
  'a retired document lives, or its ticket does not': `
    select token from retired_documents as retired
    where exists (select from tickets
        where tickets.organization_id = retired.organization_id and document_token = retired.token)
      or not exists (select from tickets where tickets.organization_id = retired.organization_id
        and id = retired.ticket_id and document_token is not null)`,
  'a ticket was transferred more or less often than documents of it were retired': `
    select ticket_id from (
      select organization_id, ticket_id, count(*) as documents from retired_documents group by 1, 2
    ) as retired full join (
      select organization_id, subject_id as ticket_id, count(*) as transfers from changes
      where type = 'ticket.transferred' group by 1, 2
    ) as transferred using (organization_id, ticket_id)
    where documents is distinct from transfers
      and (documents is null or documents < transfers or not ${hasDropped('organization_id')})`,
  'a ticket was sent again or transferred more than five times within a day': `
    select ticket_id from deliveries where (occasion like 'resend:%' or occasion like 'transfer:%')
      and notice is null and medium = 'email'
      and created_at > now() - interval '24 hours' group by organization_id, ticket_id having count(*) > 5`,

  // Changes and work that is done later.
  'the change sequence of a subject has a gap': `
    select subject_id from changes group by organization_id, mode, subject_id
    having max(sequence) - min(sequence) + 1 <> count(*)
      or (min(sequence) <> 1 and not ${hasDropped('organization_id')})`,
  'a change has a sequence number of one that was dropped': `
    select id from changes join dropped_sequences using (organization_id, mode, subject_id)
    where changes.sequence <= dropped_sequences.sequence`,
  'a delivery to a webhook has no change': `
    select change_id from webhook_deliveries where not exists (
      select from changes where ${belong('webhook_deliveries', 'changes')})`,
  'a webhook hears of another mode': `
    select change_id from webhook_deliveries join webhooks on webhooks.id = webhook_id
      join changes on ${belong('webhook_deliveries', 'changes')}
    where webhooks.mode <> changes.mode`,
  // A webhook takes what began after its last change. A minute is more than a transaction takes to see it, and
  // deliveries are kept for a day at least.
  'a change was not queued for a webhook that takes it': `
    select changes.id from webhooks left join integrations on integrations.id = integration_id
    join changes on changes.created_at > greatest(updated_at + interval '1 minute', now() - interval '20 hours')
      and changes.mode = webhooks.mode and type = any(types)
      and (changes.channel_id = webhooks.channel_id or changes.organization_id = integrations.organization_id)
    where webhooks.status = 'enabled' and not exists (select from webhook_deliveries
      where ${belong('webhook_deliveries', 'changes')} and webhook_id = webhooks.id)`,
  'pending work is not due within two days': `
    select due_at from refunds where ${isFarOff}
    union all select due_at from deliveries where ${isFarOff}
    union all select due_at from webhook_deliveries where ${isFarOff}`,
  'completed work lacks its completion fields': `
    select id from refunds where (status = 'succeeded') <> (succeeded_at is not null and reference is not null)
    union all select id from deliveries where (status = 'sent') <> (sent_at is not null)
    union all select change_id from webhook_deliveries where status = 'delivered' and delivered_at is null`,
}
