import { isInterfaceType } from 'graphql'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { schema } from '../../src/app/schema.ts'
import type { NodeLookup } from '../../src/domain/caller/enforce-needs.ts'
import { builder, queryField, subscriptionField } from '../../src/engine/graphql/builder.ts'
import { mutation, oneObject } from '../../src/engine/graphql/mutation-result.ts'
import { prepareDocuments } from '../../src/engine/graphql-server/prepared-document.ts'
import { type Route, route } from '../../src/engine/rest/route.ts'

// Types alone: nothing of it runs, so the schema stays as it is.
const neverCalled = () => {
  const ref = builder.objectRef<{ id: string }>('Thing')
  const run = async () => ({ thing: { id: '' } })
  const input = z.strictObject({})
  const rest = { payload: '', fields: oneObject('thing', ref, '') }

  // @ts-expect-error: a query says what it needs,
  queryField('thing', { type: 'String', description: '', resolve: () => '' })
  queryField('thing', {
    type: 'String',
    description: '',
    needs: { caller: 'any', scope: 'none' },
    resolve: () => '',
  })
  // @ts-expect-error: and so does a mutation by the helper,
  mutation('thing', { description: '', input, run, ...rest })
  mutation('thing', { description: '', input, needs: { caller: 'any', scope: 'none' }, run, ...rest })
  // @ts-expect-error: no root field is defined by the builder alone,
  builder.queryField('thing', (t) => t.string({ resolve: () => '' }))
  // @ts-expect-error: none
  builder.mutationField('thing', (t) => t.string({ resolve: () => '' }))
  // @ts-expect-error: of them,
  builder.subscriptionField('thing', (t) => t.string({ subscribe: async function* () {}, resolve: () => '' }))
  // @ts-expect-error: a subscription,
  subscriptionField('thing', { type: 'String', subscribe: async function* () {}, resolve: () => '' })
  // @ts-expect-error: and a route.
  route({ method: 'GET', url: '/things', schema: {}, handler: async () => '' })
  route({
    method: 'GET',
    url: '/things',
    // @ts-expect-error: a scope that does not exist
    needs: { caller: 'integration', scope: 'things' },
    schema: {},
    handler: async () => '',
  })
}

test('a root field or a route that does not say what it needs does not compile', () => {
  expectTypeOf(neverCalled).toBeFunction()
  expectTypeOf<Route>().toHaveProperty('needs')
})

test('each type of node says how it is found', () => {
  const node = schema.getType('Node')
  const types = isInterfaceType(node) ? schema.getPossibleTypes(node) : []
  expect(types.length).toBeGreaterThan(10)
  const lookups = types.map(
    ({ name, extensions }) => [name, extensions.node as NodeLookup | undefined] as const,
  )
  expect(lookups.filter(([, node]) => !node?.load === !node?.find)).toEqual([])
  const prefixes = lookups.flatMap(([, node]) => node?.prefix ?? [])
  expect(new Set(prefixes).size).toBe(prefixes.length)
})

const events = '{ events { nodes { id } } }'

test.each([
  [events, true],
  [`query { ...Root } fragment Root on Query { __typename ... on Query ${events} }`, true],
  ['query { ...Root } fragment Root on Query { viewer { id } }', false],
  ['query { ...Missing }', false],
  ['{ constructor }', false],
  ['{ __proto__ }', false],
  ['{ __schema { description } }', false],
])('the answer to %s may be shared: %s', (text, isShared) => {
  expect(prepareDocuments(schema).prepare(text).factsOf(null)).toMatchObject({ isShared, stream: null })
})

test('a subscription is sent as its root field says, also in a fragment', () => {
  const text =
    'subscription { ...Root } fragment Root on Subscription { ticketRates(of: { eventId: "x" }) { id } }'
  const facts = prepareDocuments(schema).prepare(text).factsOf(null)
  expect(facts?.stream?.latestBy?.({ id: 'rate_1' })).toBe('rate_1')
})
