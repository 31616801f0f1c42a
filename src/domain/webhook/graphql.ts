import type { z } from 'zod'
import {
  builder,
  enumOf,
  fieldOf,
  NodeRef,
  nullable,
  nullableTime,
  queryField,
  time,
} from '../../engine/graphql/builder.ts'
import { connectionOf, costOfPage, forwardArgs, readForward } from '../../engine/graphql/connection.ts'
import { mutation, oneObject } from '../../engine/graphql/mutation-result.ts'
import { ModeRef } from '../caller/roots-graphql.ts'
import { ChangeRef, ChangeTypeRef } from '../change/graphql.ts'
import { deliveryStatuses, disabledReasons, type Webhook } from '../change/table.ts'
import {
  type DeliveryPage,
  type DeliveryWithChange,
  deliveryPages,
  findOwnWebhooks,
  listWebhooks,
  readCursor,
  redeliverWebhook,
  toCursor,
} from './find-webhooks.ts'
import {
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  registerWebhook,
  rotateWebhookSecret,
  updateWebhook,
  type WebhookWithSecret,
} from './manage-webhook.ts'
import {
  deliveryInput,
  rotationInput,
  webhookIdInput,
  webhookInput,
  webhookUpdateInput,
} from './webhook-input.ts'

const WebhookStatusRef = enumOf<Exclude<Webhook['status'], 'deleted'>>(
  'WebhookStatus',
  'Status of a webhook. Values may be added: treat an unknown one as disabled.',
  {
    enabled: 'Changes are queued for the webhook and sent.',
    disabled: 'Nothing is sent, and no changes are queued: read them from the feed.',
  },
)

const DisabledReasonRef = enumOf(
  'WebhookDisabledReason',
  'Reason why a webhook is disabled. Values may be added: treat an unknown one as `FAILING`.',
  disabledReasons,
)

const WebhookRef = builder.objectRef<Webhook>('Webhook').implement({
  description:
    'Endpoint that receives changes as Standard Webhooks. Its secret is shown only when it is registered or rotated.',
  interfaces: [NodeRef],
  extensions: { node: { prefix: 'whk', scope: 'tickets:read', find: findOwnWebhooks } },
  fields: (t) => ({
    mode: t.expose('mode', { type: ModeRef, description: 'Mode of the changes that it receives.' }),
    url: t.exposeString('url', { description: 'URL that changes are posted to.' }),
    types: t.expose('types', {
      type: [ChangeTypeRef],
      ...nullable(
        'Types of change that the webhook receives; null for all, also those that are added later.',
      ),
    }),
    status: t.field({
      type: WebhookStatusRef,
      description: 'Current status.',
      resolve: ({ status }) => (status === 'enabled' ? status : 'disabled'),
    }),
    disabledReason: t.expose('disabledReason', {
      type: DisabledReasonRef,
      ...nullable('Reason why the webhook is disabled; null while it is enabled.'),
    }),
    failingSince: t.expose(
      'failingSince',
      nullableTime('Time since which all deliveries have failed; null while they succeed.'),
    ),
    previousSecretUntil: t.expose(
      'previousSecretUntil',
      nullableTime(
        'Time until which messages are also signed with the previous secret; null if it was never rotated.',
      ),
    ),
    createdAt: t.expose('createdAt', time('Time of registration.')),
  }),
})

const webhookFields = oneObject('webhook', WebhookRef, 'Webhook as it is now.')

queryField('webhooks', {
  type: [WebhookRef],
  description: 'Lists the webhooks of the caller, oldest first.',
  needs: { caller: 'confidential', scope: 'tickets:read' },
  complexity: { field: 100, multiplier: 10 },
  resolve: (_root, _args, ctx) => listWebhooks(ctx),
})

const secretFields: Parameters<typeof mutation<z.ZodType<unknown, object>, WebhookWithSecret>>[1]['fields'] =
  (t) => ({
    webhook: t.expose('webhook', { type: WebhookRef, description: 'Webhook that the secret belongs to.' }),
    secret: t.exposeString('secret', {
      description:
        'Secret to verify messages with (`whsec_…`). It is shown again only to a repeated request: store it.',
    }),
  })

mutation('registerWebhook', {
  description:
    'Registers a webhook for the changes that the query `changes` lists, in the form of Standard Webhooks.',
  input: webhookInput,
  needs: { caller: 'confidential', scope: 'tickets:read' },
  run: registerWebhook,
  payload: 'New webhook and its secret.',
  fields: secretFields,
})

mutation('updateWebhook', {
  description:
    'Changes the URL or the types of a webhook. A new URL makes all pending deliveries due at once.',
  input: webhookUpdateInput,
  needs: { caller: 'confidential', scope: 'tickets:read' },
  run: async (input, ctx) => ({ webhook: await updateWebhook(input, ctx) }),
  payload: 'Changed webhook.',
  fields: webhookFields,
})

