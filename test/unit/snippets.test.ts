// Runs in: unit

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { extname } from 'node:path'
import { buildSchema, parse, validate } from 'graphql'
import { expect, test } from 'vitest'

// Snippets of the pages. Those about clients are files of test/clients/, which `npm run test:clients`
// compiles and runs: a comment above each names its file, and `SNIPPETS=write` copies the files into the
// pages.

const root = new URL('../../', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')
const pages = readdirSync(new URL('docs/clients/', root)).map((name) => `docs/clients/${name}`)
// Pages that have documents of their own as well, which are compared with the schema.
const pagesOfDocuments = ['README.md', 'docs/clients.md', 'docs/live.md']
const schema = buildSchema(read('schema.graphql'))

const languages: Record<string, string> = { '.ts': 'ts', '.sh': 'sh', '.json': 'json', '.graphql': 'graphql' }
const snippet = /^<!-- (test\/clients\/\S+) -->\n+```\w*\n[\s\S]*?^```$/gm
const block = /^```(\w*)\n([\s\S]*?)^```$/gm

/** Returns a page with the files that it names in place of its snippets. */
const withFiles = (text: string) =>
  text.replace(
    snippet,
    (_, file: string) =>
      `<!-- ${file} -->\n\`\`\`${languages[extname(file)]}\n${read(file).trimEnd()}\n\`\`\``,
  )

if (process.env.SNIPPETS === 'write')
  for (const page of [...pages, 'docs/clients.md']) writeFileSync(new URL(page, root), withFiles(read(page)))

test.each(pages)('each snippet of %s is a file that is run', (page) => {
  const text = read(page)
  expect(withFiles(text)).toBe(text)
  expect(text.replace(snippet, '').match(block) ?? []).toEqual([])
})

test('each request and each answer of docs/clients.md is a file that is run', () => {
  const text = read('docs/clients.md')
  expect(withFiles(text)).toBe(text)
  const others = [...text.replace(snippet, '').matchAll(block)].map(([whole, language]) => ({
    whole,
    language,
  }))
  expect(others.filter(({ whole }) => whole.includes('curl '))).toEqual([])
  expect(others.filter(({ language }) => language === 'json')).toEqual([])
})

/** Lists what is wrong with the GraphQL documents of a page. */
const mistakesIn = (text: string) =>
  [...text.matchAll(block)]
    .filter(([, language]) => language === 'graphql')
    .flatMap(([, , document = '']) => validate(schema, parse(document)).map(({ message }) => message))

test.each([...pagesOfDocuments, ...pages])('the GraphQL documents of %s are valid', (page) =>
  expect(mistakesIn(read(page))).toEqual([]),
)

test('reports a snippet that differs from its file, and a document that is not valid', () => {
  const made = '<!-- test/clients/curl/list.sh -->\n```sh\ncurl\n```\n'
  expect(withFiles(made)).not.toBe(made)
  expect(mistakesIn('```graphql\n{ nothing }\n```\n')).toEqual([
    'Cannot query field "nothing" on type "Query".',
  ])
})
