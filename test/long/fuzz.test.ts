import { afterAll, expect, test } from 'vitest'

// The same as in every run, ten times as often.
process.env.FUZZ_TIMES ??= '10'
await import('../postgres/fuzz-rest.test.ts')
await import('../postgres/fuzz-graphql.test.ts')
await import('../postgres/fuzz-pages.test.ts')
const { checkedAnswers } = await import('../support/fuzz/answer-checks.ts')
const { seed } = await import('../support/fuzz/seed.ts')

test('thousands of answers were looked at', () => {
  expect(checkedAnswers.at).toBeGreaterThan(5_000)
})
afterAll(() => {
  console.info(`${checkedAnswers.at} answers were looked at, with FUZZ_SEED=${seed}`)
})
