import { z } from 'zod'
import type { Database } from '../../database/database.ts'
import { identifier, parse } from '../../shared/input-types.ts'
import { type ListedDelivery, listDeliveries } from './list-deliveries.ts'
import { retryDeliveries } from './retry-deliveries.ts'
import { deliveryStatus } from './table.ts'

// Commands of this folder. A command parses its arguments, and resolves to its output.

type Open = () => Promise<Database>

const maxListed = 1000

const statuses = deliveryStatus.enumValues
const listing = z.strictObject({
  status: z.enum(statuses, `must be one of ${statuses.join(', ')}`).default('dead'),
})
const retryingAll = z.strictObject({ all: z.literal(true) })
const retrying = z.strictObject({ id: z.array(identifier) })

const toJson = (delivery: ListedDelivery) => ({
  id: delivery.id,
  payment_id: delivery.paymentId,
  medium: delivery.medium,
  status: delivery.status,
  attempts: delivery.attempts,
  last_error: delivery.lastError,
  created_at: delivery.createdAt.toISOString(),
  due_at: delivery.dueAt.toISOString(),
})

const toLine = ({ id, paymentId, medium, status, attempts, lastError, createdAt }: ListedDelivery) =>
  [
    ...[id, paymentId, medium.padEnd(8), status.padEnd(7), `tried ${attempts}`],
    ...[lastError ?? '', `of ${createdAt.toISOString()}`],
  ]
    .filter(Boolean)
    .join('  ')

function list(args: object) {
  const { status } = parse(listing, args)
  return async (open: Open) => {
    const found = await listDeliveries(await open(), status, maxListed)
    return { json: found.map(toJson), text: found.map(toLine).join('\n') || `No delivery is ${status}.` }
  }
}

function retry(args: object) {
  const which = 'all' in args ? parse(retryingAll, args) && ('all' as const) : parse(retrying, args).id
  return async (open: Open) => {
    const queued = await retryDeliveries(await open(), which)
    return {
      json: { retried: queued },
      text: queued.length > 0 ? `Due again: ${queued.join(', ')}.` : 'None of them is dead.',
    }
  }
}

export const deliveryCommands = { 'deliveries list': list, 'deliveries retry': retry }
