import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

// Holds the table «Which way do I read, write, wait?» of docs/architecture.md against the code: it is short, names every way
// that the domain takes, and no other.

const maxRows = 15

const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(`${folder}/${name}`, 'utf8'))

const domain = filesOf('src/domain')
const engine = filesOf('src/engine')
const page = readFileSync('docs/architecture.md', 'utf8')

/** Rows of the table in a page. */
const rowsOf = (page: string) =>
  /^## Which way do I read, write, wait\?$([\s\S]*?)^## /m
    .exec(page)?.[1]
    ?.split('\n')
    .filter((line) => line.startsWith('| **') || line.startsWith('| …')) ?? []

/** Names in the rows' second column. A name with a hyphen is a package. */
const namesIn = (rows: string[]) =>
  rows.flatMap((row) => [...(row.split(' | ')[1] ?? '').matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name))

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
  const named = namesIn(rowsOf(page))
  const exported = new Set(engine.flatMap(exportsOf))
  const packages = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).dependencies)
  return {
    unnamed: [...new Set(domain.flatMap(taken))].filter((name) => !named.includes(name)),
    unknown: named.filter((name) => !exported.has(name) && !packages.includes(name)),
    repeated: named.filter((name, index) => named.indexOf(name) !== index),
  }
}

test('each way to read, write and wait that the domain takes stands in one row, and each row’s ways exist', () => {
  expect(differences(page)).toEqual({ unnamed: [], unknown: [], repeated: [] })
  expect(rowsOf(page).length).toBeGreaterThan(5)
  expect(rowsOf(page).length).toBeLessThanOrEqual(maxRows)
})

test('control: a way that no row names is found, and a name that no file exports', () => {
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

// Statements are kept by their names, so that of two with one name the second would never run.
const literal =
  /\b(?:query|queryTogether|insertRows|readByIds|organizationsBy|loadRow)(?:<[^()]*>)?\(\s*'(\w+)'|\bname: '([a-z_]+)',\n/g

/** Names of statements that are written in texts. */
const statementsIn = (texts: string[]) =>
  texts.flatMap((text) => [...text.matchAll(literal)].map(([, called, given]) => called ?? given ?? ''))

test('no two statements have one name', () => {
  const names = statementsIn([...domain, ...engine])
  expect(names.length).toBeGreaterThan(80)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  // Control: the same file twice.
  const [text = ''] = domain.filter((text) => text.includes("query(\n  'assign_positions'"))
  const twice = statementsIn([text, text])
  expect(twice.filter((name, index) => twice.indexOf(name) !== index)).toContain('assign_positions')
})
