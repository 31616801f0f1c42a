import { setTimeout } from 'node:timers/promises'
import { and, eq, gt, isNull, lte, or, sql } from 'drizzle-orm'
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core'
import { errorCode } from '../../engine/base/errors.ts'
import { inSeconds, nowMs } from '../../engine/database/clock.ts'
import type { Database } from '../../engine/database/database.ts'
import { removeMails, removeOldMails } from '../delivery/mail-folder.ts'
import { organizations } from '../organization/table.ts'
import { anonymizeEvent, listPastEvents } from './anonymize-events.ts'
import type { Anonymized } from './anonymize-tickets.ts'
import { deletionsOf } from './delete-old.ts'
import { deleteUnpaid } from './delete-unpaid.ts'
import type { RetentionConfig } from './settings.ts'
import { retentionTurns } from './table.ts'

type RetentionOptions = {
  db: Database
  settings: RetentionConfig
  /** Folder of the mails that are written to files. */
  mailFolder: string
  /** Reports what was deleted or anonymized, by its number alone. */
  onDone?: (facts: Record<string, number | string>) => void
}

type Run = RetentionOptions & { stopping: AbortSignal }

const lookSeconds = 60
const turnSeconds = 3_600

/** Repeats a step until it finds nothing, or the process leaves. Returns the sum of what it found. Rests as long as a step
 *  took, so that retention takes at most half of a connection. */
async function inSteps(step: () => Promise<number>, { stopping }: Pick<Run, 'stopping'>): Promise<number> {
  let sum = 0
  while (!stopping.aborted) {
    const since = performance.now()
    const found = await step()
    if (found === 0) break
    sum += found
    const worked = performance.now() - since
    await setTimeout(Math.min(worked, 1_000), undefined, { signal: stopping, ref: false }).catch(() => {})
  }
  return sum
}

async function retainOrganization(organization: string, run: Run): Promise<void> {
  const { db, settings, mailFolder, onDone } = run
  const { retainUnpaidDays: days, retainPersonalMonths: months } = settings
  let attendees = 0
  const forget = async ({ tickets, deliveryIds }: Anonymized) => {
    await removeMails(mailFolder, deliveryIds)
    attendees += tickets.length
  }
  const unpaid = await inSteps(async () => {
    if (days === null) return 0
    const { payments, ...kept } = await deleteUnpaid(db, organization, days)
    await forget(kept)
    return payments
  }, run)
  for (const event of months === null ? [] : await listPastEvents(db, organization, months)) {
    const batches = anonymizeEvent(db, organization, event)
    await inSteps(async () => {
      const { done, value } = await batches.next()
      if (done) return 0
      await forget(value)
      return 1
    }, run)
  }
  const deleted: Record<string, number> = {}
  for (const { table, deleteBatch } of await deletionsOf(db, organization, settings)) {
    const rows = await inSteps(deleteBatch, run)
    if (rows > 0) deleted[table] = rows
  }
  if (unpaid + attendees > 0 || Object.keys(deleted).length > 0)
    onDone?.({ organization, unpaid, attendees, ...deleted })
}

/** Gives each organization that is due its turn: deletes its checkouts that were never paid, anonymizes the
 *  attendees of its past events, and deletes its old rows of tables that only grow. A turn is claimed for an hour, the
 *  longest overdue first. Any number of processes may run it: each takes other organizations. */
export async function applyRetention(run: Run): Promise<void> {
  const { db, stopping } = run
  const added = await db
    .select({ organizationId: organizations.id })
    .from(organizations)
    .leftJoin(retentionTurns, eq(retentionTurns.organizationId, organizations.id))
    .where(isNull(retentionTurns.organizationId))
  if (added.length > 0) await db.insert(retentionTurns).values(added).onConflictDoNothing()
  const { dueAt } = retentionTurns
  // Later than an hour from now, a turn was claimed by a clock that was set back since.
  const isDue = or(lte(dueAt, nowMs), gt(dueAt, inSeconds(turnSeconds + lookSeconds)))
  const due = await db.select().from(retentionTurns).where(isDue).orderBy(dueAt)
  for (const { organizationId } of due) {
    if (stopping.aborted) return
    const isTheirs = eq(retentionTurns.organizationId, organizationId)
    const [turn] = await db
      .update(retentionTurns)
      .set({ dueAt: inSeconds(turnSeconds) })
      .where(and(isTheirs, isDue))
      .returning()
    // Another process was first.
    if (!turn) continue
    const note = (set: PgUpdateSetSource<typeof retentionTurns>) =>
      db.update(retentionTurns).set(set).where(isTheirs)
    try {
      await retainOrganization(organizationId, run)
    } catch (error) {
      await note({ attempts: turn.attempts + 1, lastError: errorCode(error) ?? 'INTERNAL' })
      throw error
    }
    if (turn.attempts > 0) await note({ attempts: 0, lastError: null })
    if (stopping.aborted) await note({ dueAt: sql`now()` })
  }
}

/** Deletes old mails in the folder of this machine. */
export async function deleteOldMails({ settings, mailFolder, stopping, onDone }: Run): Promise<void> {
  if (settings.retainMailDays === null) return
  const mails = await removeOldMails(mailFolder, settings.retainMailDays, stopping)
  if (mails > 0) onDone?.({ mails })
}

/** Creates the job of retention. It may be called every second: each minute it looks for organizations that
 *  are due, and each hour it deletes old mails. The first time is a minute after the start. In small
 *  batches; stops after a batch when the process leaves (DECISIONS 169). */
export function createRetention(options: RetentionOptions): (stopping: AbortSignal) => Promise<void> {
  let lookAt = performance.now() + lookSeconds * 1000
  let deleteAt = lookAt
  return async (stopping) => {
    const now = performance.now()
    if (now < lookAt) return
    lookAt = now + lookSeconds * 1000
    const run = { ...options, stopping }
    await applyRetention(run)
    if (now < deleteAt || stopping.aborted) return
    deleteAt = now + turnSeconds * 1000
    await deleteOldMails(run)
  }
}
