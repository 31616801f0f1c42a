// Runs in: postgres

import { inArray } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { changes } from '../../../src/domain/change/table.ts'
import { aLargeRate, anEventAtDoor, scanTicket, uploadScans } from '../../support/door.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { openSale } from '../../support/sale.ts'
import { buyTickets, ticketOf } from '../../support/tickets.ts'

test('200 scans cost as many statements as one', async () => {
  const event = anEventAtDoor({ _id: 'evt_1', ticket_rates: [aLargeRate('single')] }, 0.1)
  const sale = await openSale({ events: [event] })
  const sold = await Promise.all(
    [1, 50, 50, 50, 50].map((count) => buyTickets(sale, { rate: 'single', count })),
  )
  const [alone = '', ...ids] = sold.flatMap((checkout) =>
    checkout.tickets.map((_, index) => ticketOf(checkout, index)),
  )
  const at = new Date(Date.now() - 60_000).toISOString()
  const upload = async (given: string[], more = {}) => {
    sale.statements.reset()
    const answers = await uploadScans(
      sale,
      given.map((ticketId) => ({ ticketId, eventId: 'evt_1', scannedAt: at, ...more })),
    )
    expect(answers.map(({ outcome }) => outcome)).toEqual(given.map(() => 'OK'))
    return [...sale.statements]
  }
  // The key; the transaction: find, lock, record, count, the last changes and whom to tell, tell; the
  // tickets that are shown.
  const one = await upload([alone])
  expect(one).toHaveLength(9)
  expect(await upload(ids)).toHaveLength(one.length)
  const rows = await sale.db.select().from(changes).where(inArray(changes.subjectId, ids))
  expect(rows.filter(({ type }) => type === 'ticket.entered')).toHaveLength(200)
  // For exits, those who came or went since are read as well.
  expect(await upload(ids, { direction: 'OUT' })).toHaveLength(one.length + 1)
  expect(await brokenInvariants(sale.db)).toEqual([])
  await sale.close()
})

test('single scans at once are written together, each with its own outcome', async () => {
  const event = anEventAtDoor({ _id: 'evt_1', ticket_rates: [aLargeRate('single')] }, 0.1)
  const sale = await openSale({ events: [event] })
  const { tickets } = await buyTickets(sale, { rate: 'single', count: 40 })
  sale.statements.reset()
  // Each ticket twice: of two scans of one, whoever is first is let in.
  const answers = await Promise.all(
    [...tickets, ...tickets].map(({ _id }) => scanTicket(sale, { ticketId: _id, eventId: 'evt_1' })),
  )
  const inserts = sale.statements.filter((text) => text.includes('insert into "check_ins"'))
  expect(inserts.length).toBeGreaterThan(0)
  expect(inserts.length).toBeLessThan(10)
  const outcomes = answers.map(({ outcome }) => outcome)
  expect(outcomes.filter((outcome) => outcome === 'OK')).toHaveLength(40)
  expect(outcomes.filter((outcome) => outcome === 'NO_ENTRIES_LEFT')).toHaveLength(40)
  // The same key at once is one scan.
  const [ticket] = (await buyTickets(sale, { rate: 'single' })).tickets
  const same = { ticketId: ticket?._id, eventId: 'evt_1', idempotencyKey: 'same' }
  const repeated = await Promise.all([1, 2, 3].map(() => scanTicket(sale, same)))
  expect(repeated.map(({ outcome, replayed }) => [outcome, replayed]).sort()).toEqual([
    ['OK', false],
    ['OK', true],
    ['OK', true],
  ])
  expect(await brokenInvariants(sale.db)).toEqual([])
  await sale.close()
})
