import { isDeepStrictEqual } from 'node:util'
import { toDecimal, toMajor } from '../../engine/base/money.ts'
import { toSnakeCase } from '../../engine/rest/snake-case.ts'
import { feeOf } from '../ticket-rate/sale-rules.ts'
import type { Price } from '../ticket-rate/table.ts'

type Row = Record<string, unknown>
type Named = { kind: string; id: string; name: string }

/** Report of an import: each object that it adds, changes or removes from sale (null unless it is a plan),
 *  and warnings of what the file may not mean. */
export type ImportReport = {
  changes: (Named & { action: 'ADD' | 'CHANGE' | 'REMOVE'; fields: Field[] })[] | null
  warnings: (Named & { code: string; message: string })[]
}
type Field = { field: string; from: unknown; to: unknown }

const warningOf: Record<string, (to: unknown, from: unknown) => string | false> = {
  capacity: (to, from) =>
    to === null ? 'BECOMES_UNLIMITED' : (from === null || Number(to) < Number(from)) && 'CAPACITY_LOWERED',
  complete: (to) => !to && 'REOPENS',
  removed: (to) => !to && 'REOPENS',
  max: (to) => to === null && 'LIMIT_LIFTED',
  maxPerCheckout: (to) => to === null && 'LIMIT_LIFTED',
  startDate: () => 'DATE_MOVES',
  endDate: () => 'DATE_MOVES',
  displayDate: () => 'DATE_MOVES',
}

/** Writes a field that changes, for people. */
export const fieldText = ({ field, from, to }: Field): string =>
  `${field} ${JSON.stringify(from)} → ${JSON.stringify(to)}`

// Amounts of rows are in minor units, those of files in major ones.
const shown = (key: string, { [key]: value, currency, feeType }: Row) =>
  typeof value === 'number' && (/amount$/i.test(key) || (key === 'feeQuantity' && feeType === 'fixed'))
    ? toMajor(value, String(currency))
    : value

/** Notes how a row is written: added if there was none before. Columns that `after` lacks stay as they are. */
export function noteRow(report: ImportReport, named: Named, before: Row | undefined, after: Row): void {
  const changed = Object.keys(before ? after : {}).filter(
    (key) => key !== 'searchWords' && !isDeepStrictEqual(before?.[key], after[key]),
  )
  if (before && changed.length === 0) return
  const fields: Field[] = []
  for (const key of changed) {
    const field = { field: toSnakeCase(key), from: shown(key, before ?? {}), to: shown(key, after) }
    fields.push(field)
    const code = warningOf[key]?.(after[key], before?.[key])
    if (code) report.warnings.push({ code, ...named, message: fieldText(field) })
  }
  report.changes?.push({ action: before ? 'CHANGE' : 'ADD', ...named, fields })
}

/** Warns of a price whose ticket costs less than a provider charges (minor units), alone or, if `isTakenOff`, by the fee
 *  that a discount leaves. */
export function noteTooCheap(
  { warnings }: ImportReport,
  named: Named,
  price: Pick<Price, 'amount' | 'currency' | 'feeType' | 'feeQuantity'>,
  { least, isTakenOff }: { least: number; isTakenOff: boolean },
): void {
  const totals = [price.amount, ...(isTakenOff ? [0] : [])].map((left) => left + feeOf(price, left))
  const total = totals.find((total) => total > 0 && total < least)
  if (total === undefined) return
  const { currency } = price
  const message = `a ticket at ${toDecimal(total, currency)} ${currency} can't be paid: the least is ${toDecimal(least, currency)}`
  warnings.push({ code: 'TOO_CHEAP', ...named, message })
}

/** Notes that something is removed from sale, of which `used` are sold or held. */
export function noteRemoval({ changes, warnings }: ImportReport, named: Named, used: number): void {
  changes?.push({ action: 'REMOVE', ...named, fields: [] })
  if (used > 0) warnings.push({ code: 'REMOVES_SOLD', ...named, message: `${used} sold or held` })
}
