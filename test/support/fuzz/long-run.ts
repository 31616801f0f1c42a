import { afterAll, expect, test } from 'vitest'
import { checkedAnswers } from './answer-checks.ts'
import { seed } from './seed.ts'

/** Adds a test that the fuzz tests of the file checked more than `min` responses, and prints their number. */
export function expectResponses(min: number): void {
  const before = checkedAnswers.count
  const checked = () => checkedAnswers.count - before
  test(`a long fuzz run checks more than ${min} responses`, () => {
    expect(checked()).toBeGreaterThan(min)
  })
  afterAll(() => console.info(`${checked()} responses checked with FUZZ_SEED=${seed}`))
}
