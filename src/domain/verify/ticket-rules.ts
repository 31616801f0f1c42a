import { anonymized } from '../ticket/anonymized.ts'

// Changes of old months are dropped: then less is known than happened.
const hasDropped = (organizationId: string) =>
  `${organizationId} in (select dropped_changes.organization_id from dropped_changes)`

/** Rules of tickets and of what is done with them. Each query returns the rows that break one. */
export const ticketRules = {
  'a paid checkout has a ticket that was never activated': `
    select tickets.id from tickets
    join payments on payments.organization_id = tickets.organization_id and payments.id = payment_id
    where paid_at is not null and (activated_at is null or document_token is null)`,
  'a row of a sale has another mode than its payment': `
    select tickets.id from tickets
    join payments on payments.organization_id = tickets.organization_id and payments.id = payment_id
    where tickets.mode <> payments.mode
    union all select refunds.id from refunds
      join payments on payments.organization_id = refunds.organization_id and payments.id = payment_id
      where refunds.mode <> payments.mode
    union all select changes.id from changes
      join payments on payments.organization_id = changes.organization_id and payments.id = subject_id
      where changes.mode <> payments.mode
    union all select changes.id from changes
      join tickets on tickets.organization_id = changes.organization_id and tickets.id = subject_id
      where changes.mode <> tickets.mode
    union all select invoices.id from invoices
      join payments on payments.organization_id = invoices.organization_id and payments.id = payment_id
      where (payments.mode = 'test') <> (kind in ('test_invoice', 'test_corrective'))`,
  'a ticket was entered more often than it admits': `
    select id from tickets where entered > admits`,
  'the way of selling contradicts the channel or the payment': `
    select tickets.id from tickets
    join payments on payments.organization_id = tickets.organization_id and payments.id = payment_id
    where (sale_type = 'online') <> (payments.channel_id <> payments.organization_id)
      or (sale_type = 'box_office') <> (method is not null)`,
  'an invitation costs something': `
    select id from tickets where sale_type = 'invitation'
      and (price_amount, discount_amount, supplements_amount, organization_fee_amount, platform_fee_amount,
        warranty_amount) <> (0, 0, 0, 0, 0, 0)`,
  'more items of a supplement are redeemed than were bought': `
    select tickets.id from tickets,
      jsonb_to_recordset(supplements) as sold(used integer, "productQuantity" integer)
    where used > coalesce("productQuantity", 1)`,
  'redeemed items of a ticket differ from its redemptions': `
    select ticket_id from (
      select organization_id, tickets.id as ticket_id, "supplementId" as supplement_id, used as items
      from tickets, jsonb_to_recordset(supplements) as sold("supplementId" text, used integer) where used > 0
      union all select organization_id, ticket_id, supplement_id, -redeemed from redemptions
        where ticket_id is not null
    ) as counted group by organization_id, ticket_id, supplement_id having sum(items) <> 0`,
  'requested tickets are not to be sent': `
    select tickets.id from tickets
    join payments on payments.organization_id = tickets.organization_id and payments.id = payment_id
    where send_resourcers and tickets.status = 'active' and tickets.email <> '${anonymized}'
      and not exists (select from deliveries where deliveries.organization_id = payments.organization_id
        and deliveries.payment_id = payments.id and medium = 'email'
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
      and kind = 'tickets' and medium = 'email'
      and created_at > now() - interval '24 hours' group by organization_id, ticket_id having count(*) > 5`,
}
