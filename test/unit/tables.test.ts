import { readdirSync, readFileSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { expect, test } from 'vitest'
import { events } from '../../src/domain/event/table.ts'
import { newPayment, newTicket } from '../../src/domain/sale/checkout/hold/hold.ts'
import { toSnakeCase } from '../../src/engine/rest/snake-case.ts'

// The tables of src are those that the migrations make.

const sourceFolder = new URL('../../src/', import.meta.url)
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
  /(^|\/)table\.ts$/.test(name),
)
const tablesOfSource: Record<string, unknown> = Object.assign(
  {},
  ...(await Promise.all(sources.map((name) => import(new URL(name, sourceFolder).href)))),
)

type Snapshot = ReturnType<typeof generateDrizzleJson>
const read = (name: string): string => readFileSync(`drizzle/${name}`, 'utf8')
const { entries } = JSON.parse(read('meta/_journal.json')) as { entries: { tag: string }[] }
const newest = entries.at(-1)?.tag.slice(0, 4)

const statements = async (from: Snapshot) => generateMigration(from, generateDrizzleJson(tablesOfSource))

// Columns, constraints, indexes and types, as PostgreSQL tells them.
const catalogue = `
  select concat_ws(' ', table_name, column_name, udt_name, 'nullable', is_nullable, column_default, datetime_precision,
    numeric_precision, numeric_scale, is_identity, generation_expression) as line
  from information_schema.columns where table_schema = 'public'
  union all select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint
  where connamespace = 'public'::regnamespace
  union all select indexdef from pg_indexes where schemaname = 'public'
  union all select concat_ws(' ', typname, string_agg(enumlabel, ', ' order by enumsortorder))
  from pg_enum join pg_type on pg_type.oid = enumtypid group by typname
  order by line`

async function linesAfter(texts: string[], query = catalogue): Promise<string[]> {
  const db = await PGlite.create()
  for (const text of texts) await db.exec(text)
  const { rows } = await db.query<{ line: string }>(query)
  await db.close()
  return rows.map(({ line }) => line)
}
const migrations = entries.map(({ tag }) => read(`${tag}.sql`))

test('migrations make the tables of src', async () => {
  const migrated = await linesAfter(migrations)
  const described = await linesAfter(await statements(generateDrizzleJson({})))
  expect(migrated).toEqual(described)
  // Control: there is something to compare, and a constraint more would be told.
  expect(migrated.length).toBeGreaterThan(400)
  const more = await linesAfter([
    ...(await statements(generateDrizzleJson({}))),
    'alter table charges add check (amount < 0)',
  ])
  expect(more).not.toEqual(described)
})

test('the newest snapshot is of the tables of src', async () => {
  expect(await statements(JSON.parse(read(`meta/${newest}_snapshot.json`)))).toEqual([])
})

// Text of SQL with a list, in lines as long as those around them.
function inLines(start: string, names: string[]): string {
  const lines = [start]
  for (const name of names) {
    const line = `${lines.at(-1)} ${name},`
    if (line.length > 120) lines.push(`    ${name},`)
    else lines[lines.length - 1] = line.replace('( ', '(')
  }
  return lines.join('\n')
}

type Attributes = Record<string, string | PgColumn>

/** Prints what the migration says of rows of a table that the function `hold` is given: their type, and the beginnings of
 *  the two lists by which they are inserted. */
function newRowSql(table: string, attributes: Attributes, type: string, alias: string): string[] {
  const named = Object.entries(attributes)
  const columns = named.flatMap(([, column]) => (typeof column === 'string' ? [] : column.name))
  const lines = named.map(([name, column]) =>
    typeof column === 'string' ? `${toSnakeCase(name)} ${column}` : `${column.name} ${column.getSQLType()}`,
  )
  return [
    `create type ${type} as (\n  ${lines.join(',\n  ')}\n);`,
    inLines(`  insert into ${table} (`, columns),
    inLines(
      '  select',
      columns.map((column) => `${alias}.${column}`),
    ),
  ]
}

const isHold = /create function hold\w*\([^)]*new_payments (\w+)\[\],\s*new_tickets (\w+)\[\]\)/
const [held = { tag: '', text: '' }] = entries
  .map(({ tag }) => ({ tag, text: read(`${tag}.sql`) }))
  .filter(({ text }) => isHold.test(text))
  .toReversed()
const [, paymentType = '', ticketType = ''] = isHold.exec(held.text) ?? []
const inOneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

test.each([
  { table: 'payments', attributes: newPayment, type: paymentType, alias: 'p' },
  { table: 'tickets', attributes: newTicket, type: ticketType, alias: 't' },
])('the newest migration that makes `hold` writes the columns of $table that checkouts give', (given) => {
  const { table, type, alias } = given
  const missing = (attributes: Attributes) =>
    newRowSql(table, attributes, type, alias).filter(
      (text) => !inOneLine(held.text).includes(inOneLine(text)),
    )
  const texts = missing(given.attributes)
  if (texts.length > 0) throw new Error(`drizzle/${held.tag}.sql must say:\n\n${texts.join('\n\n')}`)
  // Control: a further column is missed in each of the three.
  expect(missing({ ...given.attributes, seat: events.name })).toHaveLength(3)
})
