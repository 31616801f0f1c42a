import { and, eq } from 'drizzle-orm'
import { hasKey } from '../../engine/data/query.ts'
import { upsertRows } from '../../engine/data/upsert-rows.ts'
import type { Connection } from '../../engine/database/database.ts'
import { announceOnCommit, changesShared } from '../../engine/database/transaction.ts'
import type { Mode } from '../caller/mode.ts'
import { recordAvailability } from '../ticket-rate/record-availability.ts'
import { isUsedUp, nameOf, rateInMode, type Stock, type StockName, stock } from './table.ts'

/** Places of a counter: all of them, null for no limit, and how many of them were sold elsewhere. */
export type Places = Pick<Stock, 'capacity' | 'soldBefore'>

/** Counter to be set to the places that `toPlaces` gives for those that it has; a new one has none. */
export type CapacityChange = StockName & { toPlaces: (before: Places | undefined) => Places }

/** Decides what a change makes of a counter, and writes nothing. `used` are the places that are sold, here and elsewhere,
 *  or held: a capacity below them `isRefused`. */
export function decideCapacity<Change extends CapacityChange>(change: Change, before: Stock | undefined) {
  const { capacity, soldBefore } = change.toPlaces(before)
  const used = soldBefore + (before?.sold ?? 0) + (before?.held ?? 0)
  const isRefused = capacity !== null && capacity < used
  const isChanged = before?.capacity !== capacity || before.soldBefore !== soldBefore
  return { ...change, capacity, soldBefore, before, used, isRefused, isChanged }
}

/** Counter with the places that it is to have. */
export type DecidedCapacity = ReturnType<typeof decideCapacity>

// Rows are locked in the same order as by a checkout.
async function lock(tx: Connection, organizationId: string, mode: Mode, names: StockName[]) {
  const ids = names.map(({ id }) => id)
  const areNamed = and(hasKey(tx, stock.id, organizationId, ids), eq(stock.mode, mode))
  const rows = await tx.select().from(stock).where(areNamed).orderBy(stock.id, stock.kind).for('update')
  return new Map(rows.map((row) => [nameOf(row), row]))
}

// Rates that are told of together, with their deliveries to every webhook.
const toldAtOnce = 500

async function write(tx: Connection, organizationId: string, mode: Mode, decided: DecidedCapacity[]) {
  await upsertRows(tx, stock, decided, (batch) =>
    batch.map(({ kind, id, capacity, soldBefore }) => ({
      organizationId,
      kind,
      id,
      mode,
      capacity,
      soldBefore,
    })),
  )
  const flips = decided.flatMap(({ kind, id, capacity, soldBefore, before }) => {
    const usedUp = before !== undefined && isUsedUp({ ...before, capacity, soldBefore })
    return !before || usedUp === isUsedUp(before) ? [] : { kind, id, usedUp }
  })
  for (let start = 0; start < flips.length; start += toldAtOnce)
    await recordAvailability(tx, organizationId, mode, flips.slice(start, start + toldAtOnce))
  const rates = decided.flatMap(({ kind, id }) => (kind === 'rate' ? rateInMode(mode, id) : []))
  announceOnCommit(tx, 'stock', rates)
}

/** Sets the capacities of an organization's rates, prices and discounts, and how many places of them were sold elsewhere:
 *  all, or none if a capacity would be less than what is sold and held, which is told as `isRefused`. Test mode follows.
 *  Never touches what is sold and held here. Records which rates that sells out or makes available. Call it last in a
 *  transaction, because sales wait for its locks. */
export async function setCapacities<Change extends CapacityChange>(
  tx: Connection,
  organizationId: string,
  changes: Change[],
) {
  const locked = await lock(tx, organizationId, 'live', changes)
  const decided = changes.map((change) => decideCapacity(change, locked.get(nameOf(change))))
  const changed = decided.filter(({ isChanged }) => isChanged)
  if (changed.length === 0 || decided.some(({ isRefused }) => isRefused)) return decided
  changesShared(tx)
  // Tests never stand in the way: if they sold or hold more than the new capacity, theirs is as much as that.
  const lockedTests = await lock(tx, organizationId, 'test', changed)
  const tests = changed.map((live) => {
    const test = decideCapacity({ ...live, toPlaces: () => live }, lockedTests.get(nameOf(live)))
    return test.isRefused ? { ...test, capacity: test.used } : test
  })
  await write(tx, organizationId, 'test', tests)
  await write(tx, organizationId, 'live', changed)
  return decided
}
