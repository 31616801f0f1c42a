import { readdirSync, readFileSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api'
import { expect, test } from 'vitest'
import { paymentAttributes, ticketAttributes } from '../../src/domain/sale/checkout/hold/hold.ts'
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

test('rows of a hold have the attributes of the types that the function takes, in their order', async () => {
  const attributes = await linesAfter(
    migrations,
    `select concat_ws(' ', attrelid::regclass, attname) as line from pg_attribute
      where attrelid in ('new_payment'::regclass, 'new_ticket'::regclass) order by attrelid, attnum`,
  )
  expect(attributes).toEqual([
    ...paymentAttributes.map((name) => `new_payment ${toSnakeCase(name)}`),
    ...ticketAttributes.map((name) => `new_ticket ${toSnakeCase(name)}`),
  ])
})
