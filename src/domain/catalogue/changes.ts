import { isDeepStrictEqual } from 'node:util'
import { toSnakeCase } from '../../rest/snake-case.ts'
import { toMajor } from '../../shared/money.ts'
import type { Stock } from '../ticket-rate/table.ts'

type Row = Record<string, unknown>
type Named = { kind: string; id: string; name: string }

/** Object that an import adds, changes or removes from sale, with the fields of its row that change. */
export type Change = Named & {
  action: 'ADD' | 'CHANGE' | 'REMOVE'
  fields: { field: string; from: unknown; to: unknown }[]
}

/** Change that an import makes and that its file may not mean. */
export type Warning = Named & {
  code:
    | 'BECOMES_UNLIMITED'
    | 'CAPACITY_LOWERED'
    | 'CAPACITY_STAYS'
    | 'REOPENS'
    | 'LIMIT_LIFTED'
    | 'DATE_MOVES'
    | 'REMOVES_SOLD'
  message: string
}

/** Report of an import: what it changes, unless null, and what of that may not be meant. */
export type Report = { changes: Change[] | null; warnings: Warning[] }

const dates = ['startDate', 'endDate', 'displayDate']
const limits = ['max', 'maxPerCheckout']

// Amounts of rows are in minor units, those of files in major ones.
const shown = (field: string, value: unknown, { currency, feeType }: Row) =>
  typeof value === 'number' && (/amount$/i.test(field) || (field === 'feeQuantity' && feeType === 'fixed'))
    ? toMajor(value, String(currency))
    : value

/** Notes how a row is written: added if there was none before. Columns that `after` lacks stay as they are. */
export function noteRow(
  { changes, warnings }: Report,
  named: Named,
  before: Row | undefined,
  after: Row,
): void {
  if (!before) {
    changes?.push({ action: 'ADD', ...named, fields: [] })
    return
  }
  const changed = Object.keys(after).filter(
    (field) => field !== 'searchWords' && !isDeepStrictEqual(before[field], after[field]),
  )
  if (changed.length === 0) return
  const fields = changed.map((field) => ({
    field: toSnakeCase(field),
    from: shown(field, before[field], before),
    to: shown(field, after[field], after),
  }))
  changes?.push({ action: 'CHANGE', ...named, fields })
  const told = fields.map(({ field, from, to }) => `${field} ${text(from)} → ${text(to)}`)
  const warn = (code: Warning['code'], isMeant: (field: string) => boolean) => {
    const message = told.filter((_, index) => isMeant(changed[index] ?? '')).join(', ')
    if (message) warnings.push({ code, ...named, message })
  }
  warn('BECOMES_UNLIMITED', (field) => field === 'capacity' && after.capacity === null)
  warn(
    'CAPACITY_LOWERED',
    (field) =>
      field === 'capacity' && Number(after.capacity ?? Infinity) < Number(before.capacity ?? Infinity),
  )
  warn('REOPENS', (field) => ['complete', 'removed'].includes(field) && after[field] === false)
  warn('LIMIT_LIFTED', (field) => limits.includes(field) && after[field] === null)
  warn('DATE_MOVES', (field) => dates.includes(field))
}

/** Notes that something is removed from sale. `counted` are its counters, if it has any. */
export function noteRemoval(
  { changes, warnings }: Report,
  named: Named,
  counted: Pick<Stock, 'sold' | 'held'> | undefined,
): void {
  changes?.push({ action: 'REMOVE', ...named, fields: [] })
  const used = (counted?.sold ?? 0) + (counted?.held ?? 0)
  if (used > 0) warnings.push({ code: 'REMOVES_SOLD', ...named, message: `${used} sold or held` })
}

/** Value of a field, for people. */
export const text = (value: unknown): string =>
  value instanceof Date ? value.toISOString() : JSON.stringify(value)
