/** Rules of changes and of work that is done later. Each query returns the rows that break one. */
export const workRules = {
  'the change sequence of a subject has a gap': `
    select subject_id from changes group by organization_id, subject_id
    having max(sequence) - min(sequence) + 1 <> count(*)
      or (min(sequence) <> 1
        and organization_id not in (select dropped_changes.organization_id from dropped_changes))`,
  'a change has a sequence number of one that was dropped': `
    select id from changes join dropped_sequences using (organization_id, subject_id)
    where changes.sequence <= dropped_sequences.sequence`,
  'a delivery to a webhook has no change': `
    select change_id from webhook_deliveries where not exists (select from changes
      where changes.organization_id = webhook_deliveries.organization_id and id = change_id)`,
  'a webhook hears of another mode': `
    select change_id from webhook_deliveries join webhooks on webhooks.id = webhook_id
      join changes on changes.organization_id = webhook_deliveries.organization_id and changes.id = change_id
    where webhooks.mode <> changes.mode`,
  // A webhook takes what began after its last change. A minute is more than a transaction takes to see it, and
  // deliveries are kept for a day at least.
  'a change was not queued for a webhook that takes it': `
    select changes.id from webhooks left join integrations on integrations.id = integration_id
    join changes on changes.created_at > greatest(updated_at + interval '1 minute', now() - interval '20 hours')
      and changes.mode = webhooks.mode and type = any(types)
      and (changes.channel_id = webhooks.channel_id or changes.organization_id = integrations.organization_id)
    where webhooks.status = 'enabled' and not exists (
      select from webhook_deliveries where webhook_deliveries.organization_id = changes.organization_id
        and webhook_id = webhooks.id and change_id = changes.id)`,
  'pending work is not due within two days': `
    ${['refunds', 'deliveries', 'webhook_deliveries']
      .map(
        (table) =>
          `select due_at from ${table} where status = 'pending' and due_at > now() + interval '2 days'`,
      )
      .join(' union all ')}`,
  'completed work lacks its completion fields': `
    select id from refunds where (status = 'succeeded') <> (succeeded_at is not null and reference is not null)
    union all select id from deliveries where (status = 'sent') <> (sent_at is not null)
    union all select change_id from webhook_deliveries where status = 'delivered' and delivered_at is null`,
}
