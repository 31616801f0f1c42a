import { afterAll, beforeAll, expect, test } from 'vitest'
import { slowRequests } from '../support/hostile/corpus.ts'
import { type HostileService, openHostileService } from '../support/hostile/hostile-service.ts'

// The control of test/postgres/hostile.test.ts: what it sends holds up a service that has no bounds. Milliseconds.
const maxHeldUp = 100
const timeoutMs = 5_000

let service: HostileService
beforeAll(async () => {
  service = await openHostileService('unbounded')
})
afterAll(() => service.close())

test('there is enough to hold it up', () => {
  expect(slowRequests).toHaveLength(11)
})

test.each(slowRequests)('$name', async (request) => {
  const answer = await service.send(request, service.channel, timeoutMs)
  const heldUp = answer?.longest ?? Number.POSITIVE_INFINITY
  console.log(
    `${request.name}: ${answer ? `${Math.round(heldUp)} ms` : `more than ${timeoutMs} ms, or dead`}`,
  )
  expect(heldUp).toBeGreaterThan(maxHeldUp)
})
