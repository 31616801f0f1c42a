import { builder } from '../../graphql/builder.ts'
import { catchRefusal, resultUnion } from '../../graphql/mutation-result.ts'
import { requireCaller } from '../../request/context.ts'
import * as scalars from '../../shared/input-types.ts'
import { ChangeTypeRef } from '../change/graphql.ts'
import { deleteWebhook } from './delete-webhook.ts'
import { disableWebhook } from './disable-webhook.ts'
import { enableWebhook } from './enable-webhook.ts'
import { listWebhooks } from './own-webhook.ts'
import { type Webhook, webhookStatus } from './table.ts'
import { updateWebhook } from './update-webhook.ts'
import { webhookChanges } from './webhook-input.ts'

const WebhookStatusRef = builder.enumType('WebhookStatus', {
  description:
    '`disabled`: nothing is sent, and what changes meanwhile is not kept for it. The feed tells it.',
  values: webhookStatus.enumValues.filter((status) => status !== 'deleted'),
})

export const WebhookRef = builder.objectRef<Webhook>('Webhook').implement({
  description:
    'An address that is told of changes in the form of Standard Webhooks. Its secret is shown when it is made, and never again.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its identifier.' }),
    url: t.exposeString('url', { description: 'Where it leads.' }),
    types: t.expose('types', { type: [ChangeTypeRef], description: 'What it is told of.' }),
    status: t.field({
      type: WebhookStatusRef,
      description: 'Whether it is told.',
      resolve: ({ status }) => (status === 'enabled' ? status : 'disabled'),
    }),
    disabledReason: t.exposeString('disabledReason', {
      nullable: true,
      description:
        'Why it is disabled: `GONE`, it answered 410; `FAILING`, nothing got through for five days; `REQUESTED`.',
    }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when nothing gets through; null as long as it does.',
    }),
    previousSecretUntil: t.expose('previousSecretUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when the secret before this one signs as well, or did.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was registered.' }),
  }),
})

const WebhookPayloadRef = builder.objectRef<{ webhook: Webhook }>('WebhookPayload').implement({
  description: 'It was done.',
  fields: (t) => ({
    webhook: t.field({
      type: WebhookRef,
      description: 'The webhook as it is now.',
      resolve: ({ webhook }) => webhook,
    }),
  }),
})

const WebhookResultRef = resultUnion(
  'WebhookResult',
  WebhookPayloadRef,
  'The webhook, or why it is as it was.',
)

const DeleteWebhookPayloadRef = builder.objectRef<{ id: string }>('DeleteWebhookPayload').implement({
  description: 'It is gone.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'The identifier that it had.' }) }),
})

const DeleteWebhookResultRef = resultUnion(
  'DeleteWebhookResult',
  DeleteWebhookPayloadRef,
  'That it is gone, or why it is not.',
)

builder.queryField('webhooks', (t) =>
  t.field({
    type: [WebhookRef],
    nullable: true,
    complexity: { field: 100, multiplier: 10 },
    description: 'The webhooks of the caller, the oldest first.',
    resolve: (_root, _args, ctx) => listWebhooks(ctx),
  }),
)

builder.mutationFields((t) => {
  const id = t.arg.id({ required: true, description: 'The webhook.' })
  return {
    updateWebhook: t.field({
      type: WebhookResultRef,
      description: 'Changes where a webhook leads or what it is told of. What waits for it is sent at once.',
      args: {
        id,
        url: t.arg.string({ description: 'Where it is to lead; as before without it.' }),
        types: t.arg({ type: [ChangeTypeRef], description: 'What it is told of; as before without it.' }),
      },
      resolve: (_root, { id, url, types }, ctx) =>
        catchRefusal(async () => {
          requireCaller(ctx)
          const changes = scalars.parse(webhookChanges, { url: url ?? undefined, types: types ?? undefined })
          return { webhook: await updateWebhook(id, changes, ctx) }
        }),
    }),
    enableWebhook: t.field({
      type: WebhookResultRef,
      description:
        'Lets a webhook be told again. What waits for it is sent at once; what changed while it was disabled is in the feed.',
      args: { id },
      resolve: (_root, { id }, ctx) => catchRefusal(async () => ({ webhook: await enableWebhook(id, ctx) })),
    }),
    disableWebhook: t.field({
      type: WebhookResultRef,
      description: 'Stops telling a webhook until it is enabled.',
      args: { id },
      resolve: (_root, { id }, ctx) => catchRefusal(async () => ({ webhook: await disableWebhook(id, ctx) })),
    }),
    deleteWebhook: t.field({
      type: DeleteWebhookResultRef,
      description: 'Forgets a webhook: nothing more is sent to it.',
      args: { id },
      resolve: (_root, { id }, ctx) => catchRefusal(() => deleteWebhook(id, ctx)),
    }),
  }
})
