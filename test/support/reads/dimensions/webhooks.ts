import { type SQL, sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { assignPositions } from '../../../../src/domain/change/assign-positions.ts'
import { webhookDeliveries } from '../../../../src/domain/change/table.ts'
import { dropOfDeleted } from '../../../../src/domain/webhook/manage-webhook.ts'
import { claimDeliveries } from '../../../../src/domain/webhook/send/claim-deliveries.ts'
import { type Dimension, fillUp, named } from '../dimensions.ts'
import { ask, buy, mutate, type ReadWorld, unique } from '../verbs.ts'
import { copyRows } from '../worlds.ts'

async function register(world: ReadWorld): Promise<string> {
  const url = `https://example.com/${unique()}`
  const answer = (await mutate(world, 'integration', 'registerWebhook', 'webhook { id }', {
    url,
    idempotencyKey: unique(),
  })()) as {
    registerWebhook: { webhook: { id: string } }
  }
  return answer.registerWebhook.webhook.id
}

const poll =
  ({ sale: { db } }: ReadWorld) =>
  () =>
    claimDeliveries(db, { limit: 10, leaseSeconds: 3_600, except: [], batches: [] })
const drop =
  ({ sale: { db } }: ReadWorld) =>
  () =>
    dropOfDeleted(db)

/** Deliveries of one webhook. `values` are columns of each copy, `restore` is what makes those like the others that verbs
 *  have used. */
const deliveriesThat = (
  name: string,
  status: string,
  values: Record<string, string>,
  restore: SQL,
): Dimension => ({
  name: `deliveries of a webhook that ${name}`,
  tables: ['webhook_deliveries'],
  async open(world) {
    const { db } = world.sale
    const webhookId = await register(world)
    await buy(world, 1)
    await assignPositions(db)
    const first = sql`insert into webhook_deliveries (organization_id, webhook_id, change_id)
      select organization_id, ${webhookId}, min(id) from changes group by 1 on conflict do nothing`
    const ofIt = sql`webhook_id = ${webhookId}`
    const list = (status: string) => (world: ReadWorld) =>
      ask(
        world,
        'integration',
        `query ($id: ID!) { node(id: $id) { ... on Webhook {
          deliveries(first: 5${status}) { nodes { status change { id } } } } } }`,
        { id: webhookId },
      )
    const manage =
      (name: string, fields: string, more: object = {}) =>
      (world: ReadWorld) =>
        mutate(world, 'integration', name, fields, { webhookId, ...more })
    return {
      async grow(to) {
        await db.execute(
          sql`update webhooks set status = 'enabled', secret = 'whsec_AAAA' where id = ${webhookId}`,
        )
        await db.execute(first)
        await db.execute(restore)
        const change_id = `'chg_0' || lpad(n::text, 25, '0')`
        const filled = await fillUp(world, {
          to,
          table: 'webhook_deliveries',
          values: { ...values, change_id },
          like: ofIt,
        })
        const change = { id: change_id, subject_id: `'tkt_' || n`, feed_position: '1000000 + n' }
        if (filled) await copyRows(db, 'changes', change, { each: filled.each })
        expect(await db.$count(webhookDeliveries, ofIt)).toBeGreaterThanOrEqual(to)
      },
      verbs: {
        'a poll': poll,
        'a poll while it is disabled': async (world) => {
          await db.execute(sql`update webhooks set status = 'disabled' where id = ${webhookId}`)
          return poll(world)
        },
        'a list': list(''),
        [`a list of what is not ${status}`]: list(`, status: ${status === 'PENDING' ? 'DEAD' : 'PENDING'}`),
        [`a list of what is ${status}`]: list(`, status: ${status}`),
        enableWebhook: manage('enableWebhook', 'webhook { id }'),
        updateWebhook: manage('updateWebhook', 'webhook { id }', { url: 'https://example.com/new' }),
        disableWebhook: manage('disableWebhook', 'webhook { id }'),
        deleteWebhook: manage('deleteWebhook', 'webhookId'),
        'job deleted webhooks': drop,
        ...named('Query.webhooks'),
      },
    }
  },
})

export const dimensions: Dimension[] = [
  deliveriesThat(
    'wait for a later try',
    'PENDING',
    { due_at: `now() + interval '1 hour' + n * interval '1 second'` },
    sql`update webhook_deliveries set due_at = now() + interval '1 hour' where due_at <= now() + interval '50 minutes'`,
  ),
  deliveriesThat(
    'are due',
    'PENDING',
    { due_at: `now() - n * interval '1 second'` },
    sql`update webhook_deliveries set due_at = now() where due_at > now()`,
  ),
  deliveriesThat(
    'are delivered',
    'DELIVERED',
    { status: `'delivered'` },
    sql`update webhook_deliveries set status = 'delivered' where status = 'pending'`,
  ),
  {
    name: 'webhooks of others',
    tables: ['webhooks'],
    async open(world) {
      const webhookId = await register(world)
      const mine = sql`id = ${webhookId}`
      return {
        async grow(to) {
          const values = { id: `'whk_' || n`, integration_id: `'int_' || n` }
          await fillUp(world, {
            to,
            table: 'webhooks',
            values,
            like: mine,
            counted: sql`id not like ${webhookId}`,
          })
        },
        verbs: {
          'a poll': poll,
          'job deleted webhooks': drop,
          ...named('POST /pay/:token'),
        },
      }
    },
  },
]
