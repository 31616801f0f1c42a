import { and, eq } from 'drizzle-orm'
import type { Problem } from '../../engine/base/errors.ts'
import { byId, groupBy } from '../../engine/base/group-by.ts'
import type { Connection } from '../../engine/database/database.ts'
import type { Mode } from '../caller/mode.ts'
import { problem } from '../contract/problem-codes.ts'
import { isUsedUp, type Stock, type StockKind, stock } from '../stock/table.ts'
import { recordAvailability } from '../ticket-rate/record-availability.ts'
import { refuseMistakes } from './check-catalogue.ts'
import { capacityIn } from './fields.ts'
import { isOneOf } from './find-existing.ts'
import { type ImportReport, noteRow } from './import-report.ts'
import type { Catalogue, Entry } from './read-catalogue.ts'
import { writeRows } from './write-catalogue.ts'

type Wanted = ReturnType<typeof wantedOf>[number]
type Counters = Pick<Stock, 'organizationId' | 'kind' | 'id' | 'mode' | 'capacity' | 'soldBefore'>

// Counter of an object, by the places that the file gives it.
function counterOf(
  kind: StockKind,
  { id, key, organizationId, path }: Entry<unknown>,
  given: Parameters<typeof capacityIn>[0],
) {
  // True if the file gives no capacity but what is sold and left, which leaves out what is held.
  const isReport = given != null && given.capacity === undefined
  const field = kind === 'rate' ? ['availability', isReport ? 'available' : 'capacity'] : ['quantity']
  return {
    ...{ kind, id, key, organizationId, isReport },
    path: [...path, ...field],
    capacity: capacityIn(given),
    sold: given?.sold ?? 0,
    soldElsewhere: given?.sold_elsewhere,
  }
}

// Counters that a file is about. A capacity is null if it is unlimited, and undefined if the file says nothing of it.
const wantedOf = ({ ticketRates, prices, discounts }: Catalogue) => [
  ...ticketRates.map((rate) => counterOf('rate', rate, rate.input.availability)),
  ...prices.map((price) => counterOf('price', price, { capacity: price.input.quantity })),
  ...discounts.map((discount) => counterOf('discount', discount, { capacity: discount.input.quantity })),
]

// An answer of GET /events that is imported again says less than the capacity where places are held, so it never
// lowers one. What was sold elsewhere is what the file says, and of something new all that it says was sold.
function decide(wanted: Wanted[], existing: Stock[], report?: ImportReport) {
  const existingOf = byId(existing)
  const rows: Counters[] = []
  const changed: Counters[] = []
  const problems: Problem[] = []
  for (const { kind, id, key, organizationId, path, isReport, sold, ...given } of wanted) {
    const row = existingOf.get(id)
    const soldBefore =
      (given.soldElsewhere === undefined ? (row?.soldBefore ?? sold) : given.soldElsewhere) ?? 0
    const asked = given.capacity === undefined ? (row?.capacity ?? null) : given.capacity
    const capacity = isReport && asked !== null ? Math.max(asked, row?.capacity ?? 0) : asked
    const used = soldBefore + (row?.sold ?? 0) + (row?.held ?? 0)
    const counters: Counters = { organizationId, kind, id, mode: 'live', capacity, soldBefore }
    rows.push(counters)
    if (row?.capacity !== capacity || row.soldBefore !== soldBefore) changed.push(counters)
    if (capacity !== null && capacity < used) {
      const message = `The capacity would be ${capacity}, which is less than the ${used} already sold or held.`
      problems.push(problem('INVALID', message, path))
    }
    if (!report) continue
    const named = { kind: 'stock', id, name: key }
    noteRow(report, named, row, { capacity, soldBefore })
    if (capacity !== asked) {
      const message = `sold and available are ${asked} together, capacity stays ${capacity} (availability.capacity lowers it)`
      report.warnings.push({ code: 'CAPACITY_STAYS', ...named, message })
    }
  }
  return { rows, changed, problems }
}

// One organization after the other, because no statement locks rows of several.
async function lockStock(tx: Connection, mode: Mode, wanted: Pick<Stock, 'organizationId' | 'id'>[]) {
  const locked: Stock[] = []
  for (const [organizationId, own] of groupBy(wanted, ({ organizationId }) => organizationId)) {
    const isOwn = and(eq(stock.organizationId, organizationId), eq(stock.mode, mode), isOneOf(stock.id, own))
    const rows = tx.select().from(stock).where(isOwn).orderBy(stock.id, stock.kind)
    locked.push(...(await rows.for('update')))
  }
  return locked
}

/** Finds capacities below what is sold and held, before the rows are locked. */
export async function checkStock(tx: Connection, catalogue: Catalogue): Promise<Problem[]> {
  const wanted = wantedOf(catalogue)
  const isLive = and(eq(stock.mode, 'live'), isOneOf(stock.id, wanted))
  return decide(wanted, await tx.select().from(stock).where(isLive)).problems
}

// Flips that are recorded together, with their deliveries to every webhook.
const toldAtOnce = 500

// Writes counters in a mode that are locked, or are new, and records which rates that uses up or makes available.
async function write(tx: Connection, mode: Mode, locked: Stock[], rows: Counters[]) {
  const counts = await writeRows(tx, stock, rows, (batch) => batch)
  const rowOf = byId(rows)
  const flipped = locked.flatMap((before) => {
    const usedUp = isUsedUp({ ...before, ...rowOf.get(before.id) })
    return usedUp === isUsedUp(before) ? [] : [{ ...before, usedUp }]
  })
  for (const [organizationId, own] of groupBy(flipped, ({ organizationId }) => organizationId))
    for (let start = 0; start < own.length; start += toldAtOnce)
      await recordAvailability(tx, organizationId, mode, own.slice(start, start + toldAtOnce))
  return counts
}

// Gives test mode the same capacities and the same number sold elsewhere where these change. Tests never
// stand in the way of an import: if they sold or hold more than the new capacity, theirs is as much as that.
async function writeTestStock(tx: Connection, rows: Counters[]): Promise<void> {
  const locked = await lockStock(tx, 'test', rows)
  const found = byId(locked)
  const counters = rows.map((row) => {
    const { sold = 0, held = 0 } = found.get(row.id) ?? {}
    const capacity = row.capacity === null ? null : Math.max(row.capacity, row.soldBefore + sold + held)
    return { ...row, mode: 'test' as const, capacity }
  })
  await write(tx, 'test', locked, counters)
}

/** Writes capacities and the number sold elsewhere, and records which rates that sells out or makes available; never
 *  touches what is sold and held here. Locks the rows in the same order as a checkout. Call it last in a transaction,
 *  because sales wait for these locks. */
export async function writeStock(tx: Connection, catalogue: Catalogue, report: ImportReport) {
  const wanted = wantedOf(catalogue)
  const locked = await lockStock(tx, 'live', wanted)
  const { rows, changed, problems } = decide(wanted, locked, report)
  refuseMistakes(problems)
  await writeTestStock(tx, changed)
  return write(tx, 'live', locked, rows)
}
