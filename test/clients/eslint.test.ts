import { readFileSync } from 'node:fs'
import plugin from '@graphql-eslint/eslint-plugin'
import { Linter } from 'eslint'
import { expect, test } from 'vitest'

// The schema by the recommended rules of graphql-eslint and its rules for Relay.

const committed = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')
const recommended = {
  ...plugin.configs['flat/schema-recommended'].rules,
  ...plugin.configs['flat/schema-relay'].rules,
}

/** Rules that the schema does not follow, or in part, each with the reason. */
const exceptions: Record<string, { reason: string; setting: Linter.RuleEntry }> = {
  'relay-arguments': {
    reason: 'Lists that only grow at their end, or are short, go forwards alone.',
    setting: ['error', { includeBoth: false }],
  },
  'relay-edge-types': {
    reason: 'Short lists are plain, connections have `nodes` too, and deliveries are found by their webhook.',
    setting: ['error', { listTypeCanWrapOnlyEdgeType: false, shouldImplementNode: false }],
  },
  'strict-id-in-types': {
    reason: 'What is a part of a node, or of one answer, has no identifier.',
    setting: 'off',
  },
  'no-typename-prefix': {
    reason: '`Price.price` is a documented name, and `Ticket.ticketRate` is not named after the ticket.',
    setting: 'off',
  },
}

function brokenRules(schema: string, rules: Linter.RulesRecord): string[] {
  const config = {
    files: ['**/*.graphql'],
    plugins: { '@graphql-eslint': plugin },
    languageOptions: { parser: plugin.parser, parserOptions: { graphQLConfig: { schema } } },
    rules,
  } as unknown as Linter.Config
  const found = new Linter().verify(schema, config, 'schema.graphql')
  return found.map(({ ruleId, line, message }) => `${ruleId?.split('/')[1]} ${line}: ${message}`)
}

const withExceptions = {
  ...recommended,
  ...Object.fromEntries(
    Object.entries(exceptions).map(([name, { setting }]) => [`@graphql-eslint/${name}`, setting]),
  ),
} as Linter.RulesRecord

test('the schema follows all rules but for the exceptions', () => {
  // The feed begins at a cursor or at one of its ends: `from` is its `after`.
  const feed = committed.split('\n').indexOf('  changes(') + 1
  const broken = brokenRules(committed, withExceptions)
  expect(broken).toEqual([expect.stringContaining(`relay-arguments ${feed}: `)])
})

test('each exception is still needed', () => {
  const broken = brokenRules(committed, recommended as Linter.RulesRecord)
  expect([...new Set(broken.map((line) => line.split(' ')[0]))].sort()).toEqual(
    Object.keys(exceptions).sort(),
  )
})

// Control.
test.each([
  ['naming-convention', 'type Query', 'type lower_case { "One." id: ID! }\n\n"""All."""\ntype Query'],
  ['require-description', '"""Amount of money."""', ''],
  ['relay-connection-types', '  pageInfo: PageInfo!', '  pageInfo: PageInfo'],
  ['relay-page-info', '  hasNextPage: Boolean!', '  hasNextPage: Boolean'],
  ['relay-edge-types', '  cursor: String!', '  cursor: PageInfo!'],
  ['relay-arguments', 'first: Int! = 50', 'first: String! = "50"'],
])('a schema that breaks %s is found', (rule, from, to) => {
  expect(committed).toContain(from)
  const broken = brokenRules(committed.replace(from, to), withExceptions)
  expect(broken.map((line) => line.split(' ')[0])).toContain(rule)
})
