import { sql } from 'drizzle-orm'
import { arrayRows, insertRows } from '../../data/array-params.ts'
import { inOrganization, query } from '../../data/query.ts'
import { nowMs } from '../../database/clock.ts'
import type { Connection } from '../../database/database.ts'
import { tickets } from '../ticket/table.ts'
import { recordChanges } from '../webhook/record-changes.ts'
import type { ScanBook } from './scan-book.ts'
import { checkIns } from './table.ts'

// In the order of nonces, so that two batches that share some can't wait for each other.
const insert = insertRows('insert_check_ins', checkIns, { key: 'nonce' })

const { id, entered, mostInside, firstEntryAt, lastEntryAt } = tickets
const counted = arrayRows('counted', { id, entered, mostInside, firstEntryAt, lastEntryAt })

// Scans may arrive in any order.
const count = query(
  'count_entries',
  () => sql`
  update ${tickets} set entered = counted.entered,
    most_inside = greatest(${mostInside}, counted."mostInside"),
    first_entry_at = least(${firstEntryAt}, counted."firstEntryAt"),
    last_entry_at = greatest(${lastEntryAt}, counted."lastEntryAt"), updated_at = ${nowMs}
  from ${counted.typed}
  where ${inOrganization(tickets.organizationId)} and ${id} = counted.id`,
)

/** Writes check-ins of an organization's tickets, counts people in and out, and records changes, in one
 *  statement each. Requires this transaction to hold the row locks of the tickets. Throws a duplicate if a
 *  nonce was used meanwhile. */
export async function recordScans(
  tx: Connection,
  organizationId: string,
  { made, occupancies, changes }: ScanBook,
): Promise<void> {
  if (made.length === 0) return
  await insert(tx, made)
  const moved = occupancies()
  if (moved.length === 0) return
  await count(tx, { organizationId, ...counted.values(moved) })
  await recordChanges(tx, changes)
}
