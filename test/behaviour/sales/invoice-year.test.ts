// Runs in: pglite

import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aCatalogue, aLocation, anEvent, aPrice, aRate } from '../../support/factories.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import * as refunds from '../../support/refunds.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { stubProvider } from '../../support/stub-provider.ts'
import { buyTickets, ticketOf } from '../../support/tickets.ts'

// The year of an invoice is that of the day at the venue. The database's clock is moved, in its only session: names are
// looked up in the schema `clock` before PostgreSQL's own.

const venues = { mad: 'Europe/Madrid', nyc: 'America/New_York', kir: 'Pacific/Kiritimati' }

let sale: Sale
beforeAll(async () => {
  const places = Object.entries(venues)
  sale = await openSale(
    aCatalogue({
      locations: places.map(([name, timezone]) => aLocation({ _id: `loc_${name}`, timezone })),
      events: [...places.map(([name]) => name), 'utc'].map((name) =>
        anEvent({
          _id: `evt_${name}`,
          location_id: name === 'utc' ? null : `loc_${name}`,
          ...{ start_date: '2099-06-01T20:00:00Z', end_date: '2099-06-02T02:00:00Z' },
          ticket_rates: [aRate({ _id: `rate_${name}`, prices: [aPrice({ _id: `price_${name}` })] })],
        }),
      ),
    }),
    { provider: stubProvider({ refund: async ({ id }) => ({ kind: 'succeeded', reference: id }) }) },
  )
  await sale.db.execute(sql`create schema clock`)
})
afterAll(() => sale.close())

async function setClock(moment: string) {
  const text = `create or replace function clock.now() returns timestamptz stable language sql
    as $$ select timestamptz '${moment}' $$`
  await sale.db.execute(sql.raw(text))
  await sale.db.execute(sql`set search_path = clock, public, pg_catalog`)
}

const buy = async (name: string) => buyTickets(sale, { rate: name })
const yearOf = (reference: string | null | undefined) => reference?.replace(/-\d+$/, '')
async function invoiceOf(name: string) {
  const row = await refunds.ticketRow(sale, ticketOf(await buy(name)))
  // Control: it is the year of the day that the sale has.
  expect(yearOf(row?.invoiceReference)).toBe(`F${row?.soldOn?.slice(0, 4)}`)
  return row?.invoiceReference
}

test('the year of an invoice is that of the day of the sale, east and west of UTC', async () => {
  await setClock('2026-12-31T23:30:00Z')
  expect(await invoiceOf('mad')).toBe('F2027-000001')
  expect(await invoiceOf('nyc')).toBe('F2026-000001')
  expect(await invoiceOf('utc')).toBe('F2026-000002')
  expect(await invoiceOf('kir')).toBe('F2027-000002')
  await setClock('2027-01-01T04:59:00Z')
  expect(await invoiceOf('nyc')).toBe('F2026-000003')
  expect(await invoiceOf('utc')).toBe('F2027-000003')
  await setClock('2026-12-31T10:00:00Z')
  expect(await invoiceOf('kir')).toBe('F2027-000004')
  expect(await invoiceOf('mad')).toBe('F2026-000004')
  await setClock('2027-07-01T10:00:00Z')
  expect(await invoiceOf('nyc')).toBe('F2027-000005')
})

test('payments and refunds of several venues that are written together each have their year, without gaps', async () => {
  await setClock('2028-12-31T23:30:00Z')
  const names = [...Object.keys(venues), 'utc', ...Object.keys(venues), 'utc']
  const bought = await Promise.all(names.map(buy))
  const rows = await Promise.all(bought.map((checkout) => refunds.ticketRow(sale, ticketOf(checkout))))
  expect(rows.map((row) => yearOf(row?.invoiceReference))).toEqual(
    rows.map((row) => `F${row?.soldOn?.slice(0, 4)}`),
  )
  expect(new Set(rows.map((row) => yearOf(row?.invoiceReference)))).toEqual(new Set(['F2028', 'F2029']))
  await Promise.all(bought.map((checkout) => refunds.refundTicket(sale, ticketOf(checkout))))
  const back = await Promise.all(bought.map((checkout) => refunds.ticketRow(sale, ticketOf(checkout))))
  expect(back.map((row) => yearOf(row?.correctiveInvoiceReferences[0]))).toEqual(
    rows.map((row) => `R${row?.soldOn?.slice(0, 4)}`),
  )
  expect(await brokenInvariants(sale.db)).toEqual([])
})
