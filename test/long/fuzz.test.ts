import { afterAll, expect, test } from 'vitest'

// The fuzz tests of every run, with six times as many values.
process.env.FUZZ_TIMES ??= '6'
await import('../postgres/fuzz-rest.test.ts')
await import('../postgres/fuzz-graphql.test.ts')
await import('../postgres/fuzz-pages.test.ts')
const { checkedAnswers } = await import('../support/fuzz/answer-checks.ts')
const { seed } = await import('../support/fuzz/seed.ts')

test('a long fuzz run checks thousands of responses', () => {
  expect(checkedAnswers.count).toBeGreaterThan(5_000)
})
afterAll(() => {
  console.info(`${checkedAnswers.count} responses checked with FUZZ_SEED=${seed}`)
})
