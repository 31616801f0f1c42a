// Runs in: long, first

import { afterAll, beforeAll, expect, test } from 'vitest'
import { slowRequests } from '../support/hostile/corpus.ts'
import { type HostileService, openHostileService } from '../support/hostile/hostile-service.ts'

// Control of test/postgres/hostile.test.ts: its slowest requests do block a service without limits.
const minBlockedMs = 100
const timeoutMs = 2_000

let service: HostileService
beforeAll(async () => {
  service = await openHostileService('unbounded')
})
afterAll(() => service.close())

test('the corpus has eleven slow requests', () => {
  expect(slowRequests).toHaveLength(11)
})

test.each(slowRequests)('$name blocks a service without limits', async (request) => {
  const answer = await service.send(request, service.channel, timeoutMs)
  const blockedMs = answer?.longest ?? Number.POSITIVE_INFINITY
  console.log(
    `${request.name}: ${answer ? `${Math.round(blockedMs)} ms` : `more than ${timeoutMs} ms, or dead`}`,
  )
  expect(blockedMs).toBeGreaterThan(minBlockedMs)
})
