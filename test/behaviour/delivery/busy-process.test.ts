import { setTimeout } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { drawTicket, yieldToRequests } from '../../../src/domain/delivery/draw-ticket.ts'
import { documentsToSend, type TicketDocument } from '../../../src/domain/delivery/find-documents.ts'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import { buyDeliverable, deliveryCatalogue } from '../../support/deliveries.ts'
import { sharedSale } from '../../support/sale.ts'

// Deliveries of a process that requests keep busy.

let document: TicketDocument
const sale = sharedSale(deliveryCatalogue)
beforeAll(async () => {
  await buyDeliverable(sale, [{}])
  const [delivery] = await sale.db.select().from(deliveries)
  const [found] = delivery ? await documentsToSend(sale.db, delivery) : []
  if (!found) throw new Error('a ticket was bought')
  document = found
  // Loads the fonts.
  await drawTicket(document)
})

/** Keeps the process busy with requests of 20 ms, one after the other. */
function keepBusy() {
  let isOver = false
  const working = (async () => {
    while (!isOver) {
      const end = performance.now() + 20
      while (performance.now() < end);
      await setTimeout(1)
    }
  })()
  return async () => {
    isOver = true
    await working
  }
}

/** Draws tickets as deliveries do, and lists the pauses before them in milliseconds. */
async function pausesOf(turns: number): Promise<number[]> {
  const pauses: number[] = []
  for (let turn = 0; turn < turns; turn++) {
    // The mail server's answer. Shorter intervals are not measured.
    await setTimeout(60)
    const begun = performance.now()
    await yieldToRequests()
    pauses.push(performance.now() - begun)
    await drawTicket(document)
  }
  return pauses
}

test('tickets have their turn while requests keep the process busy', { retry: 3 }, async () => {
  const stop = keepBusy()
  const pauses = await pausesOf(9).finally(stop)
  // Requests have theirs: deliveries do pause.
  expect(pauses.filter((pause) => pause > 15).length).toBeGreaterThan(4)
  expect(pauses.filter((pause) => pause < 170).length).toBeGreaterThan(4)
})

test('nothing waits in a process that has time', { retry: 3 }, async () => {
  const pauses = await pausesOf(5)
  expect(pauses.filter((pause) => pause < 10).length).toBeGreaterThan(2)
})
