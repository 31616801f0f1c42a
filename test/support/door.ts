import { expect } from 'vitest'
import {
  aLocation,
  anEvent,
  aRateNamed,
  type EventFile,
  type Given,
  inDays,
  type RateFile,
} from './factories.ts'
import { createTestDatabase, startGateway } from './harness.ts'
import { openSale, type Sale } from './sale.ts'

// Scans at the door and at the bar, by an integration.

type Problem = { code: string; path: string | null }
type ScannedTicket = {
  id: string
  inside: number
  admits: number
  firstEnteredAt: string | null
  lastEnteredAt: string | null
}
export type Scan = {
  outcome: string
  reasons: string[]
  people: number
  inside: number | null
  admits: number | null
  scannedAt: string
  firstEnteredAt: string | null
  forced: boolean
  replayed: boolean
  ticket: ScannedTicket | null
  errors?: Problem[]
}
export type Redemption = {
  outcome: string
  redeemed: number
  left: number | null
  replayed: boolean
  ticket: { id: string } | null
  errors?: Problem[]
}

/** A rate of a thousand places, and its price, named after it. */
export const aLargeRate = (name: string, given: Given<RateFile> = {}) =>
  aRateNamed(name, { availability: { sold: 0, available: 1000 }, ...given })

/** An event whose doors are open, unless it begins later. */
export const anEventAtDoor = (given: Given<EventFile> = {}, days = 0.1) =>
  anEvent({ location_id: undefined, start_date: inDays(days), end_date: inDays(days + 0.25), ...given })

/** Setting by which the doors of every event of these tests are open. */
export const openDoors = { ADMISSION_HOURS: '8760' }

const hourAt = (timeZone: string) =>
  Number(new Intl.DateTimeFormat('en', { hour: '2-digit', hourCycle: 'h23', timeZone }).format())
const zones = ['Pacific/Honolulu', 'America/Bogota', 'Africa/Abidjan', 'Asia/Karachi', 'Australia/Brisbane']

/** A venue where it is between these hours of the day, which are nine apart or more. */
export const aVenueBetween = (from: number, until: number, _id: string) =>
  aLocation({ _id, timezone: zones.find((zone) => hourAt(zone) >= from && hourAt(zone) < until) })

/** Venue where it is before nine in the morning, and an event there that begins in the evening of the same
 *  day: its doors open in more than an hour. */
export const laterToday = (given: Given<EventFile> = {}) => ({
  location: aVenueBetween(0, 9, 'loc_morning'),
  event: anEventAtDoor({ location_id: 'loc_morning', ...given }, 13.5 / 24),
})

let keys = 0
const nextKey = () => `scan_${keys++}`

// A desk that stands at an event asks for no ticket's.
type Desk = Pick<Sale, 'graphql' | 'integration'> & { eventId?: string }

/** Opens an event with this rate in two gateways on one database with many connections. Scanners take turns
 *  at the gateways. */
export async function openTwoDoors(
  rate: RateFile,
): Promise<{ sale: Sale; deskOf(index: number): Desk; close(): Promise<void> }> {
  const database = await createTestDatabase()
  const sale = await openSale({ rates: [rate], database })
  const other = await startGateway({ database })
  return {
    sale,
    deskOf: (index) => ({
      graphql: (index % 2 === 0 ? sale : other).graphql,
      integration: sale.integration,
      eventId: 'evt_1',
    }),
    async close() {
      await other.close()
      await sale.close()
      await database.drop()
    },
  }
}

async function answerOf<Result>(
  { graphql, integration }: Desk,
  field: string,
  [fields, headers]: [string, Record<string, string> | undefined],
  input: Record<string, unknown>,
): Promise<Result> {
  const declared = `mutation ($input: ${field[0]?.toUpperCase()}${field.slice(1)}Input!)`
  const refused = '... on Refused { errors { code path } }'
  const { data, errors } = await graphql<{ answer: Result }>(
    `${declared} { answer: ${field}(input: $input) { ${fields} ${refused} } }`,
    { input },
    headers ?? integration.v2,
  )
  expect(errors).toBeUndefined()
  if (!data) throw new Error('a scan has data')
  return data.answer
}

// Event of a ticket, for a scanner that stands at it; one that doesn't exist for a ticket that nobody has.
async function eventOf({ graphql, integration }: Desk, given: Record<string, unknown>): Promise<string> {
  type Found = { event: { id: string } }
  type Listed = { ticket: Found | null; tickets: { nodes: Found[] } | null }
  const { data } = await graphql<Listed>(
    `query ($code: String, $id: ID!) { ticket(id: $id) { event { id } }
      tickets(filter: { code: $code }, first: 1) { nodes { event { id } } } }`,
    { code: given.qrCode ?? 'none', id: given.ticketId ?? 'none' },
    integration.v2,
  )
  return (data?.ticket ?? data?.tickets?.nodes[0])?.event.id ?? 'evt_none'
}

/** Input of a scan with a key, at the event of its ticket, which is the one choice that it is. */
async function withTicket(desk: Desk, given: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { qrCode, ticketId, ...rest } = given
  const ticket = { ...(qrCode !== undefined && { qrCode }), ...(ticketId !== undefined && { ticketId }) }
  const eventId = given.eventId ?? desk.eventId ?? (await eventOf(desk, given))
  return { idempotencyKey: nextKey(), ticket, ...rest, eventId }
}

const scanFields = `replayed checkIn { outcome reasons people inside admits scannedAt firstEnteredAt forced
  ticket { id inside admits firstEnteredAt lastEnteredAt } }`

type Payload = { checkIn?: Omit<Scan, 'replayed'>; replayed?: boolean; errors?: Problem[] }

// A scan, with what its payload says beside it.
const toScan = ({ checkIn, ...beside }: Payload): Scan => ({ ...checkIn, ...beside }) as Scan

/** Scans a ticket at the door. */
export const scanTicket = async (
  desk: Desk,
  given: { direction?: 'IN' | 'OUT'; idempotencyKey?: string } & Record<string, unknown>,
  headers?: Record<string, string>,
): Promise<Scan> => {
  const fields = `... on CheckInTicketPayload { ${scanFields} }`
  return toScan(await answerOf(desk, 'checkInTicket', [fields, headers], await withTicket(desk, given)))
}

/** Uploads scans that were made offline. Returns their outcomes, or the errors of the whole batch. */
export async function uploadScans(
  desk: Desk,
  scans: ({ direction?: 'IN' | 'OUT'; idempotencyKey?: string } & Record<string, unknown>)[],
  headers?: Record<string, string>,
): Promise<Scan[] & { errors?: Problem[] }> {
  const fields = `... on CheckInTicketsPayload { results {
    ... on CheckInTicketPayload { ${scanFields} } ... on Refused { errors { code path } } } }`
  const answer = await answerOf<{ results?: Payload[]; errors?: Problem[] }>(
    desk,
    'checkInTickets',
    [fields, headers],
    { scans: await Promise.all(scans.map((scan) => withTicket(desk, scan))) },
  )
  return Object.assign((answer.results ?? []).map(toScan), answer.errors && { errors: answer.errors })
}

/** Redeems a supplement at the bar. */
export async function redeem(
  desk: Desk,
  given: Record<string, unknown>,
  headers?: Record<string, string>,
): Promise<Redemption> {
  const fields = '... on RedeemSupplementPayload { outcome redeemed left replayed ticket { id } }'
  return answerOf(desk, 'redeemSupplement', [fields, headers], await withTicket(desk, given))
}
