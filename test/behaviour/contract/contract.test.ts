import { readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { printedSchema, schema } from '../../../src/app/schema.ts'
import {
  breakingSchemaChanges,
  type IntendedChange,
  unintended,
} from '../../support/contract/compare-contracts.ts'
import { breakingOpenapiChanges, type Openapi } from '../../support/contract/compare-openapi.ts'
import { sharedSale } from '../../support/sale.ts'

// The contracts, compared with those that clients were given last (docs/contract). `npm run contract:accept`
// makes today's contracts those, once intended changes are released.

const fileOf = (name: string) => new URL(`../../../docs/contract/${name}`, import.meta.url)
const read = (name: string) => readFileSync(fileOf(name), 'utf8')

let openapi: Openapi
const sale = sharedSale()
beforeAll(async () => {
  openapi = (await sale.app.inject({ url: '/openapi.json' })).json()
  if (process.env.CONTRACT !== 'accept') return
  writeFileSync(fileOf('schema.graphql'), printedSchema())
  writeFileSync(fileOf('openapi.json'), `${JSON.stringify(openapi, null, 2)}\n`)
  writeFileSync(fileOf('intended-changes.json'), '[]\n')
})

test('no client breaks, but where it is intended and why is said', () => {
  const changes = [
    ...breakingSchemaChanges(read('schema.graphql'), schema),
    ...breakingOpenapiChanges(JSON.parse(read('openapi.json')), openapi),
  ]
  const intended: IntendedChange[] = JSON.parse(read('intended-changes.json'))
  expect(unintended(changes, intended)).toEqual([])
})

test('control: a field that is taken away from either contract is found', () => {
  const more = `${printedSchema()}\nextend type Event { gone: String }`
  expect(breakingSchemaChanges(more, schema)).toEqual(['Event.gone was removed.'])
  const before = structuredClone(openapi)
  const paths = before.paths ?? {}
  paths['/gone'] = { get: { responses: { 200: { description: '' } } } }
  expect(breakingOpenapiChanges(before, openapi)).toEqual(['GET /gone was removed'])
})
