import { invariants } from '../../src/domain/verify/rules.ts'
import { countRows } from '../../src/domain/verify/verify.ts'
import type { Connection } from '../../src/engine/database/database.ts'
import { wrongSums } from './sales-sums.ts'

// Invariants of the database, those of `npm run verify` and some of tests. Each query returns the rows that
// break one.

// Holds in tests alone, where no webhook is ever disabled and nothing is given up.
const inTests = {
  'a charge has neither a ticket nor a refund that did not fail': `
    select charges.id from charges
    join payments on payments.organization_id = charges.organization_id and payments.id = charges.payment_id
    where not exists (select from refunds where refunds.organization_id = charges.organization_id
        and refunds.charge_id = charges.id and refunds.status <> 'failed')
      and (paid_at is null or not exists (select from tickets where activated_at is not null
        and tickets.organization_id = payments.organization_id and payment_id = payments.id))`,
  'a change is neither delivered to a webhook nor pending': `
    select changes.id from changes join webhooks on webhooks.channel_id = changes.channel_id and webhooks.mode = changes.mode
    where not exists (select from webhook_deliveries where webhook_deliveries.organization_id = changes.organization_id and change_id = changes.id and webhook_id = webhooks.id
      and (status = 'delivered' or status = 'pending'))`,
  'a mail with active tickets is dead': `
    select deliveries.id from deliveries join tickets using (organization_id, payment_id)
    where deliveries.status = 'dead' and tickets.status = 'active' and recipient = email`,
}

const rules = { ...invariants, ...inTests }

const firstId = (table: string, where = 'true') => `(select id from ${table} where ${where} limit 1)`

// A discount without uses, on tickets from which it took nothing.
const useUnusableDiscount = `
  with made as (insert into discounts (id, organization_id, position, code, name, percentage, currency)
    select 'dsc_broken', id, 0, 'broken', 'broken', 10, currency from organizations limit 1 returning organization_id, id),
  counted as (insert into stock (organization_id, kind, id, capacity) select organization_id, 'discount', id, 0 from made)
  update tickets set discount_id = 'dsc_broken' where status = 'active'`

/** Statements that break an invariant, for those that constraints do not already enforce. */
export const invariantBreakers: { [Rule in keyof typeof rules]?: string } = {
  'stock counters differ from the tickets': 'update stock set held = held + 1 where held + sold < capacity',
  'a ticket is held without an open payment, or not held with one': `
    update payments set status = 'expired' where status = 'pending'`,
  'a paid checkout has a ticket that was never activated': `
    update tickets set activated_at = null where status = 'active'`,
  'an open session is not scheduled to close, or is that of another payment': `
    update payments set session_open = true where status = 'paid'`,
  'an unpaid payment is not queued to expire when its hold ends': 'delete from expiries',
  'the uses of a discount exceed its quantity': useUnusableDiscount,
  'a ticket has an amount without a discount, or one of another organization': useUnusableDiscount,
  'a row of a sale has another mode than its payment': `update tickets set mode = 'test' where id = ${firstId('tickets')}`,
  'a test sale was paid at a real provider': `
    with tested as (update payments set mode = 'test' returning id)
    update charges set provider = 'stripe' from tested where payment_id = tested.id`,
  'a webhook hears of another mode': `update webhooks set mode = 'test'`,
  'a charge has neither a ticket nor a refund': `
    update payments set paid_at = null where status = 'paid'`,
  'a charge has neither a ticket nor a refund that did not fail': `
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
  'redeemed items of a ticket differ from its redemptions': `
    update redemptions set redeemed = redeemed + 1 where outcome = 'OK'`,
  'an invoice series has a gap': `
    update invoices set number = number + 1000 where id = ${firstId('invoices')}`,
  'an invoice series counts other invoices than there are': `
    update invoice_series set last = last + 1`,
  'a paid checkout has no invoice': `delete from invoices where kind = 'invoice'`,
  'a ticket refund has no corrective invoice': `delete from invoices where kind = 'corrective'`,
  'a change has a sequence number of one that was dropped': `
    insert into dropped_sequences (organization_id, subject_id, mode, sequence)
      select organization_id, subject_id, mode, sequence from changes limit 1`,
  'a delivery to a webhook has no change': `
    delete from changes where id = ${firstId('webhook_deliveries').replace('select id', 'select change_id')}`,
  'the change sequence of a subject has a gap': `update changes set sequence = sequence + 1000 where id = ${firstId('changes')}`,
  'a change is neither delivered to a webhook nor pending': 'delete from webhook_deliveries',
  'a change was not queued for a webhook that takes it': `
    with taking as (update webhooks set updated_at = now() - interval '1 hour' where channel_id is not null)
    delete from webhook_deliveries`,
  'requested tickets are not to be sent': 'delete from deliveries',
  'a mail with active tickets is dead': `update deliveries set status = 'dead'`,
  'a retired document lives, or its ticket does not': `
    insert into retired_documents (organization_id, token, ticket_id)
    select organization_id, document_token, id from tickets where document_token is not null limit 1`,
  'a ticket was transferred more or less often than documents of it were retired': `
    insert into retired_documents (organization_id, token, ticket_id)
    select organization_id, 'x', id from tickets where document_token is not null limit 1`,
  'a ticket was sent again or transferred more than five times within a day': `
    insert into deliveries (organization_id, id, payment_id, ticket_id, occasion, medium, recipient)
    select organization_id, 'dlv_' || number, payment_id, tickets.id, 'resend:' || number, 'email', email
    from tickets, generate_series(1, 6) as number where tickets.id = ${firstId('tickets')}`,
  'pending work is not due within two days': `update deliveries set due_at = now() + interval '3 days'`,
  'completed work lacks its completion fields': `update refunds set reference = null`,
}

/** Counts the rows that break one invariant. */
export const brokenRows = (db: Connection, rule: string): Promise<number> =>
  countRows(db, rules[rule as keyof typeof rules])

/** Lists the broken invariants, each with its number of rows, and the sums of sales that differ from the
 *  tickets. */
export async function brokenInvariants(db: Connection): Promise<string[]> {
  const broken: string[] = []
  for (const [rule, query] of Object.entries(rules)) {
    const count = await countRows(db, query)
    if (count > 0) broken.push(`${rule}: ${count}`)
  }
  return [...broken, ...(await wrongSums(db))]
}
