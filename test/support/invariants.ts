import { sql } from 'drizzle-orm'
import type { Connection } from '../../src/database/database.ts'

// What must hold of a database whatever was done to it, each as the rows that break it.

const invariants = {
  'a counter is not what the rows say': `
    select stock.id from stock
    left join (
      select of.id, count(*) filter (where status = 'held') as held, count(*) filter (where status = 'active') as sold
      from tickets cross join lateral unnest(array[ticket_rate_id, price_id]) as of(id) group by of.id
    ) as counted on counted.id = stock.id
    where stock.held <> coalesce(counted.held, 0) or stock.sold <> coalesce(counted.sold, 0)`,
  'a ticket is held for a payment that is over, or not for one that is open': `
    select tickets.id from tickets join payments on payments.id = payment_id
    where (tickets.status = 'held') <> (payments.status in ('pending', 'processing'))`,
  'a paid checkout has a ticket that was never given out': `
    select tickets.id from tickets join payments on payments.id = payment_id
    where paid_at is not null and (activated_at is null or document_token is null)`,
  'a session of a payment that is over is open, and nobody will end it': `
    select id from payments where session_open and status not in ('pending', 'processing')
      and (session_due_at is null or session_due_at > now() + interval '6 hours')`,
  'more is held and sold than there is': `
    select id from stock where sold_before + sold + held > capacity`,
  'money came, and there is neither a ticket nor the money back': `
    select charges.id from charges join payments on payments.id = charges.payment_id
    where not exists (select from refunds where refunds.charge_id = charges.id and refunds.status <> 'failed')
      and (paid_at is null or not exists (select from tickets where payment_id = payments.id and activated_at is not null))`,
  'more goes back than came': `
    select charge_id from refunds join charges on charges.id = charge_id where status <> 'failed'
    group by charge_id, charges.amount having sum(refunds.amount) > charges.amount`,
  'a ticket has had more back than the attempts say, or less': `
    select tickets.id from tickets left join refunds on refunds.ticket_id = tickets.id and refunds.status = 'succeeded'
    group by tickets.id having tickets.refunded_amount <> coalesce(sum(refunds.amount), 0)`,
  'a payment has had more back than the attempts say, or less': `
    select payments.id from payments left join refunds on refunds.payment_id = payments.id
      and refunds.status = 'succeeded' and reason not in ('PAID_TWICE', 'AMOUNT_MISMATCH') and (ticket_id is not null or paid_at is null)
    group by payments.id having refunded_amount <> least(total_amount, coalesce(sum(refunds.amount), 0))`,
  'more entered than the ticket admits': `
    select id from tickets where entered > admits`,
  'a series of invoices has a gap': `
    select organization_id || ' ' || kind from invoices group by organization_id, kind, year
    having min(number) <> 1 or max(number) <> count(*)`,
  'a paid checkout has no invoice': `
    select id from payments where paid_at is not null and total_amount > 0
      and (select count(*) from invoices where payment_id = payments.id and kind = 'invoice') <> 1`,
  'a refund of a ticket has no corrective invoice': `
    select id from refunds where ticket_id is not null and status = 'succeeded'
      and not exists (select from invoices where refund_id = refunds.id and kind = 'corrective')`,
  'the changes of a subject have a gap': `
    select subject_id from changes group by subject_id having min(sequence) <> 1 or max(sequence) <> count(*)`,
  'a change is neither sent to a webhook nor due': `
    select changes.id from changes join webhooks on webhooks.channel_id = changes.channel_id
    where not exists (select from webhook_deliveries where change_id = changes.id and webhook_id = webhooks.id
      and (status = 'delivered' or status = 'pending'))`,
  'who asked for tickets was neither sent them nor will be': `
    select tickets.id from tickets join payments on payments.id = payment_id
    where send_resourcers and tickets.status = 'active' and not exists (select from deliveries
      where payment_id = payments.id and medium = 'email' and recipient = email and status in ('sent', 'pending'))`,
  'what is to be done is not due within a day': `
    ${['refunds', 'deliveries', 'webhook_deliveries']
      .map(
        (table) =>
          `select due_at from ${table} where status = 'pending' and due_at > now() + interval '1 day'`,
      )
      .join(' union all ')}`,
  'what is done is not written down as done': `
    select id from refunds where (status = 'succeeded') <> (succeeded_at is not null and reference is not null)
    union all select id from deliveries where (status = 'sent') <> (sent_at is not null)
    union all select change_id from webhook_deliveries where status = 'delivered' and delivered_at is null`,
}

const firstId = (table: string, where = 'true') => `(select id from ${table} where ${where} limit 1)`

/** What breaks these rules, where the tables themselves do not forbid it. */
export const invariantBreakers: { [Rule in keyof typeof invariants]?: string } = {
  'a counter is not what the rows say': 'update stock set held = held + 1 where held + sold < capacity',
  'a ticket is held for a payment that is over, or not for one that is open': `
    update payments set status = 'expired' where status = 'pending'`,
  'a paid checkout has a ticket that was never given out': `
    update tickets set document_token = null where status = 'active'`,
  'a session of a payment that is over is open, and nobody will end it': `
    update payments set session_open = true, session_due_at = null where status = 'paid'`,
  'money came, and there is neither a ticket nor the money back': `
    update payments set paid_at = null where status = 'paid'`,
  'more goes back than came': `update refunds set amount = amount + 100000 where status = 'succeeded'`,
  'a ticket has had more back than the attempts say, or less': `
    update tickets set refunded_amount = refunded_amount + 1 where id = ${firstId('tickets', "status = 'active' and refunded_amount = 0")}`,
  'a payment has had more back than the attempts say, or less': `
    update payments set refunded_amount = 1 where status = 'paid'`,
  'a series of invoices has a gap': `
    update invoices set number = number + 1000 where id = ${firstId('invoices')}`,
  'a paid checkout has no invoice': `delete from invoices where kind = 'invoice'`,
  'a refund of a ticket has no corrective invoice': `delete from invoices where kind = 'corrective'`,
  'the changes of a subject have a gap': `update changes set sequence = sequence + 1000 where id = ${firstId('changes')}`,
  'a change is neither sent to a webhook nor due': 'delete from webhook_deliveries',
  'who asked for tickets was neither sent them nor will be': 'delete from deliveries',
  'what is to be done is not due within a day': `update deliveries set due_at = now() + interval '2 days'`,
  'what is done is not written down as done': `update refunds set reference = null`,
}

/** What is not as it must be, by the rule that it breaks. Nothing, as a rule. */
export async function brokenInvariants(db: Connection): Promise<string[]> {
  const wrong: string[] = []
  for (const [rule, broken] of Object.entries(invariants)) {
    const [row] = await db
      .select({ count: sql<number>`count(*)::integer` })
      .from(sql`(${sql.raw(broken)}) as broken`)
    if (row?.count) wrong.push(`${rule}: ${row.count}`)
  }
  return wrong
}
