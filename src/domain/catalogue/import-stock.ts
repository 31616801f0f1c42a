import { and, asc, eq } from 'drizzle-orm'
import type { Connection } from '../../database/database.ts'
import type { Problem } from '../../shared/errors.ts'
import { groupBy } from '../../shared/group-by.ts'
import { type Stock, stock, stockId } from '../ticket-rate/table.ts'
import { among } from './find-existing.ts'
import type { Catalogue, Path } from './read-catalogue.ts'
import { type Tally, upsert } from './upsert.ts'

type Wanted = {
  organizationId: string
  id: string
  path: Path
  /** Null if unlimited. */
  capacity: number | null
  /** Total sold, according to the file. */
  sold: number
}
type Decision = {
  rows: Pick<Stock, 'organizationId' | 'id' | 'capacity' | 'soldBefore'>[]
  problems: Problem[]
}

const wantedOf = ({ ticketRates, prices, discounts }: Catalogue): Wanted[] => [
  ...ticketRates.map(({ id, organizationId, path, input: { availability } }) => {
    const sold = availability?.sold ?? 0
    const left = availability?.available ?? null
    const capacity = left === null ? null : sold + left
    return { id, organizationId, path: [...path, 'availability', 'available'], capacity, sold }
  }),
  ...[...prices, ...discounts].map(({ id, organizationId, path, input }) => ({
    id,
    organizationId,
    path: [...path, 'quantity'],
    capacity: input.quantity || null,
    sold: 0,
  })),
]

function decide(wanted: Wanted[], existing: Stock[]): Decision {
  const byId = new Map(existing.map((row) => [row.id, row]))
  const decision: Decision = { rows: [], problems: [] }
  for (const { id, organizationId, path, capacity, sold } of wanted) {
    const { soldBefore, sold: soldHere, held } = byId.get(id) ?? { soldBefore: 0, sold: 0, held: 0 }
    // The file's count includes what was sold here before it was written; the rest was sold elsewhere.
    const row = { organizationId, id, capacity, soldBefore: Math.max(soldBefore, sold - soldHere) }
    const used = row.soldBefore + soldHere + held
    decision.rows.push(row)
    if (capacity !== null && capacity < used)
      decision.problems.push({
        code: 'INVALID',
        message: `The capacity would be ${capacity}, which is less than the ${used} already sold or held.`,
        path,
      })
  }
  return decision
}

const selectStock = (tx: Connection, wanted: { id: string }[]) =>
  tx.select().from(stock).where(among(stock.id, wanted)).orderBy(asc(stock.id))

// One organization after the other, because no statement locks rows of several.
async function lockStock(tx: Connection, wanted: { organizationId: string; id: string }[]): Promise<Stock[]> {
  const locked: Stock[] = []
  for (const [organizationId, own] of groupBy(wanted, ({ organizationId }) => organizationId))
    locked.push(
      ...(await tx
        .select()
        .from(stock)
        .where(and(eq(stock.organizationId, organizationId), among(stock.id, own)))
        .orderBy(asc(stock.id))
        .for('update')),
    )
  return locked
}

/** Finds capacities below what is sold and held, before the rows are locked. */
export async function checkStock(tx: Connection, catalogue: Catalogue): Promise<Problem[]> {
  const wanted = wantedOf(catalogue)
  return decide(wanted, await selectStock(tx, wanted)).problems
}

// Gives test mode the same capacities and the same number sold elsewhere. Tests never stand in the way of an
// import: a capacity below what they sold or hold is as much as that.
async function writeTestStock(tx: Connection, rows: Decision['rows']): Promise<void> {
  const named = rows.map((row) => ({ ...row, id: stockId('test', row.id) }))
  const found = await lockStock(tx, named)
  const used = new Map(found.map(({ id, sold, held }) => [id, sold + held]))
  await upsert(tx, stock, named, ({ organizationId, id, capacity, soldBefore }) => ({
    organizationId,
    id,
    capacity: capacity === null ? null : Math.max(capacity, soldBefore + (used.get(id) ?? 0)),
    soldBefore,
  }))
}

/** Writes capacities and the number sold elsewhere; never touches what is sold and held here. Locks the rows
 *  in the same order as a checkout. Call it last in a transaction, because sales wait for these locks. */
export async function writeStock(
  tx: Connection,
  catalogue: Catalogue,
  refuse: (problems: Problem[]) => void,
): Promise<Tally> {
  const wanted = wantedOf(catalogue)
  const { rows, problems } = decide(wanted, await lockStock(tx, wanted))
  refuse(problems)
  await writeTestStock(tx, rows)
  return upsert(tx, stock, rows, (row) => row)
}
