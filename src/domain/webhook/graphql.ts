import { builder, type DescribedValues, NodeRef, upperCase } from '../../graphql/builder.ts'
import { ModeRef } from '../../graphql/mode.ts'
import { idInput } from '../../graphql/mutation-input.ts'
import { mutation, objectResult, resultUnion } from '../../graphql/mutation-result.ts'
import { requireConfidential } from '../../request/context.ts'
import * as scalars from '../../shared/input-types.ts'
import { ChangeTypeRef } from '../change/graphql.ts'
import {
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  registerWebhook,
  rotateWebhookSecret,
  updateWebhook,
  type WebhookWithSecret,
} from './manage-webhook.ts'
import { listWebhooks } from './own-webhook.ts'
import type { DisabledReason, Webhook } from './table.ts'
import { webhookChanges, webhookInput } from './webhook-input.ts'

const WebhookStatusRef = builder.enumType('WebhookStatus', {
  description: 'Status of a webhook.',
  values: upperCase<Exclude<Webhook['status'], 'deleted'>>({
    enabled: 'Changes are queued for the webhook and sent.',
    disabled: 'Nothing is sent, and no changes are queued: read them from the feed.',
  }),
})

const DisabledReasonRef = builder.enumType('WebhookDisabledReason', {
  description: 'Reason why a webhook is disabled.',
  values: {
    GONE: { value: 'GONE', description: 'Its endpoint answered 410.' },
    FAILING: { value: 'FAILING', description: 'No delivery succeeded for five days.' },
    REQUESTED: { value: 'REQUESTED', description: 'Disabled by a mutation.' },
  } satisfies DescribedValues<DisabledReason>,
})

const WebhookRef = builder.objectRef<Webhook>('Webhook').implement({
  description:
    'Endpoint that receives changes as Standard Webhooks. Its secret is shown only when it is registered or rotated.',
  interfaces: [NodeRef],
  fields: (t) => ({
    mode: t.expose('mode', { type: ModeRef, description: 'Mode of the changes that it receives.' }),
    url: t.exposeString('url', { description: 'URL that changes are posted to.' }),
    types: t.expose('types', {
      type: [ChangeTypeRef],
      description: 'Types of change that the webhook receives.',
    }),
    status: t.field({
      type: WebhookStatusRef,
      description: 'Current status.',
      resolve: ({ status }) => (status === 'enabled' ? status : 'disabled'),
    }),
    disabledReason: t.expose('disabledReason', {
      type: DisabledReasonRef,
      nullable: true,
      description: 'Reason why the webhook is disabled; null while it is enabled.',
    }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Time since which all deliveries have failed; null while they succeed.',
    }),
    previousSecretUntil: t.expose('previousSecretUntil', {
      type: 'DateTime',
      nullable: true,
      description:
        'Time until which messages are also signed with the previous secret; null if it was never rotated.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of registration.' }),
  }),
})

const WebhookResultRef = objectResult('Webhook', ['webhook', WebhookRef], 'Webhook after the mutation')

const DeleteWebhookPayloadRef = builder.objectRef<{ id: string }>('DeleteWebhookPayload').implement({
  description: 'Deleted webhook.',
  fields: (t) => ({
    webhookId: t.exposeID('id', { description: 'Identifier of the deleted webhook.' }),
  }),
})

builder.queryField('webhooks', (t) =>
  t.field({
    type: [WebhookRef],
    nullable: true,
    complexity: { field: 100, multiplier: 10 },
    description: 'Lists the webhooks of the caller, oldest first.',
    resolve: (_root, _args, ctx) => listWebhooks(ctx),
  }),
)

const UpdateWebhookInputRef = builder.inputType('UpdateWebhookInput', {
  description: 'Changes to a webhook. Fields that are omitted or null stay as they are.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Webhook identifier.' }),
    url: t.string({ description: 'New URL, an https address on the public internet.' }),
    types: t.field({ type: [ChangeTypeRef], description: 'New types of change.' }),
  }),
})

