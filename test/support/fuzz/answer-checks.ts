import { expect } from 'vitest'
import type { Caller } from '../authorization/callers.ts'
import { marks } from '../authorization/catalogue.ts'
import { findLeaks } from '../authorization/checker.ts'
import type { World } from '../authorization/world.ts'
import { requireModest } from './seed.ts'

type Answer = Parameters<typeof findLeaks>[0]

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replace(/\+/g, ' '))
  } catch {
    // Somewhere it is not UTF-8: then only the letters of ASCII are decoded.
    return text.replace(/%[0-7][0-9a-f]/gi, decodeURIComponent)
  }
}

/** Fails if a response is a server error or leaks something. The client may be shown what it sent, in this
 *  request and in earlier ones. Fails as well where the answer or the memory is out of proportion. */
export function expectSafe(
  answer: Answer,
  caller: Caller,
  world: World,
  request: string,
  earlier: string[] = [],
): void {
  requireModest(request, answer.body)
  const wrong = findLeaks(answer, caller, world).filter((leak) => {
    const shown = / reads (.*)$/s.exec(leak)?.[1]
    const isIn = (sent: string) =>
      shown !== undefined && [sent, decoded(sent)].some((text) => text.includes(shown))
    return !isIn(request) && !earlier.some(isIn)
  })
  expect(wrong, `${answer.statusCode} ${answer.body.slice(0, 500)}`).toEqual([])
  expectHealthyAnswer(answer)
}

/** Counts the checked responses. */
export const checkedAnswers = { count: 0 }

/** Fails if a response is a server error or lacks a header that every response has. */
export function expectHealthyAnswer({ statusCode, headers, body }: Answer): void {
  checkedAnswers.count++
  expect(statusCode, body.slice(0, 500)).toBeLessThan(500)
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  expect(headers['x-content-type-options']).toBe('nosniff')
}

const facts: Record<string, RegExp> = {
  level: /^(debug|info|warn|error|fatal)$/,
  time: /^\d{13}$/,
  msg: /^[\w ’']{1,80}$/,
  request_id: /^[0-9a-f-]{36}$/,
  trace_id: /^[0-9a-f]{32}$/,
  parent_id: /^[0-9a-f]{16}$/,
  method: /^[A-Z]{3,10}$/,
  route: /^(unknown|[\w/:.*-]{1,60})$/,
  status: /^\d{3}$/,
  ms: /^\d{1,6}$/,
  error: /^\w{1,40}$/,
  code: /^\w{1,40}$/,
  channel: /^chn_\w{1,40}$/,
  integration: /^int_\w{1,40}$/,
  operation: /^[_A-Za-z]\w{0,63}$/,
  codes: /^[A-Z_]{1,40}(,[A-Z_]{1,40}){0,9}$/,
  sqlstate: /^[0-9A-Z]{5}$/,
  table: /^\w{1,63}$/,
  constraint: /^\w{1,63}$/,
  job: /^[\w ]{1,40}$/,
  place: /^(src|dist)\/[\w./-]+:\d+$/,
}

/** Facts that a provider signed are logged unchanged. */
const signed = new Set(['event', 'type'])

/** Headers of credentials that are no secret. */
const publicHeaders = new Set(['integration_id', 'origin'])

/** Lists what log lines contain beyond the permitted facts. */
export function findLogLeaks(lines: string[], { callers }: World): string[] {
  const keys = Object.values<Caller>(callers).flatMap(({ headers }) =>
    Object.entries(headers).flatMap(([name, value]) => (publicHeaders.has(name) ? [] : [value])),
  )
  return lines.flatMap((line) => {
    const entries = Object.entries(JSON.parse(line) as Record<string, unknown>)
    const strange = entries.filter(([name, value]) => !signed.has(name) && !facts[name]?.test(String(value)))
    const secret = [...keys, ...(line.match(marks) ?? []), '@'].filter((text) => line.includes(text))
    return [
      ...strange.map(([name, value]) => `${name}: ${value}`),
      ...secret.map((text) => `${text} in ${line}`),
    ]
  })
}
