import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import { z } from 'zod'
import { identifier } from '../../engine/base/input-types.ts'
import { command } from '../../engine/base/parse.ts'
import type { Connection, OpenTables } from '../../engine/database/database.ts'
import { rowInSnakeCase } from '../../engine/rest/snake-case.ts'
import { refusal } from '../contract/problem-codes.ts'
import { deliveries, deliveryStatus } from './table.ts'

// Commands of this folder.

const maxListed = 1000

const statuses = deliveryStatus.enumValues
const listing = z.strictObject({
  status: z.enum(statuses, `must be one of ${statuses.join(', ')}`).default('dead'),
})
const retryingAll = z.strictObject({ all: z.literal(true) })
const retrying = z.strictObject({ id: z.array(identifier) })

// Without the recipient, which is personal data.
const { id, paymentId, medium, status, attempts, lastError, createdAt, dueAt } = deliveries
const listed = { id, paymentId, medium, status, attempts, lastError, createdAt, dueAt }

/** Lists deliveries with a status, oldest first. */
const list = command(listing, async ({ status }, open: OpenTables) => {
  const db = await open()
  const found = await db
    .select(listed)
    .from(deliveries)
    .where(eq(deliveries.status, status))
    .orderBy(asc(createdAt), asc(medium), asc(id))
    .limit(maxListed)
  const lines = found.map(({ id, paymentId, medium, attempts, lastError, createdAt }) => {
    const facts = [id, paymentId, medium.padEnd(8), status.padEnd(7), `tried ${attempts}`, lastError]
    return [...facts, `of ${createdAt.toISOString()}`].filter(Boolean).join('  ')
  })
  return { json: found.map(rowInSnakeCase), text: lines.join('\n') || `No delivery is ${status}.` }
})

async function requireDeliveries(db: Connection, ids: string[]): Promise<void> {
  const known = await db.select({ id: deliveries.id }).from(deliveries).where(inArray(deliveries.id, ids))
  const unknown = ids.filter((id) => !known.some((delivery) => delivery.id === id))
  if (unknown.length > 0) throw refusal('NOT_FOUND', `There is no delivery ${unknown.join(', ')}.`)
}

/** Makes dead deliveries due again with a fresh set of attempts: those with the given identifiers, or all.
 *  Leaves other deliveries alone. Refuses: NOT_FOUND if one of them doesn't exist. */
const retry = command([retryingAll, retrying], async (which, open: OpenTables) => {
  const db = await open()
  if ('id' in which) await requireDeliveries(db, which.id)
  const queued = await db
    .update(deliveries)
    .set({ status: 'pending', attempts: 0, dueAt: sql`now()` })
    .where(and(eq(deliveries.status, 'dead'), 'id' in which ? inArray(deliveries.id, which.id) : undefined))
    .returning({ id: deliveries.id })
  const retried = queued.map(({ id }) => id)
  return {
    json: { retried },
    text: retried.length > 0 ? `Due again: ${retried.join(', ')}.` : 'None of them is dead.',
  }
})

export const deliveryCommands = { 'deliveries list': list, 'deliveries retry': retry }
