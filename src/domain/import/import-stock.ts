import { and, eq } from 'drizzle-orm'
import type { Problem } from '../../engine/base/errors.ts'
import { byId, groupBy } from '../../engine/base/group-by.ts'
import type { Connection } from '../../engine/database/database.ts'
import { problem } from '../contract/problem-codes.ts'
import { type DecidedCapacity, decideCapacity, type Places, setCapacities } from '../stock/set-capacity.ts'
import { type StockKind, stock } from '../stock/table.ts'
import { refuseMistakes } from './check-catalogue.ts'
import { capacityIn } from './fields.ts'
import { isOneOf } from './find-existing.ts'
import { type ImportReport, noteRow } from './import-report.ts'
import type { Catalogue, Entry } from './read-catalogue.ts'

// Counter of an object, with the places that the file gives it. The answer of GET /events that is imported again says less
// than the capacity where places are held, so it never lowers one. What was sold elsewhere is what the file says, and of
// something new all that it says was sold.
function counterOf(
  kind: StockKind,
  { id, key, organizationId, path }: Entry<unknown>,
  given: Parameters<typeof capacityIn>[0],
) {
  // True if the file gives no capacity but what is sold and left, which leaves out what is held.
  const isReport = given != null && given.capacity === undefined
  const field = kind === 'rate' ? ['availability', isReport ? 'available' : 'capacity'] : ['quantity']
  const asked = capacityIn(given)
  const toPlaces = (before: Places = { capacity: null, soldBefore: given?.sold ?? 0 }): Places => {
    const { sold_elsewhere: soldBefore = before.soldBefore } = given ?? {}
    const capacity = asked === undefined ? before.capacity : asked
    const stays = isReport && capacity !== null && capacity < (before.capacity ?? 0)
    return { capacity: stays ? before.capacity : capacity, soldBefore: soldBefore ?? 0 }
  }
  return { kind, id, key, organizationId, path: [...path, ...field], asked, toPlaces }
}

// Counters that a file is about. What it asks for is null if it is unlimited, and undefined if the file says nothing of it.
const wantedOf = ({ ticketRates, prices, discounts }: Catalogue) => [
  ...ticketRates.map((rate) => counterOf('rate', rate, rate.input.availability)),
  ...prices.map((price) => counterOf('price', price, { capacity: price.input.quantity })),
  ...discounts.map((discount) => counterOf('discount', discount, { capacity: discount.input.quantity })),
]

type Decided = DecidedCapacity & ReturnType<typeof counterOf>

const problemsOf = (decided: Decided[]): Problem[] =>
  decided.flatMap(({ path, capacity, used, isRefused }) => {
    const message = `The capacity would be ${capacity}, which is less than the ${used} already sold or held.`
    return isRefused ? [problem('INVALID', message, path)] : []
  })

/** Finds capacities below what is sold and held, before the rows are locked. */
export async function checkStock(tx: Connection, catalogue: Catalogue): Promise<Problem[]> {
  const wanted = wantedOf(catalogue)
  const areLive = and(eq(stock.mode, 'live'), isOneOf(stock.id, wanted))
  const existing = byId(await tx.select().from(stock).where(areLive))
  return problemsOf(wanted.map((counter) => decideCapacity(counter, existing.get(counter.id))))
}

/** Sets the counters of a file's rates, prices and discounts, organization by organization. Call it last in a
 *  transaction, because sales wait for its locks. */
export async function writeStock(tx: Connection, catalogue: Catalogue, report: ImportReport) {
  const decided: Decided[] = []
  for (const [organizationId, own] of groupBy(wantedOf(catalogue), ({ organizationId }) => organizationId))
    decided.push(...(await setCapacities(tx, organizationId, own)))
  refuseMistakes(problemsOf(decided))
  const counts = { added: 0, updated: 0, unchanged: 0, removed: 0 }
  for (const { id, key, asked, capacity, soldBefore, before, isChanged } of decided) {
    counts[!isChanged ? 'unchanged' : before ? 'updated' : 'added']++
    const named = { kind: 'stock', id, name: key }
    noteRow(report, named, before, { capacity, soldBefore })
    if (asked === undefined || capacity === asked) continue
    const message = `sold and available are ${asked} together, capacity stays ${capacity} (availability.capacity lowers it)`
    report.warnings.push({ code: 'CAPACITY_STAYS', ...named, message })
  }
  return counts
}
