// Runs in: postgres

import { and, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { keys } from '../../../src/domain/caller/table.ts'
import { createReader, type NamedFind } from '../../../src/engine/data/batch-loader.ts'
import { fewRowsOf } from '../../../src/engine/data/json-rows.ts'
import { anyOf } from '../../../src/engine/data/query.ts'
import { preparedIn } from '../../support/prepared-statements.ts'
import { sharedSale } from '../../support/sale.ts'

const sale = sharedSale()

const kinds = Array.from(
  { length: 8 },
  (_, kind): NamedFind<{ id: string }> => ({
    name: `kind_${kind}`,
    rows: fewRowsOf({ id: keys.id }),
    query: (select, keyIds) =>
      select.from(keys).where(and(anyOf(keys.id, keyIds), sql.raw(`${kind} = ${kind}`))),
  }),
)
const sets = Array.from({ length: 2 ** kinds.length }, (_, set) =>
  kinds.filter((_, kind) => (set >> kind) % 2 === 1),
).filter(({ length }) => length > 1)

// Loads made together are one statement, and each set of kinds needs its own.
test('many sets are one statement each, answered alike, and none is prepared that is rarely used', async () => {
  const [{ id } = { id: '' }] = await sale.db.select({ id: keys.id }).from(keys)
  const reach = { organizationIds: [], channelId: '', ownOrganizationIds: [], mode: 'live' as const }
  for (const set of [...sets, ...sets]) {
    const reader = createReader(sale.db, reach, 0)
    const found = await Promise.all(set.map((find) => reader.find(find, [id])))
    expect(found).toEqual(set.map(() => [{ id }]))
  }
  const joined = new Set(sale.statements.filter((text) => text.includes('as "kind_1"')))
  expect(sets).toHaveLength(247)
  expect(joined.size).toBe(247)
  const prepared = (await preparedIn(sale.db)).flat()
  expect(prepared.filter((text) => text.includes('as "kind_1"'))).toEqual([])
})
