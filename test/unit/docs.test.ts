// Runs in: unit

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import {
  buildSchema,
  type GraphQLField,
  getNamedType,
  isInputObjectType,
  parse,
  specifiedRules,
  validate,
} from 'graphql'
import { expect, test } from 'vitest'
import { secretSettings, settingNames } from '../../src/app/settings.ts'
import { invariants } from '../../src/domain/verify/rules.ts'
import { requestLimits } from '../../src/engine/base/request-limits.ts'

// Checks that README.md, docs/ and the comments of src/ and examples/ name only existing paths, npm scripts, settings,
// sections and functions.

const root = new URL('../../', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')
const filesOf = (folder: string) =>
  readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: 'utf8' })
    .filter((name) => !/(^|\/)(node_modules|dist)\//.test(name))
    .map((name) => `${folder}/${name}`)

const pages = ['README.md', ...filesOf('docs').filter((name) => name.endsWith('.md'))]
const sources = ['src', 'examples'].flatMap(filesOf).filter((name) => name.endsWith('.ts'))
const tests = filesOf('test').filter((name) => /\.[jt]s$/.test(name))
const tree = ['src', 'examples', 'test', 'docs', 'drizzle'].flatMap(filesOf)
const scripts = Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts)

const comment = /\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm

/** Comments of a source file, with their lines joined. */
function commentsOf(text: string): string {
  const comments = text.match(comment) ?? []
  return comments.join('\n').replace(/\n\s*(\*(?!\/)|\/\/)\s?/g, ' ')
}

/** Anchors of a page's sections, as GitHub generates them. */
const anchorsOf = (page: string): string[] =>
  [...page.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  )

// Paths created by the build, by generators of clients or at run time; the last is the name of the database
// driver.
const madeElsewhere =
  /^(data|dist|node_modules)\/|^(persisted-)?documents\.json$|^demo-catalogue\.json$|^postgres\.js$/
// Pages that comments cite in capitals.
const renamed: Record<string, string> = {
  'INTERFACE.md': 'docs/interface.md',
  'DECISIONS.md': 'docs/decisions.md',
}

const extensions = 'ts|js|mjs|md|graphql|sql|json|toml|yaml|ini'
const folders = 'src|examples|test|docs|deploy|drizzle|\\.ci'
const pathShape = new RegExp(
  `(?<![\\w./:@-])(?:(?:\\.\\./|\\./)?(?:${folders})/[\\w./*-]*[\\w/*]|(?:\\.\\./)*[\\w./-]*[\\w-]\\.(?:${extensions}))(?![\\w-])`,
  'g',
)

/** Reports whether a path exists: from the root, from src/, next to the citing file, or as the end of a
 *  longer path. */
