import { readdirSync, readFileSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { atRunTime, query, queryTogether } from '../../src/engine/data/query.ts'

// Holds «Which way do I read, write, wait?» of docs/architecture.md against the code: its table of what to take first is
// short, and with the list below it names every way that the domain takes, and no other.

const maxRows = 15

const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(`${folder}/${name}`, 'utf8'))

const domain = filesOf('src/domain')
const engine = filesOf('src/engine')
const page = readFileSync('docs/architecture.md', 'utf8')

const sectionOf = (page: string) =>
  /^## Which way do I read, write, wait\?$([\s\S]*?)^## /m.exec(page)?.[1]?.split('\n') ?? []

/** Rows of the table in a page. */
const rowsOf = (page: string) =>
  sectionOf(page).filter((line) => line.startsWith('| **') || line.startsWith('| …'))

/** Names in the rows' second column, and in the list. A name with a hyphen is a package. */
const namesIn = (page: string) => {
  const list = sectionOf(page).filter((line) => /^(- \*\*| {2}\S)/.test(line))
  return [...rowsOf(page).map((row) => row.split(' | ')[1] ?? ''), ...list].flatMap((text) =>
    [...text.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name),
  )
}

/** Values that a file imports from the engine's ways; types aren't called. */
const taken = (text: string) =>
  [...text.matchAll(/^import \{([^}]*)\} from '[./]*engine\/(?:data|database)\/[^']*'$/gm)]
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))

const exportsOf = (text: string) =>
  [...text.matchAll(/^export (?:async )?(?:const|function|class) (\w+)/gm)].map(([, name = '']) => name)

/** Ways that are taken and in no row, and names in rows of which there is no way. */
function differences(page: string) {
  const named = namesIn(page)
  const exported = new Set(engine.flatMap(exportsOf))
  const packages = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).dependencies)
  return {
    unnamed: [...new Set(domain.flatMap(taken))].filter((name) => !named.includes(name)),
    unknown: named.filter((name) => !exported.has(name) && !packages.includes(name)),
    repeated: named.filter((name, index) => named.indexOf(name) !== index),
  }
}

test('each way to read, write and wait that the domain takes stands in one place, and all that stand there exist', () => {
  expect(differences(page)).toEqual({ unnamed: [], unknown: [], repeated: [] })
  expect(rowsOf(page).length).toBeGreaterThan(5)
  expect(rowsOf(page).length).toBeLessThanOrEqual(maxRows)
})

test('control: a way that is named nowhere is found, and a name that no file exports', () => {
  expect(differences(page.replaceAll('`joinWrites`', '`writeJointly`'))).toMatchObject({
    unnamed: ['joinWrites'],
    unknown: ['writeJointly'],
  })
})

// One way runs what is not prepared: the drivers' results differ.
const runsByItself = /\b(?:tx|db)\s*\.execute\(/

test('statements that are not prepared are run by runSql', () => {
  const own = [...domain, ...engine].filter((text) => runsByItself.test(text))
  expect(own.flatMap(exportsOf)).toContain('runSql')
  expect(own).toHaveLength(1)
})

// Of two statements under one name a connection would run the first.
test('no two statements have one name, whatever makes them', async () => {
  const files = readdirSync('src/domain', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  for (const file of files) await import(/* @vite-ignore */ `../../src/domain/${file}`)
  // Control: a name that is written, and one that is put together.
  for (const name of ['assign_positions', 'sum_sales_by_day'])
    expect(() => query(name, () => sql`select 1`)).toThrow(`two statements are named ${name}`)
  query('of_this_test', () => sql`select 1`)
  expect(() => queryTogether('of_this_test', [])).toThrow('of_this_test')
  for (const _ of ['first', 'again']) query('chosen', () => sql`select 1`, atRunTime)
})
