import { afterAll, expect, test } from 'vitest'

// The same as in every run, ten times as often.
process.env.FUZZ_TIMES ??= '10'
await import('../fuzz-rest.postgres.test.ts')
await import('../fuzz-graphql.postgres.test.ts')
await import('../fuzz-pages.postgres.test.ts')
const { looked } = await import('../fuzz/watch.ts')
const { seed } = await import('../fuzz/seed.ts')

test('thousands of answers were looked at', () => {
  expect(looked.at).toBeGreaterThan(5_000)
})
afterAll(() => {
  console.info(`${looked.at} answers were looked at, with FUZZ_SEED=${seed}`)
})
