// Runs in: postgres

import { expect, test } from 'vitest'
import { yogaPlugins } from '../../../src/engine/graphql-server/execute.ts'
import { openSale } from '../../support/sale.ts'

test('a further plugin sees every request', async () => {
  let executed = 0
  yogaPlugins.push({ onExecute: () => void executed++ })
  const watched = await openSale()
  try {
    for (let time = 0; time < 3; time++) await watched.graphql('{ viewer { kind } }', {}, watched.channel)
    expect(executed).toBe(3)
  } finally {
    yogaPlugins.pop()
  }
  // Control: without it, no such hook is called.
  await watched.graphql('{ viewer { kind } }', {}, watched.channel)
  expect(executed).toBe(3)
  await watched.close()
})
