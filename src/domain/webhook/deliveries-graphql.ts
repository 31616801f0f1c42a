import { z } from 'zod'
import { builder, upperCase } from '../../graphql/builder.ts'
import { connectionOf, toPage } from '../../graphql/connection.ts'
import { mutation, objectResult } from '../../graphql/mutation-result.ts'
import { requireConfidential } from '../../request/context.ts'
import * as scalars from '../../shared/input-types.ts'
import { ChangeRef } from '../change/graphql.ts'
import {
  type DeliveryWithChange,
  listDeliveries,
  readCursor,
  redeliverWebhook,
  toCursor,
} from './own-deliveries.ts'
import { findWebhook } from './own-webhook.ts'
import { deliveryInput } from './webhook-input.ts'

const WebhookDeliveryStatusRef = builder.enumType('WebhookDeliveryStatus', {
  description: 'Status of a delivery.',
  values: upperCase<DeliveryWithChange['delivery']['status']>({
    pending: 'Not yet sent, or being retried.',
    delivered: 'Accepted by the webhook.',
    dead: 'Given up after ten failed attempts over three days.',
  }),
})

const WebhookDeliveryRef = builder.objectRef<DeliveryWithChange>('WebhookDelivery').implement({
  description: 'Delivery of a change to a webhook.',
  fields: (t) => ({
    change: t.expose('change', { type: ChangeRef, description: 'Change that is delivered.' }),
    status: t.field({
      type: WebhookDeliveryStatusRef,
      description: 'Current status.',
      resolve: ({ delivery }) => delivery.status,
    }),
    attempts: t.int({
      description: 'Number of attempts so far.',
      resolve: ({ delivery }) => delivery.attempts,
    }),
    nextAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the next attempt, if the webhook is enabled; null once no attempt is left.',
      resolve: ({ delivery }) => (delivery.status === 'pending' ? delivery.dueAt : null),
    }),
    lastStatus: t.int({
      nullable: true,
      description: 'HTTP status of the last response; null if there was none.',
      resolve: ({ delivery }) => delivery.lastStatus,
    }),
    lastError: t.string({
      nullable: true,
      description:
        'Error code of the last attempt: `STATUS`, `REDIRECT`, `GONE`, `TIMEOUT`, `ADDRESS_NOT_ALLOWED`, or a network error such as `ECONNREFUSED`.',
      resolve: ({ delivery }) => delivery.lastError,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'Time at which the delivery was queued.',
      resolve: ({ delivery }) => delivery.createdAt,
    }),
    deliveredAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the webhook accepted the change; null until then.',
      resolve: ({ delivery }) => delivery.deliveredAt,
    }),
  }),
})

const WebhookDeliveryConnectionRef = connectionOf('WebhookDelivery', WebhookDeliveryRef, {
  things: 'deliveries',
  description: 'Page of deliveries, newest change first.',
  toCursor,
})

builder.queryField('webhookDeliveries', (t) =>
  t.field({
    type: WebhookDeliveryConnectionRef,
    nullable: true,
    description:
      'Lists the deliveries to a webhook of the caller, newest change first. Null if the caller has no such webhook.',
    complexity: ({ first }) => ({ field: 1_000, multiplier: Math.min(100, Math.max(1, first)) }),
    args: {
      webhookId: t.arg.id({ required: true, description: 'Webhook identifier.' }),
      status: t.arg({
        type: WebhookDeliveryStatusRef,
        description: 'Returns only deliveries with this status.',
      }),
      first: t.arg.int({ required: true, defaultValue: 50, description: 'Page size, 1 to 100.' }),
      after: t.arg.string({
        description: 'Returns deliveries after this cursor; from the newest if omitted.',
      }),
    },
    resolve: async (_root, { webhookId, status, after, ...args }, ctx) => {
      requireConfidential(ctx)
      const { first } = scalars.parse(z.object({ first: scalars.pageSize }), args)
      const afterChangeId = after ? readCursor(after) : undefined
      const webhook = await findWebhook(webhookId, ctx)
      if (!webhook) return null
      const found = await listDeliveries(ctx.db, webhook, {
        status: status ?? undefined,
        after: afterChangeId,
        limit: first + 1,
      })
      return toPage(found, first, after)
    },
  }),
)

mutation('redeliverWebhook', {
  description:
    "Sends a change to a webhook again, with a fresh set of attempts, whatever the delivery's status, and ends a pause of the webhook. The webhook must be enabled.",
  input: deliveryInput,
  result: objectResult('RedeliverWebhook', ['delivery', WebhookDeliveryRef], 'Delivery that is due again'),
  run: async (input, ctx) => ({ delivery: await redeliverWebhook(input, ctx) }),
})
