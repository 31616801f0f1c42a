// Runs in: long, first

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { RequestTurns } from '../../src/engine/request/request-turns.ts'
import { duringFlood, type FloodRequest } from '../support/flood/flood.ts'
import { mutationNames, openFloodedSale } from '../support/flood/floods.ts'
import { type Measured, medianOf, openNeighbour } from '../support/flood/neighbour.ts'

// Whatever one organization sends, another one sells, is paid, scans, looks up and refunds as before (DECISIONS 215).

const maxSlowdown = 3
// A median below this counts as this. A payment takes some thirty turns of the event loop and fifteen round trips to the
// database, each of which a process of ours, or of the test, may hold up by a millisecond on a machine that is busy.
const floorMs = 15
// The machine is shared: what was slow by chance is not slow each time.
const tries = 5
const rounds = 7
const hopelessMs = 4_000

// As many as was found to hold up everybody.
const connections: Record<string, number> = { checkInTickets: 100, redeemSupplement: 700, returnTicket: 700 }

const mediansOf = ({ times }: Measured) =>
  Object.fromEntries(Object.entries(times).map(([name, all]) => [name, medianOf(all)]))

// Kinds of requests that took too long, with their medians in quiet and during the flood.
function slowerIn(quiet: Measured, flooded: Measured): string[] {
  const before = mediansOf(quiet)
  return Object.entries(mediansOf(flooded)).flatMap(([name, taken]) => {
    const usual = before[name] ?? Number.POSITIVE_INFINITY
    const isSlow = taken > maxSlowdown * Math.max(usual, floorMs)
    return isSlow ? [`${name}: ${usual.toFixed(1)} → ${taken.toFixed(1)} ms`] : []
  })
}

// Takes so long that neither a median nor another try is needed.
const isHopeless = ({ times }: Measured) =>
  Object.values(times)
    .flat()
    .some((taken) => taken > hopelessMs)

// Control: without turns the last measurement fails.
describe.each([true, false])('in turns: %s', (inTurns) => {
  let flooded: Awaited<ReturnType<typeof openFloodedSale>>
  let neighbour: ReturnType<typeof openNeighbour>
  beforeAll(async () => {
    flooded = await openFloodedSale({ inTurns })
    if (!inTurns) vi.spyOn(RequestTurns.prototype, 'take').mockImplementation((_owner, begin) => begin())
    const { foreign, far } = flooded.callers
    neighbour = openNeighbour(flooded.sale.url, foreign.headers, far.headers)
    await neighbour.measure(rounds)
  })
  afterAll(async () => {
    vi.restoreAllMocks()
    neighbour?.close()
    await flooded?.sale.close()
  })

  async function slowDuring(requests: FloodRequest[], { count = 300, isExpected = false } = {}) {
    let slow: string[] = []
    for (let time = 0; time < tries; time++) {
      const quiet = await neighbour.measure(rounds)
      const { result } = await duringFlood(flooded.sale.url, requests, count, async () => {
        // Until all connections are open, and those requests answered that began with them.
        const first = await neighbour.measure(1)
        return isHopeless(first) ? first : neighbour.measure(rounds)
      })
      expect([...quiet.failures, ...result.failures]).toEqual([])
      slow = slowerIn(quiet, result)
      if (slow.length > 0 === isExpected || isHopeless(result)) break
    }
    return slow
  }

  test.each(inTurns ? mutationNames : [])('others don’t wait for a flood of %s', async (name) => {
    for (const key of ['shop', 'tester', 'door', 'page'] as const) {
      const request = await flooded.floodAs(name, flooded.flooders[key])
      expect(await slowDuring([request], { count: connections[name] }), key).toEqual([])
    }
  })

  test('others wait for many rows that one changes at once, unless in turns', async () => {
    const { floodAs, flooders, ofPayments } = flooded
    const requests = ofPayments.map((ticketId) => floodAs('updateAttendees', flooders.shop, ticketId))
    const slow = await slowDuring(await Promise.all(requests), { isExpected: !inTurns })
    if (inTurns) expect(slow).toEqual([])
    else expect(slow).not.toEqual([])
  })
})
