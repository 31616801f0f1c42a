import { parse, validate } from 'graphql'
import { expect, test } from 'vitest'
import { schema } from '../../src/graphql-server/schema.ts'
import * as documents from '../../src/shop/browser/documents.ts'

test.each(Object.entries(documents))('the shop asks only for what the contract has: %s', (_, document) => {
  expect(validate(schema, parse(document)).map(({ message }) => message)).toEqual([])
})

test('reports a field that the contract lacks', () => {
  expect(validate(schema, parse('{ events(first: 1) { nodes { poster } } }'))).toHaveLength(1)
})
