import { z } from 'zod'
import { builder } from '../../graphql/builder.ts'
import { connectionOf, toPage } from '../../graphql/connection.ts'
import { catchRefusal, resultUnion } from '../../graphql/mutation-result.ts'
import { requireCaller } from '../../request/context.ts'
import * as scalars from '../../shared/input-types.ts'
import { ChangeRef } from '../change/graphql.ts'
import { readCursor, toCursor } from './cursor.ts'
import { listDeliveries, type Told } from './list-deliveries.ts'
import { findWebhook } from './own-webhook.ts'
import { redeliverWebhook } from './redeliver-webhook.ts'
import { webhookDeliveryStatus } from './table.ts'

const WebhookDeliveryStatusRef = builder.enumType('WebhookDeliveryStatus', {
  description: '`pending`: it is to be sent, or sent again. `dead`: it was tried ten times, over three days.',
  values: webhookDeliveryStatus.enumValues,
})

const WebhookDeliveryRef = builder.objectRef<Told>('WebhookDelivery').implement({
  description: 'A change on its way to a webhook.',
  fields: (t) => ({
    change: t.field({ type: ChangeRef, description: 'What is told.', resolve: ({ change }) => change }),
    status: t.field({
      type: WebhookDeliveryStatusRef,
      description: 'How it stands.',
      resolve: ({ delivery }) => delivery.status,
    }),
    attempts: t.int({ description: 'How often it was tried.', resolve: ({ delivery }) => delivery.attempts }),
    nextAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it is tried again, if its webhook is enabled; null once it is not.',
      resolve: ({ delivery }) => (delivery.status === 'pending' ? delivery.dueAt : null),
    }),
    lastStatus: t.int({
      nullable: true,
      description: 'The HTTP status of the last answer; null where there was none.',
      resolve: ({ delivery }) => delivery.lastStatus,
    }),
    lastError: t.string({
      nullable: true,
      description:
        'What went wrong the last time, as a code: `STATUS`, `REDIRECT`, `GONE`, `TIMEOUT`, `ADDRESS_NOT_ALLOWED`, or the network’s, such as `ECONNREFUSED`.',
      resolve: ({ delivery }) => delivery.lastError,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was put on its way.',
      resolve: ({ delivery }) => delivery.createdAt,
    }),
    deliveredAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the webhook took it.',
      resolve: ({ delivery }) => delivery.deliveredAt,
    }),
  }),
})

const WebhookDeliveryConnectionRef = connectionOf('WebhookDelivery', WebhookDeliveryRef, {
  things: 'deliveries',
  description: 'A page of deliveries, the newest change first.',
  toCursor,
})

builder.queryField('webhookDeliveries', (t) =>
  t.field({
    type: WebhookDeliveryConnectionRef,
    nullable: true,
    description: 'What was, is or is to be sent to a webhook of the caller, the newest change first.',
    complexity: ({ first }) => ({ field: 1_000, multiplier: Math.min(100, Math.max(1, first)) }),
    args: {
      webhookId: t.arg.id({ required: true, description: 'The webhook.' }),
      status: t.arg({ type: WebhookDeliveryStatusRef, description: 'Only those that stand so.' }),
      first: t.arg.int({ required: true, defaultValue: 50, description: 'How many, 1 to 100.' }),
      after: t.arg.id({ description: 'Behind the delivery with this cursor.' }),
    },
    resolve: async (_root, { webhookId, status, after, ...given }, ctx) => {
      requireCaller(ctx)
      const { first } = scalars.parse(z.object({ first: scalars.pageSize }), given)
      const place = after ? readCursor(after) : undefined
      const webhook = await findWebhook(webhookId, ctx)
      if (!webhook) return null
      const found = await listDeliveries(ctx.db, webhook, {
        status: status ?? undefined,
        after: place,
        limit: first + 1,
      })
      return toPage(found, first, after)
    },
  }),
)

const RedeliverWebhookPayloadRef = builder.objectRef<Told>('RedeliverWebhookPayload').implement({
  description: 'It is sent once more.',
  fields: (t) => ({
    delivery: t.field({
      type: WebhookDeliveryRef,
      description: 'How it stands.',
      resolve: (told) => told,
    }),
  }),
})

const RedeliverWebhookResultRef = resultUnion(
  'RedeliverWebhookResult',
  RedeliverWebhookPayloadRef,
  'The delivery, or why it is not sent again.',
)

builder.mutationField('redeliverWebhook', (t) =>
  t.field({
    type: RedeliverWebhookResultRef,
    description: 'Sends a change to a webhook once more, whatever became of it before.',
    args: {
      webhookId: t.arg.id({ required: true, description: 'The webhook.' }),
      changeId: t.arg.id({ required: true, description: 'The change, the `webhook-id` of its messages.' }),
    },
    resolve: (_root, { webhookId, changeId }, ctx) =>
      catchRefusal(() => redeliverWebhook({ webhookId, changeId }, ctx)),
  }),
)
