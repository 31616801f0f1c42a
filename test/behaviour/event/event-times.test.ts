import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aCatalogue, anEvent } from '../../support/factories.ts'
import { openSale, type Sale } from '../../support/sale.ts'

// Events by the times that they start and take place: what a list finds, compared with a model over all events. Times
// are few, so that bounds of ranges meet those of events.

const hourMs = 3_600_000
const base = Date.parse('2031-03-28T00:00:00Z')
const at = (hour: number) => new Date(base + hour * hourMs).toISOString()

// Hours of start and end: nights past midnight, moments, and events that last for weeks.
const times: [id: string, start: number, end: number][] = [
  ...[-30, -6, 0, 6, 12, 18, 23, 24, 30].flatMap((start): [string, number, number][] =>
    [0, 1, 7, 24].map((length) => [`evt_${start + 40}_${length}`, start, start + length]),
  ),
  ['evt_season', -400, 12],
  ['evt_long', -2000, 6],
]

let sale: Sale
beforeAll(async () => {
  const events = times.map(([_id, start, end]) =>
    anEvent({ _id, start_date: at(start), end_date: at(end), ticket_rates: [] }),
  )
  sale = await openSale(aCatalogue({ events }))
})
afterAll(() => sale.close())

type Range = { from?: number; until?: number }

const shown = ({ from, until }: Range) => ({
  ...(from !== undefined && { from: at(from) }),
  ...(until !== undefined && { until: at(until) }),
})

async function found(filter: Record<string, unknown>): Promise<string[]> {
  const query =
    'query ($filter: EventFilter) { events(first: 100, filter: $filter) { totalCount nodes { id } } }'
  type Page = { events: { totalCount: number; nodes: { id: string }[] } }
  const { data, errors } = await sale.graphql<Page>(query, { filter }, sale.channel)
  expect(errors).toBeUndefined()
  expect(data?.events.totalCount).toBe(data?.events.nodes.length)
  return (data?.events.nodes ?? []).map(({ id }) => id).sort()
}

const idsWhere = (condition: (start: number, end: number) => boolean) =>
  times
    .filter(([, start, end]) => condition(start, end))
    .map(([id]) => id)
    .sort()

const isIn = (hour: number, { from = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY }: Range) =>
  from <= hour && hour < until

// An event of no length is at its start, any other at the times before its end.
const overlaps = (
  start: number,
  end: number,
  { from = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY }: Range,
) => start < until && (end > from || (start === end && start === from))

test('a night past midnight takes place on both days, and starts on one', async () => {
  const day = { from: at(0), until: at(24) }
  expect(await found({ during: day })).toContain('evt_63_7')
  expect(await found({ starts: day })).toContain('evt_63_7')
  const next = { from: at(24), until: at(48) }
  expect(await found({ during: next })).toContain('evt_63_7')
  expect(await found({ starts: next })).not.toContain('evt_63_7')
  // It is over when the range begins, or begins when it is over.
  expect(await found({ during: { from: at(30), until: at(31) } })).not.toContain('evt_63_7')
  expect(await found({ during: { from: at(22), until: at(23) } })).not.toContain('evt_63_7')
})

const hour = fc.constantFrom(-2000, -400, -30, -6, 0, 6, 7, 12, 13, 18, 23, 24, 25, 30, 31, 37, 60)
const range = fc.record({ from: hour, until: hour }, { requiredKeys: [] })

test('whatever is asked for, a list finds what starts and what takes place at these times', async () => {
  await fc.assert(
    fc.asyncProperty(fc.option(range), fc.option(range), async (starts, during) => {
      const ids = await found({
        ...(starts && { starts: shown(starts) }),
        ...(during && { during: shown(during) }),
      })
      expect(ids).toEqual(
        idsWhere((start, end) => isIn(start, starts ?? {}) && overlaps(start, end, during ?? {})),
      )
    }),
    { numRuns: 40 },
  )
})
