import { expect, test } from 'vitest'
import { openLog } from '../../src/app/log.ts'

test.each([
  [undefined, true, true],
  [undefined, false, false],
  ['json', true, false],
  ['pretty', false, true],
] as const)('LOG_FORMAT %s on a terminal (%s) is text: %s', async (format, isTerminal, isText) => {
  expect((await openLog(format, isTerminal)) !== undefined).toBe(isText)
})