mutation('enableWebhook', {
  description:
    'Enables a webhook and makes its pending deliveries due at once. Changes made while it was disabled are only in the feed.',
  input: webhookIdInput('Webhook to enable.'),
  needs: { caller: 'confidential', scope: 'tickets:read' },
  run: async ({ webhookId }, ctx) => ({ webhook: await enableWebhook(webhookId, ctx) }),
  payload: 'Enabled webhook.',
  fields: webhookFields,
})

mutation('disableWebhook', {
  description: 'Disables a webhook until it is enabled again. Pending deliveries are kept.',
  input: webhookIdInput('Webhook to disable.'),
  needs: { caller: 'confidential', scope: 'tickets:read' },
  run: async ({ webhookId }, ctx) => ({ webhook: await disableWebhook(webhookId, ctx) }),
  payload: 'Disabled webhook.',
  fields: webhookFields,
})

mutation('rotateWebhookSecret', {
  description:
    'Replaces the secret of a webhook. For 24 hours messages carry signatures by both the new and the previous secret. Rotating again within that time keeps only the last two.',
  input: rotationInput,
  needs: { caller: 'confidential', scope: 'tickets:read' },
  run: rotateWebhookSecret,
  payload: 'Webhook and its new secret.',
  fields: secretFields,
})

const WebhookDeliveryStatusRef = enumOf(
  'WebhookDeliveryStatus',
  'Status of a delivery. Values may be added: treat an unknown one as `PENDING`.',
  deliveryStatuses,
)

const WebhookDeliveryRef = builder.objectRef<DeliveryWithChange>('WebhookDelivery').implement({
  description: 'Delivery of a change to a webhook.',
  fields: (t) => ({
    change: t.expose('change', { type: ChangeRef, description: 'Change that is delivered.' }),
    status: t.expose('status', { type: WebhookDeliveryStatusRef, description: 'Current status.' }),
    attempts: t.exposeInt('attempts', { description: 'Number of attempts so far.' }),
    nextAttemptAt: t.field({
      ...nullableTime('Time of the next attempt, if the webhook is enabled; null once no attempt is left.'),
      resolve: ({ status, dueAt }) => (status === 'pending' ? dueAt : null),
    }),
    lastStatus: t.exposeInt(
      'lastStatus',
      nullable('HTTP status of the last response; null if there was none.'),
    ),
    lastError: t.exposeString(
      'lastError',
      nullable(
        'Error code of the last attempt: `STATUS`, `REDIRECT`, `GONE`, `TIMEOUT`, `ADDRESS_NOT_ALLOWED`, or a network error such as `ECONNREFUSED`.',
      ),
    ),
    createdAt: t.expose('createdAt', time('Time at which the delivery was queued.')),
    deliveredAt: t.expose(
      'deliveredAt',
      nullableTime('Time at which the webhook accepted the change; null until then.'),
    ),
  }),
})

const { connection: WebhookDeliveryConnectionRef } = connectionOf('WebhookDelivery', WebhookDeliveryRef, {
  things: 'deliveries',
  description: 'Page of deliveries, newest change first.',
  toCursor,
})

fieldOf(WebhookRef, 'deliveries', {
  type: WebhookDeliveryConnectionRef,
  ...nullable('Deliveries to this webhook, newest change first; null if an argument is refused.'),
  complexity: costOfPage(1_000),
  args: builder.args((t) => ({
    status: t.field({
      type: WebhookDeliveryStatusRef,
      description: 'Returns only deliveries with this status.',
    }),
    ...forwardArgs('Returns deliveries after this cursor; from the newest if omitted.'),
  })),
  resolve: ({ id: webhookId }, { status, ...args }, { loaders }) =>
    readForward(args, readCursor, (after, limit) => {
      const page: DeliveryPage = { webhookId, status, after, limit }
      return loaders.load(deliveryPages, JSON.stringify(page))
    }),
})

mutation('redeliverWebhook', {
  description:
    "Sends a change to a webhook again, with new attempts, whatever the delivery's status, and at once. The webhook must be enabled.",
  input: deliveryInput,
  needs: { caller: 'confidential', scope: 'tickets:read' },
  run: async (input, ctx) => ({ delivery: await redeliverWebhook(input, ctx) }),
  payload: 'Delivery that is due again.',
  fields: oneObject('delivery', WebhookDeliveryRef, 'Delivery that is due again.'),
})

mutation('deleteWebhook', {
  description: 'Deletes a webhook and its secrets. Pending deliveries are dropped.',
  input: webhookIdInput('Webhook to delete.'),
  needs: { caller: 'confidential', scope: 'tickets:read' },
  run: ({ webhookId }, ctx) => deleteWebhook(webhookId, ctx),
  payload: 'Deleted webhook.',
  fields: (t) => ({
    webhookId: t.exposeID('id', { description: 'Identifier of the deleted webhook.' }),
  }),
})
