import { readFileSync } from 'node:fs'
import { parse, print, validate } from 'graphql'
import { expect, test } from 'vitest'
import * as documents from '../../examples/shop/src/browser/documents.ts'
import { schema } from '../../src/app/schema.ts'

// That the types beside them are those that the generator writes is tested by test/clients/shop.test.ts.

const written = parse(readFileSync(new URL('../../examples/shop/shop.graphql', import.meta.url), 'utf8'))
const generated = Object.entries(documents).filter(([name]) => name.endsWith('Document'))

test('the shop asks only for what the contract has', () => {
  expect(validate(schema, written).map(({ message }) => message)).toEqual([])
})

test.each(generated)('the document that the shop sends is the one that is written: %s', (_, document) => {
  const texts = written.definitions.map(print)
  expect(parse(String(document)).definitions.map(print)).toSatisfy((parts: string[]) =>
    parts.every((part) => texts.includes(part)),
  )
})

test('reports a field that the contract lacks', () => {
  expect(validate(schema, parse('{ events(first: 1) { nodes { poster } } }'))).toHaveLength(1)
})
