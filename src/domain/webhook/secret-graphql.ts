import { builder } from '../../graphql/builder.ts'
import { catchRefusal, resultUnion } from '../../graphql/mutation-result.ts'
import { requireCaller } from '../../request/context.ts'
import * as scalars from '../../shared/input-types.ts'
import { ChangeTypeRef } from '../change/graphql.ts'
import { WebhookRef } from './graphql.ts'
import { registerWebhook, type WithSecret } from './register-webhook.ts'
import { rotateWebhookSecret } from './rotate-webhook-secret.ts'
import { webhookInput } from './webhook-input.ts'

const WebhookSecretPayloadRef = builder.objectRef<WithSecret>('WebhookSecretPayload').implement({
  description: 'A webhook and its new secret.',
  fields: (t) => ({
    webhook: t.field({
      type: WebhookRef,
      description: 'The webhook.',
      resolve: ({ webhook }) => webhook,
    }),
    secret: t.exposeString('secret', {
      description: 'What its messages are verified with (`whsec_…`). It is shown this once: keep it.',
    }),
  }),
})

const WebhookSecretResultRef = resultUnion(
  'WebhookSecretResult',
  WebhookSecretPayloadRef,
  'A webhook with its new secret, or why there is none.',
)

builder.mutationFields((t) => ({
  registerWebhook: t.field({
    type: WebhookSecretResultRef,
    description:
      'Lets the caller be told of changes at an address, in the form of Standard Webhooks: a channel of its payments and tickets and of the rates of organizations that granted it, an integration of its organization’s.',
    args: {
      url: t.arg.string({
        required: true,
        description: 'An https address on the public internet, without user name and password.',
      }),
      types: t.arg({ type: [ChangeTypeRef], description: 'What it is told of; of everything without it.' }),
    },
    resolve: (_root, { url, types }, ctx) =>
      catchRefusal(
        async () =>
          requireCaller(ctx) &&
          registerWebhook(scalars.parse(webhookInput, { url, types: types ?? undefined }), ctx),
      ),
  }),
  rotateWebhookSecret: t.field({
    type: WebhookSecretResultRef,
    description:
      'Gives a webhook a new secret. The one that it had signs as well for 24 hours: messages carry both signatures. Rotated again within that time, only the last two sign.',
    args: { id: t.arg.id({ required: true, description: 'The webhook.' }) },
    resolve: (_root, { id }, ctx) => catchRefusal(() => rotateWebhookSecret(id, ctx)),
  }),
}))
