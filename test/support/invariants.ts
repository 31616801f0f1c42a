import { sql } from 'drizzle-orm'
import type { Connection, Database } from '../../src/database/database.ts'
import { isDistributed } from '../../src/database/distributed.ts'
import { wrongSums } from './sales-sums.ts'
import { stockRules } from './stock-rules.ts'

// Invariants of the database. Each query returns the rows that break one.

const invariants = {
  ...stockRules,
  'a paid checkout has a ticket that was never activated': `
    select tickets.id from tickets join payments on payments.id = payment_id
    where paid_at is not null and (activated_at is null or document_token is null)`,
  'an ended payment has an open session that is not scheduled to close': `
    select id from payments where session_open and status not in ('pending', 'processing')
      and (session_due_at is null or session_due_at > now() + interval '6 hours')`,
  'held and sold exceed the capacity': `
    select id from stock where sold_before + sold + held > capacity`,
  'the uses of a discount exceed its quantity': `
    select stock.id from discounts join stock on stock.id in (discounts.id, 'test/' || discounts.id)
    where (select count(*) from tickets where discount_id = discounts.id and status in ('held', 'active')
      and (mode = 'test') = (stock.id like 'test/%')) > stock.capacity`,
  'a row of a sale has another mode than its payment': `
    select tickets.id from tickets join payments on payments.id = payment_id where tickets.mode <> payments.mode
    union all select refunds.id from refunds join payments on payments.id = payment_id where refunds.mode <> payments.mode
    union all select changes.id from changes join payments on payments.id = subject_id where changes.mode <> payments.mode
    union all select changes.id from changes join tickets on tickets.id = subject_id where changes.mode <> tickets.mode
    union all select invoices.id from invoices join payments on payments.id = payment_id
      where (payments.mode = 'test') <> (kind in ('test_invoice', 'test_corrective'))`,
  'a test sale was paid at a real provider': `
    select charges.id from charges join payments on payments.id = payment_id
    where payments.mode = 'test' and charges.provider not in ('sandbox', 'box_office')`,
  'a webhook hears of another mode': `
    select change_id from webhook_deliveries join webhooks on webhooks.id = webhook_id
      join changes on changes.id = change_id where webhooks.mode <> changes.mode`,
  'a ticket has an amount without a discount, or one of another organization': `
    select tickets.id from tickets left join discounts on discounts.id = discount_id
    where (discount_id is null) <> (discount_amount = 0) or discounts.organization_id <> tickets.organization_id`,
  'a charge has neither a ticket nor a refund': `
    select charges.id from charges join payments on payments.id = charges.payment_id
    where not exists (select from refunds where refunds.charge_id = charges.id and refunds.status <> 'failed')
      and (paid_at is null or not exists (select from tickets where payment_id = payments.id and activated_at is not null))`,
  'refunds exceed the charge': `
    select charge_id from refunds join charges on charges.id = charge_id where status <> 'failed'
    group by charge_id, charges.amount having sum(refunds.amount) > charges.amount`,
  'refunded amount of a ticket differs from its refund attempts': `
    select tickets.id from tickets left join refunds on refunds.ticket_id = tickets.id and refunds.status = 'succeeded'
    group by tickets.id, tickets.refunded_amount having tickets.refunded_amount <> coalesce(sum(refunds.amount), 0)`,
  'refunded amount of a payment differs from its refund attempts': `
    select payments.id from payments left join refunds on refunds.payment_id = payments.id
      and refunds.status = 'succeeded' and reason not in ('PAID_TWICE', 'AMOUNT_MISMATCH') and (ticket_id is not null or paid_at is null)
    group by payments.id, refunded_amount, total_amount having refunded_amount <> least(total_amount, coalesce(sum(refunds.amount), 0))`,
  'a ticket was entered more often than it admits': `
    select id from tickets where entered > admits`,
  'the box office has taken money without a charge, or has a charge of another amount': `
    select payments.id from payments left join charges on charges.payment_id = payments.id and charges.provider = 'box_office'
    where case when method is not null and total_amount > 0 then charges.amount is distinct from total_amount
      else charges.id is not null end`,
  'a refund by hand is not settled': `
    select refunds.id from refunds join charges on charges.id = charge_id
    where charges.provider = 'box_office' and refunds.status <> 'succeeded'`,
  'a sale of the organization itself was not paid at once, or is open at a provider': `
    select id from payments where channel_id = organization_id
      and (paid_at is distinct from created_at or provider <> 'box_office' or session_id is not null)`,
  'the way of selling contradicts the channel or the payment': `
    select tickets.id from tickets join payments on payments.id = payment_id
    where (sale_type = 'online') <> (payments.channel_id <> payments.organization_id)
      or (sale_type = 'box_office') <> (method is not null)`,
  'an invitation costs something': `
    select id from tickets where sale_type = 'invitation'
      and (price_amount, discount_amount, supplements_amount, organization_fee_amount, platform_fee_amount, warranty_amount)
        <> (0, 0, 0, 0, 0, 0)`,
  'more items of a supplement are redeemed than were bought': `
    select tickets.id from tickets, jsonb_to_recordset(supplements) as sold(used integer, "productQuantity" integer)
    where used > coalesce("productQuantity", 1)`,
  'redeemed items of a ticket differ from its redemptions': `
    select ticket_id from (
      select tickets.id as ticket_id, "supplementId" as supplement_id, coalesce(used, 0) as items
      from tickets, jsonb_to_recordset(supplements) as sold("supplementId" text, used integer)
      union all select ticket_id, supplement_id, -redeemed from redemptions where ticket_id is not null
    ) as counted group by ticket_id, supplement_id having sum(items) <> 0`,
  'an invoice series has a gap': `
    select organization_id || ' ' || kind from invoices group by organization_id, kind, year
    having min(number) <> 1 or max(number) <> count(*)`,
  'a paid checkout has no invoice': `
    select id from payments where paid_at is not null and total_amount > 0
      and (select count(*) from invoices where payment_id = payments.id and kind in ('invoice', 'test_invoice')) <> 1`,
  'a ticket refund has no corrective invoice': `
    select id from refunds where ticket_id is not null and status = 'succeeded'
      and not exists (select from invoices where refund_id = refunds.id and kind in ('corrective', 'test_corrective'))`,
  'the change sequence of a subject has a gap': `
    select subject_id from changes group by subject_id having min(sequence) <> 1 or max(sequence) <> count(*)`,
  'a change is neither delivered to a webhook nor pending': `
    select changes.id from changes join webhooks on webhooks.channel_id = changes.channel_id and webhooks.mode = changes.mode
    where not exists (select from webhook_deliveries where change_id = changes.id and webhook_id = webhooks.id
      and (status = 'delivered' or status = 'pending'))`,
  'requested tickets are neither sent nor pending': `
    select tickets.id from tickets join payments on payments.id = payment_id
    where send_resourcers and tickets.status = 'active' and not exists (select from deliveries
      where payment_id = payments.id and medium = 'email' and recipient = email and status in ('sent', 'pending'))
      -- An address that was corrected after payment gets nothing by itself.
      and not exists (select from changes as corrected join changes as activated on activated.subject_id = corrected.subject_id
        where corrected.subject_id = tickets.id and corrected.type = 'ticket.updated'
          and activated.type = 'ticket.activated' and corrected.sequence > activated.sequence)`,
  'a retired document lives, or its ticket does not': `
    select token from retired_documents as retired where exists (select from tickets where document_token = retired.token)
      or not exists (select from tickets where id = retired.ticket_id and document_token is not null
        and tickets.organization_id = retired.organization_id)`,
  'a ticket was transferred more or less often than documents of it were retired': `
    select tickets.id from tickets
    where (select count(*) from retired_documents where ticket_id = tickets.id)
      <> (select count(*) from changes where subject_id = tickets.id and type = 'ticket.transferred')`,
  'a ticket was sent again more than five times within a day': `
    select ticket_id from deliveries where occasion like 'resend:%' and medium = 'email'
      and created_at > now() - interval '24 hours' group by ticket_id having count(*) > 5`,
  'pending work is not due within a day': `
    ${['refunds', 'deliveries', 'webhook_deliveries']
      .map(
        (table) =>
          `select due_at from ${table} where status = 'pending' and due_at > now() + interval '1 day'`,
      )
      .join(' union all ')}`,
  'completed work lacks its completion fields': `
    select id from refunds where (status = 'succeeded') <> (succeeded_at is not null and reference is not null)
    union all select id from deliveries where (status = 'sent') <> (sent_at is not null)
    union all select change_id from webhook_deliveries where status = 'delivered' and delivered_at is null`,
}