mutation('updateWebhook', {
  description:
    'Changes the URL or the types of a webhook. A new URL makes all pending deliveries due at once.',
  input: [UpdateWebhookInputRef, 'Changes.'],
  result: WebhookResultRef,
  caller: requireConfidential,
  run: async ({ id, url, types }, ctx) => {
    const changes = scalars.parse(webhookChanges, { url: url ?? undefined, types: types ?? undefined })
    return { webhook: await updateWebhook(id, changes, ctx) }
  },
})

mutation('enableWebhook', {
  description:
    'Enables a webhook and makes its pending deliveries due at once. Changes made while it was disabled are only in the feed.',
  input: [idInput('EnableWebhook', 'id', 'Webhook identifier.'), 'Webhook to enable.'],
  result: WebhookResultRef,
  run: async ({ id }, ctx) => ({ webhook: await enableWebhook(id, ctx) }),
})

mutation('disableWebhook', {
  description: 'Disables a webhook until it is enabled again. Pending deliveries are kept.',
  input: [idInput('DisableWebhook', 'id', 'Webhook identifier.'), 'Webhook to disable.'],
  result: WebhookResultRef,
  run: async ({ id }, ctx) => ({ webhook: await disableWebhook(id, ctx) }),
})

mutation('deleteWebhook', {
  description: 'Deletes a webhook and its secrets. Pending deliveries are dropped.',
  input: [idInput('DeleteWebhook', 'id', 'Webhook identifier.'), 'Webhook to delete.'],
  result: resultUnion(
    'DeleteWebhookResult',
    DeleteWebhookPayloadRef,
    'Deleted webhook, or the reasons for the refusal.',
  ),
  run: ({ id }, ctx) => deleteWebhook(id, ctx),
})

const WebhookSecretPayloadRef = builder.objectRef<WebhookWithSecret>('WebhookSecretPayload').implement({
  description: 'Webhook and its new secret.',
  fields: (t) => ({
    webhook: t.expose('webhook', { type: WebhookRef, description: 'Webhook that the secret belongs to.' }),
    secret: t.exposeString('secret', {
      description: 'Secret to verify messages with (`whsec_…`). It is never shown again: store it.',
    }),
  }),
})

const WebhookSecretResultRef = resultUnion(
  'WebhookSecretResult',
  WebhookSecretPayloadRef,
  'Webhook and its new secret, or the reasons for the refusal.',
)

const RegisterWebhookInputRef = builder.inputType('RegisterWebhookInput', {
  description: 'Webhook to register.',
  fields: (t) => ({
    url: t.string({
      required: true,
      description:
        'URL to post changes to: an https address on the public internet, without user name and password.',
    }),
    types: t.field({ type: [ChangeTypeRef], description: 'Types of change to receive; all if omitted.' }),
  }),
})

mutation('registerWebhook', {
  description:
    'Registers a webhook for changes that concern the caller, in the form of Standard Webhooks. A channel receives changes of its payments and tickets, and of the rates of organizations that have given it access; an integration receives all changes of its organization.',
  input: [RegisterWebhookInputRef, 'Webhook to register.'],
  result: WebhookSecretResultRef,
  caller: requireConfidential,
  run: ({ url, types }, ctx) =>
    registerWebhook(scalars.parse(webhookInput, { url, types: types ?? undefined }), ctx),
})

mutation('rotateWebhookSecret', {
  description:
    'Replaces the secret of a webhook. For 24 hours messages carry signatures by both the new and the previous secret. Rotating again within that time keeps only the last two.',
  input: [idInput('RotateWebhookSecret', 'id', 'Webhook identifier.'), 'Webhook to give a new secret.'],
  result: WebhookSecretResultRef,
  run: ({ id }, ctx) => rotateWebhookSecret(id, ctx),
})
