import { sql } from 'drizzle-orm'
import type { Connection } from '../src/database.ts'

// What must hold of a database whatever was done to it, each as the rows that break it.

const rules = {
  'a counter is not what the rows say': `
    select stock.id from stock
    left join (
      select of.id, count(*) filter (where status = 'held') as held, count(*) filter (where status = 'active') as sold
      from tickets cross join lateral unnest(array[ticket_rate_id, price_id]) as of(id) group by of.id
    ) as counted on counted.id = stock.id
    where stock.held <> coalesce(counted.held, 0) or stock.sold <> coalesce(counted.sold, 0)`,
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
    select payments.id from payments where send_resourcers and paid_at is not null
      and not exists (select from deliveries where payment_id = payments.id and status in ('sent', 'pending'))`,
}

const one = (table: string, where = 'true') => `(select id from ${table} where ${where} limit 1)`

/** What breaks these rules, where the tables themselves do not forbid it. */
export const breaking: { [Rule in keyof typeof rules]?: string } = {
  'a counter is not what the rows say': 'update stock set held = held + 1 where held + sold < capacity',
  'money came, and there is neither a ticket nor the money back': `
    update payments set paid_at = null where status = 'paid'`,
  'more goes back than came': `update refunds set amount = amount + 100000 where status = 'succeeded'`,
  'a ticket has had more back than the attempts say, or less': `
    update tickets set refunded_amount = refunded_amount + 1 where id = ${one('tickets', "status = 'active' and refunded_amount = 0")}`,
  'a series of invoices has a gap': `
    update invoices set number = number + 1000 where id = ${one('invoices')}`,
  'a paid checkout has no invoice': `delete from invoices where kind = 'invoice'`,
  'a refund of a ticket has no corrective invoice': `delete from invoices where kind = 'corrective'`,
  'the changes of a subject have a gap': `update changes set sequence = sequence + 1000 where id = ${one('changes')}`,
  'a change is neither sent to a webhook nor due': 'delete from webhook_deliveries',
  'who asked for tickets was neither sent them nor will be': 'delete from deliveries',
}

/** What is not as it must be, by the rule that it breaks. Nothing, as a rule. */
export async function wrongIn(db: Connection): Promise<string[]> {
  const wrong: string[] = []
  for (const [rule, broken] of Object.entries(rules)) {
    const [row] = await db
      .select({ count: sql<number>`count(*)::integer` })
      .from(sql`(${sql.raw(broken)}) as broken`)
    if (row?.count) wrong.push(`${rule}: ${row.count}`)
  }
  return wrong
}