const firstId = (table: string, where = 'true') => `(select id from ${table} where ${where} limit 1)`

// A discount without uses, on tickets from which it took nothing.
const useUnusableDiscount = `
  with made as (insert into discounts (id, organization_id, position, code, name, percentage, currency)
    select 'dsc_broken', id, 0, 'broken', 'broken', 10, currency from organizations limit 1 returning organization_id, id),
  counted as (insert into stock (organization_id, id, capacity) select organization_id, id, 0 from made)
  update tickets set discount_id = 'dsc_broken' where status = 'active'`

/** Statements that break an invariant, for those that constraints do not already enforce. */
export const invariantBreakers: { [Rule in keyof typeof invariants]?: string } = {
  'stock counters differ from the tickets': 'update stock set held = held + 1 where held + sold < capacity',
  'a ticket is held without an open payment, or not held with one': `
    update payments set status = 'expired' where status = 'pending'`,
  'a paid checkout has a ticket that was never activated': `
    update tickets set document_token = null where status = 'active'`,
  'an ended payment has an open session that is not scheduled to close': `
    update payments set session_open = true, session_due_at = null where status = 'paid'`,
  'the uses of a discount exceed its quantity': useUnusableDiscount,
  'a ticket has an amount without a discount, or one of another organization': useUnusableDiscount,
  'a row of a sale has another mode than its payment': `update tickets set mode = 'test' where id = ${firstId('tickets')}`,
  'a test sale was paid at a real provider': `
    with tested as (update payments set mode = 'test' returning id)
    update charges set provider = 'stripe' from tested where payment_id = tested.id`,
  'a webhook hears of another mode': `update webhooks set mode = 'test'`,
  'a charge has neither a ticket nor a refund': `
    update payments set paid_at = null where status = 'paid'`,
  'refunds exceed the charge': `update refunds set amount = amount + 100000 where status = 'succeeded'`,
  'refunded amount of a ticket differs from its refund attempts': `
    update tickets set refunded_amount = refunded_amount + 1 where id = ${firstId('tickets', "status = 'active' and refunded_amount = 0 and total_amount > 0")}`,
  'refunded amount of a payment differs from its refund attempts': `
    update payments set refunded_amount = 1 where status = 'paid' and total_amount > 0`,
  'the box office has taken money without a charge, or has a charge of another amount': `
    update charges set amount = amount + 1 where provider = 'box_office'`,
  'a refund by hand is not settled': `
    update refunds set status = 'pending' from charges where charges.id = charge_id and charges.provider = 'box_office'`,
  'a sale of the organization itself was not paid at once, or is open at a provider': `
    update payments set session_id = id where method is not null`,
  'the way of selling contradicts the channel or the payment': `
    update tickets set sale_type = 'box_office' where sale_type = 'invitation'`,
  'an invitation costs something': `
    update tickets set platform_fee_amount = 1 where sale_type = 'invitation'`,
  'more items of a supplement are redeemed than were bought': `
    update tickets set supplements = '[{"supplementId": "sup_0", "used": 2}]' where id = ${firstId('tickets')}`,
  'redeemed items of a ticket differ from its redemptions': `
    update redemptions set redeemed = redeemed + 1 where result = 'OK'`,
  'an invoice series has a gap': `
    update invoices set number = number + 1000 where id = ${firstId('invoices')}`,
  'a paid checkout has no invoice': `delete from invoices where kind = 'invoice'`,
  'a ticket refund has no corrective invoice': `delete from invoices where kind = 'corrective'`,
  'the change sequence of a subject has a gap': `update changes set sequence = sequence + 1000 where id = ${firstId('changes')}`,
  'a change is neither delivered to a webhook nor pending': 'delete from webhook_deliveries',
  'requested tickets are neither sent nor pending': 'delete from deliveries',
  'a retired document lives, or its ticket does not': `
    insert into retired_documents (organization_id, token, ticket_id)
    select organization_id, document_token, id from tickets where document_token is not null limit 1`,
  'a ticket was transferred more or less often than documents of it were retired': `
    insert into retired_documents (organization_id, token, ticket_id)
    select organization_id, 'x', id from tickets where document_token is not null limit 1`,
  'a ticket was sent again more than five times within a day': `
    insert into deliveries (organization_id, id, payment_id, ticket_id, occasion, medium, recipient)
    select organization_id, 'dlv_' || number, payment_id, tickets.id, 'resend:' || number, 'email', email
    from tickets, generate_series(1, 6) as number where tickets.id = ${firstId('tickets')}`,
  'pending work is not due within a day': `update deliveries set due_at = now() + interval '2 days'`,
  'completed work lacks its completion fields': `update refunds set reference = null`,
}

/** Lists the broken invariants, each with its number of rows, and the sums of sales that differ from the
 *  tickets. */
export async function brokenInvariants(db: Database): Promise<string[]> {
  const broken = isDistributed(db) ? await db.transaction(findBrokenOfCopies) : await findBroken(db)
  return [...broken, ...(await wrongSums(db))]
}

// A cluster joins no rows of several organizations, so they are copied to the server that the transaction is on. A
// temporary table comes before one of the same name.
async function findBrokenOfCopies(tx: Connection): Promise<string[]> {
  const rows = await tx.execute(
    sql`select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  )
  for (const { name } of rows as unknown as { name: string }[])
    await tx.execute(sql.raw(`create temporary table ${name} on commit drop as select * from public.${name}`))
  return findBroken(tx)
}

async function findBroken(db: Connection): Promise<string[]> {
  const broken: string[] = []
  for (const [invariant, query] of Object.entries(invariants)) {
    const [row] = await db
      .select({ count: sql<number>`count(*)::integer` })
      .from(sql`(${sql.raw(query)}) as broken`)
    if (row?.count) broken.push(`${invariant}: ${row.count}`)
  }
  return broken
}
