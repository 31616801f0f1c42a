import { builder } from '../../graphql/builder.ts'
import { idInput } from '../../graphql/mutation-input.ts'
import { catchRefusal, resultUnion } from '../../graphql/mutation-result.ts'
import { requireConfidential } from '../../request/context.ts'
import * as scalars from '../../shared/input-types.ts'
import { ChangeTypeRef } from '../change/graphql.ts'
import { WebhookRef } from './graphql.ts'
import { registerWebhook, rotateWebhookSecret, type WebhookWithSecret } from './manage-webhook.ts'
import { webhookInput } from './webhook-input.ts'

const WebhookSecretPayloadRef = builder.objectRef<WebhookWithSecret>('WebhookSecretPayload').implement({
  description: 'Webhook and its new secret.',
  fields: (t) => ({
    webhook: t.field({
      type: WebhookRef,
      description: 'Webhook that the secret belongs to.',
      resolve: ({ webhook }) => webhook,
    }),
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

const RotateWebhookSecretInputRef = idInput('RotateWebhookSecret', 'id', 'Webhook identifier.')

builder.mutationFields((t) => ({
  registerWebhook: t.field({
    type: WebhookSecretResultRef,
    description:
      'Registers a webhook for changes that concern the caller, in the form of Standard Webhooks. A channel receives changes of its payments and tickets, and of the rates of organizations that have given it access; an integration receives all changes of its organization.',
    args: {
      input: t.arg({ type: RegisterWebhookInputRef, required: true, description: 'Webhook to register.' }),
    },
    resolve: (_root, { input: { url, types } }, ctx) =>
      catchRefusal(
        async () =>
          requireConfidential(ctx) &&
          registerWebhook(scalars.parse(webhookInput, { url, types: types ?? undefined }), ctx),
      ),
  }),
  rotateWebhookSecret: t.field({
    type: WebhookSecretResultRef,
    description:
      'Replaces the secret of a webhook. For 24 hours messages carry signatures by both the new and the previous secret. Rotating again within that time keeps only the last two.',
    args: {
      input: t.arg({
        type: RotateWebhookSecretInputRef,
        required: true,
        description: 'Webhook to give a new secret.',
      }),
    },
    resolve: (_root, { input: { id } }, ctx) => catchRefusal(() => rotateWebhookSecret(id, ctx)),
  }),
}))