function pathExists(name: string, beside: string): boolean {
  const path = renamed[name] ?? name.replace(/\/$/, '')
  if (path.includes('*')) {
    const glob = new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\*+/g, '.*')}$`)
    return tree.some((file) => glob.test(file))
  }
  const places = ['', 'src/', 'src/domain/', `${posix.dirname(beside)}/`].map((place) =>
    posix.join(place, path),
  )
  return (
    places.some((place) => existsSync(new URL(place, root))) || tree.some((file) => file.endsWith(`/${path}`))
  )
}

// Skips absolute paths, which are routes of the service.
const missingPaths = (text: string, beside: string): string[] =>
  (text.replace(/https?:\/\/\S+/g, '').match(pathShape) ?? [])
    .map((name) => name.replace(/^\.\//, ''))
    .filter((name) => !name.startsWith('/') && !madeElsewhere.test(name) && !pathExists(name, beside))
    .map((name) => `path ${name}`)

// Includes `npm start` and `npm test`, which run scripts too; other npm commands are built in.
const missingScripts = (text: string): string[] =>
  [...text.matchAll(/\bnpm (?:run (?:-s )?([a-z][\w:-]*)|(start|test)\b)/g)].flatMap(
    ([, script, command]) => {
      const name = script ?? command ?? ''
      return scripts.includes(name) ? [] : [`script ${name}`]
    },
  )

const settings = settingNames
// A secret may also come from a file.
const isSetting = (name: string) =>
  settings.includes(name) || secretSettings.some((secret) => `${secret}_FILE` === name)
const namesIn = (text: string, shape: RegExp) => [...text.matchAll(shape)].map(([, name = '']) => name)
// Codes in the code, and environment variables in the tests and the restore drill. Comments are removed, so
// that none confirms itself.
const words = new Set([
  ...sources.flatMap((file) =>
    namesIn(read(file).replace(comment, ''), /['"`.\s]([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?=['"`:,])/g),
  ),
  // Values of enums, some of which the code has in the form of REST.
  ...namesIn(read('schema.graphql'), /^ {2}([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)$/gm),
  // Codes that the payment page builds from statuses (src/domain/sale/payment-page/outcome-page.ts).
  ...['FAILED', 'EXPIRED', 'CANCELLED'].map((status) => `PAYMENT_${status}`),
  ...tests.flatMap((file) => namesIn(read(file), /process\.env\.([A-Z0-9_]+)/g)),
  ...namesIn(read('deploy/restore-drill'), /\$\{([A-Z_]+):-/g),
])

/** Lists settings and codes in a text that do not exist in the code. */
const missingSettings = (text: string): string[] => {
  const exported = [...text.matchAll(/\bexport ([^\n]+)/g)].flatMap(([, line = '']) =>
    [...line.matchAll(/(?:^|\s)([A-Z][A-Z0-9_]*)=/g)].map(([, name = '']) => name),
  )
  const named = [...text.matchAll(/(?<![\w-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w-])/g)].map(([name]) => name)
  return [
    ...exported.filter((name) => !isSetting(name)),
    ...named.filter((name) => !isSetting(name) && !words.has(name)),
  ].map((name) => `setting ${name}`)
}

const missingSections = (text: string, beside: string): string[] =>
  [...text.matchAll(/\]\(([^)\s#]*)(?:#([^)\s]+))?\)/g)].flatMap(([, path = '', anchor]) => {
    if (/^\w+:/.test(path)) return []
    const file = path === '' ? beside : posix.join(posix.dirname(beside), path)
    if (!existsSync(new URL(file, root))) return [`link ${path}`]
    return anchor && !anchorsOf(read(file)).includes(anchor) ? [`section ${path}#${anchor}`] : []
  })

const headingsIn = (page: string) => ({
  rules: namesIn(/^## Rules\n([\s\S]*?)^## /m.exec(page)?.[1] ?? '', /^### (.+)$/gm),
  decisions: namesIn(page, /^### (\d+)\. /gm).map(Number),
})
const { rules, decisions } = headingsIn(read('docs/decisions.md'))
const citedRules = rules.map((name) => name.toLowerCase())
const documentedInterface = read('docs/interface.md').toLowerCase()

/** Lists citations `DECISIONS n`, `DECISIONS, heading` and `INTERFACE, section` without a target. */
const missingCitations = (text: string): string[] => [
  ...[
    ...text.matchAll(/(?<!`)\bDECISIONS\b(?:,\s+([^;.)]+)|\s+((?:\d+(?:,\s+|\s+and\s+|\s+to\s+)?)+))?/g),
  ].flatMap(([cited, rule, list]) => {
    if (rule) return citedRules.includes(rule.replace(/\s+/g, ' ')) ? [] : [cited]
    if (!list) return [cited]
    return namesIn(list, /(\d+)/g).flatMap((n) => (decisions.includes(Number(n)) ? [] : [`DECISIONS ${n}`]))
  }),
  ...[...text.matchAll(/\(INTERFACE,\s+([^;)]+)/g)].flatMap(([, section = '']) =>
    documentedInterface.includes(section.replace(/`/g, '').trim().toLowerCase())
      ? []
      : [`INTERFACE, ${section}`],
  ),
]

// Words of the code without its comments, and names that libraries have.
const inCode = new Set([
  ...[...sources, ...tests, ...tree.filter((file) => /\.(sql|graphql|json|js)$/.test(file)), 'schema.graphql']
    .map((file) => (file.endsWith('.ts') ? read(file).replace(comment, '') : read(file)))
    .flatMap((text) => text.match(/\w+/g) ?? []),
  ...['readFragment', 'useQuery', 'useLazyLoadQuery', 'getDataID', 'persistedExchange', 'handlerTimeout'],
  'preStop',
])

/** Lists names in backticks, and functions that a comment sends to, that the code has not. */
const missingNames = (text: string): string[] =>
  namesIn(text, /(?:`|\bsee )([a-z]+[A-Z]\w*)/g).flatMap((name) => (inCode.has(name) ? [] : [`name ${name}`]))

const missingIn = (text: string, file: string): string[] => [
  ...missingNames(text),
  ...missingPaths(text, file),
  ...missingScripts(text),
  ...missingSettings(text),
  ...missingSections(text, file),
  ...missingCitations(text),
]

// Skips snippets: test/unit/snippets.test.ts compares them with their files, which name paths of their own.
const withoutSnippets = (page: string) => page.replace(/^<!-- (\S+) -->\n```[\s\S]*?^```/gm, '$1')

test.each(pages)('%s names only what exists', (page) => {
  expect(missingIn(withoutSnippets(read(page)), page)).toEqual([])
})

test('comments of the sources name only what exists', () => {
  const missing = sources.flatMap((file) =>
    missingIn(commentsOf(read(file)), file).map((what) => `${file}: ${what}`),
  )
  expect(missing).toEqual([])
})

test('docs/configuration.md lists exactly the existing settings', () => {
  const documented = read('docs/configuration.md')
  expect(settings.length).toBeGreaterThan(25)
  expect(settings.filter((name) => !documented.includes(`\`${name}\``))).toEqual([])
  const rows = documented.match(/^\| `[^|]*\|/gm) ?? []
  const listed = rows.flatMap((row) => namesIn(row, /`([A-Z][A-Z0-9_]*)`/g))
  expect(listed.filter((name) => !settings.includes(name))).toEqual([])
})

// Sentences that go out of date are compared with what they are about.

const schema = buildSchema(read('schema.graphql'))

/** Lists what is said of GraphQL in a page and is not in the schema: operations, and calls of mutations in prose. */
function wrongGraphql(page: string): string[] {
  const blocks = [...page.matchAll(/^```graphql\n([\s\S]*?)^```/gm)].map(([, text = '']) => text)
  const rules = specifiedRules.filter(({ name }) => !/^(ExecutableDefinitions|NoUnused)/.test(name))
  const invalid = blocks.flatMap((text) => validate(schema, parse(text), rules).map(({ message }) => message))
  const fields: Record<string, GraphQLField<unknown, unknown>> = schema.getMutationType()?.getFields() ?? {}
  const calls = [...page.matchAll(/`(\w+)\(([^`]*)\)`/g)].flatMap(([call, name = '', text = '']) => {
    const field = fields[name]
    if (!field) return []
    const inputs = field.args.flatMap(({ name, type }) => {
      const named = getNamedType(type)
      return [name, ...(isInputObjectType(named) ? Object.keys(named.getFields()) : [])]
    })
    const given = text.match(/\w+/g) ?? []
    return given[0] === 'input' && given.every((each) => inputs.includes(each)) ? [] : [`call ${call}`]
  })
  return [...invalid, ...calls]
}

test.each(pages)('%s shows GraphQL that the schema has', (page) => {
  expect(wrongGraphql(withoutSnippets(read(page)))).toEqual([])
})

test('reports GraphQL that the schema has not', () => {
  expect(wrongGraphql('```graphql\n{ nothing }\n```')).toEqual([expect.stringContaining('nothing')])
  expect(wrongGraphql('`refundTickets(ticketId)`, `refundTickets(input: {ticket})`')).toHaveLength(2)
})

const foldersIn = (folder: string) =>
  readdirSync(new URL(folder, root), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  )

test('the tables of docs/architecture.md and the README name the folders that there are', () => {
  const architecture = read('docs/architecture.md')
  const [, table = ''] = /^## The domain\n([\s\S]*?)\n\n(?!\|)/m.exec(architecture) ?? []
  const rows = table.split('\n').filter((line) => line.startsWith('| `'))
  const named = rows.flatMap((row) => namesIn(row.split('|')[1] ?? '', /`([\w-]+)\/`/g))
  expect(named.sort()).toEqual(foldersIn('src/domain').sort())
  const engine = namesIn(architecture, /^\| (`src\/engine\/.*?) \|/gm).flatMap((cell) =>
    namesIn(cell, /`src\/engine\/([\w-]+)\/`/g),
  )
  expect(engine.sort()).toEqual(foldersIn('src/engine').sort())
  const sale = rows.find((row) => row.startsWith('| `sale/`'))?.split('|')[2] ?? ''
  expect(namesIn(sale, /`([\w-]+)\/`/g).sort()).toEqual(foldersIn('src/domain/sale').sort())
  const [, inReadme = ''] = /sale\/ has every verb that changes several: (.*)/.exec(read('README.md')) ?? []
  expect(inReadme.split(', ').sort()).toEqual(foldersIn('src/domain/sale').sort())
})

test('the chains of docs/architecture.md are those that boundaries.test.ts holds', () => {
  const boundaries = read('test/unit/boundaries.test.ts')
  const rowsOf = (name: string) => {
    const [, text = ''] = new RegExp(`const ${name} = \\[([\\s\\S]*?)\\n\\]`).exec(boundaries) ?? []
    const rows = [...text.matchAll(/^ +\[(.*)\],$/gm)].map(([, row = '']) =>
      namesIn(row, /'([\w/-]+)'/g).sort(),
    )
    return rows.filter((row) => row.length > 0).reverse()
  }
  const blocks = [...read('docs/architecture.md').matchAll(/^```\n([\s\S]*?)^```/gm)].map(
    ([, text = '']) => text,
  )
  const chains = blocks
    .filter((text) => /^[\w\s|/→-]+$/.test(text) && text.includes('→'))
    .map((text) => text.split('→').map((row) => namesIn(row, /([\w/-]+)/g).sort()))
  expect(chains.slice(0, 2)).toEqual([rowsOf('engineFolders'), rowsOf('domainFolders')])
})

test('the README tells how much of src is engine', () => {
  const linesIn = (folder: string) => {
    const files = filesOf(folder).filter((name) => name.endsWith('.ts'))
    return files.reduce((sum, file) => sum + read(file).split('\n').length - 1, 0)
  }
  expect(read('README.md')).toMatch(/^ {2}engine\/ +a third of the lines/m)
  expect(Math.round((linesIn('src/engine') / linesIn('src')) * 12)).toBe(4)
})

test('nothing is told as planned', () => {
  expect(pages.filter((page) => /\bplanned\b/i.test(read(page)))).toEqual([])
})

test('what pages count is what there is, and they count no lines of code', () => {
  expect(pages.filter((page) => /^\|.*\| lines \|/m.test(read(page)))).toEqual([])
  const [, maxLines] = /const maxLines = (\d+)/.exec(read('test/unit/boundaries.test.ts')) ?? []
  const longest = ['README.md', 'docs/architecture.md'].flatMap((page) =>
    namesIn(read(page), /(?:most|past) (\d+) lines/g),
  )
  expect(longest).toEqual([maxLines, maxLines])
  const [, holding] = /all (\d+) hold/.exec(read('docs/operations.md')) ?? []
  expect(Number(holding)).toBe(Object.keys(invariants).length)
  const { maxDocumentLength, maxDocumentLines } = requestLimits
  const [characters, lines] = [maxDocumentLength, maxDocumentLines].map((count) => count.toLocaleString('en'))
  expect(read('docs/clients.md')).toContain(`${characters} characters, ${lines} lines`)
  expect(read('docs/decisions.md')).toContain(`${lines} lines, ${characters} characters`)
})

test('the README and the page of the speed stay short, and pictures small', () => {
  const linesOf = (page: string) => read(page).split('\n').length - 1
  expect(linesOf('README.md')).toBeLessThanOrEqual(190)
  expect(linesOf('docs/performance.md')).toBeLessThanOrEqual(120)
  const pictures = filesOf('docs').filter((name) => name.endsWith('.png'))
  const bytes = pictures.map((name) => statSync(new URL(name, root)).size)
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(200_000)
})

test('neither the contracts nor the pages nor the sources tell of a version that was never released', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  const told = [
    ...pages,
    ...['schema.graphql', 'docs/contract/openapi.json'],
    ...sources.map((file) => `src/${file}`),
  ].filter((file) => /\bbefore 0\.\d/.test(read(file)))
  expect(told).toEqual([])
})

/** Lists numbers that don't come after the one before them, and headings of rules that stand twice. */
const misplaced = ({ rules, decisions }: ReturnType<typeof headingsIn>) => [
  ...decisions.filter((number, index) => number <= (decisions[index - 1] ?? 0)).map(String),
  ...rules.filter((name, index) => rules.indexOf(name) !== index || /^\d|[;.)]/.test(name)),
]

test('rules have headings of their own, decisions ascending numbers, and citations lead to one of them', () => {
  expect(rules.length).toBeGreaterThan(15)
  expect(decisions.length).toBeGreaterThan(100)
  expect(misplaced({ rules, decisions })).toEqual([])
  const others = [
    ...tests.map((file) => [file, commentsOf(read(file))] as const),
    ...['drizzle', 'deploy']
      .flatMap(filesOf)
      .filter((name) => /\.(sql|yaml)$/.test(name))
      .map((file) => [file, read(file).replace(/\n(--|#) /g, ' ')] as const),
  ]
  const wrong = others.flatMap(([file, text]) => missingCitations(text).map((what) => `${file}: ${what}`))
  expect(wrong).toEqual([])
})

test('reports a decision out of order and a rule that stands twice', () => {
  const page =
    '## Rules\n\n### One\n\n### One\n\n## First\n\n### 12. a\n\n### 14. b\n\n### 13. c\n\n### 13. d\n'
  expect(misplaced(headingsIn(page))).toEqual(['13', '13', 'One'])
})

test('headline numbers name the commits that they are of', () => {
  const sections = [
    /^## Speed\n[\s\S]*?(?=^## )/m,
    /^## Results\n[\s\S]*?(?=^\|)/m,
    /^# Scaling\n[\s\S]*?(?=^\|)/m,
  ]
  const texts = ['README.md', 'docs/performance.md', 'docs/scaling.md'].map(
    (page, index) => sections[index]?.exec(read(page))?.[0] ?? '',
  )
  expect(texts.filter((text) => !/commits? [0-9a-f]{7}\b/.test(text))).toEqual([])
})

test('every page is linked from the README', () => {
  const readme = read('README.md')
  expect(pages.filter((page) => page !== 'README.md' && !readme.includes(`](${page}`))).toEqual([])
})

test.each([
  ['see `src/nowhere/made-up.ts`', 'path src/nowhere/made-up.ts'],
  ['see `test/made-up/`', 'path test/made-up/'],
  ['see made-up.ts', 'path made-up.ts'],
  ['see `test/made-up-*.test.ts`', 'path test/made-up-*.test.ts'],
  ['`npm run made-up -- --all`', 'script made-up'],
  ['set `MADE_UP_SETTING`', 'setting MADE_UP_SETTING'],
  ['export MADEUP=1', 'setting MADEUP'],
  ['[x](docs/checkout.md#made-up)', 'section docs/checkout.md#made-up'],
  ['[x](docs/made-up.md)', 'link docs/made-up.md'],
  ['as in DECISIONS 12 and 998', 'DECISIONS 998'],
  ['(DECISIONS, checkout; DECISIONS 4)', 'DECISIONS 4'],
  ['(DECISIONS, made-up)', 'DECISIONS, made-up'],
  ['see DECISIONS for it', 'DECISIONS'],
  ['(INTERFACE, made-up; DECISIONS 12)', 'INTERFACE, made-up'],
])('reports a name that does not exist: %s', (text, problem) => {
  expect(missingIn(text, 'README.md')).toContain(problem)
})

test('reads only comments', () => {
  expect(
    commentsOf("const a = 'src/nowhere.ts' // see one.ts\n/** Reads\n *  two.ts. */\nimport './three.ts'"),
  ).toMatch(/^ \/\/ see one\.ts\s+\/\*\* Reads {2}two\.ts\. \*\/$/)
})
