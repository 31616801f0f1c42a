import type { Caller } from './callers.ts'
import { graphqlAsk, isIntegration, type Row, type Rows } from './matrix-row.ts'
import { seesCatalogue, seesSale } from './oracle.ts'
import type { World } from './world.ts'

// Matrix rows of scans at the door and at the bar.

const ofIntegration: Row['sees'] = (caller, thing) => isIntegration(caller) && seesSale(caller, thing)

const soldFor = ({ things }: World, caller: Caller) =>
  things.ticket.find((thing) => seesSale(caller, thing))?.id ?? 'tkt_0'

// Each seller has a pending ticket, then a paid one.
const paidFor = ({ things }: World, caller: Caller) =>
  things.ticket.filter((thing) => seesSale(caller, thing))[1]?.id ?? 'tkt_0'

let scans = 0
// One time of all scans keeps responses comparable. Nobody scans long before a ticket is sold.
const scannedAt = new Date().toISOString()
const scanned = graphqlAsk('mutation', 'checkInTicket', '$input: CheckInTicketInput!', 'input: $input')
const scan = (ticket: object, more = {}) =>
  scanned({ input: { ticket, eventId: 'evt_0', ...more, scannedAt, idempotencyKey: `scan-${++scans}` } })
// Every scan is recorded, even a refused one, so that its repetition gets the same response.
const scanRow = { writes: true, notes: ['check_ins'] }

const uploaded = graphqlAsk('mutation', 'checkInTickets', '$input: CheckInTicketsInput!', 'input: $input')
const upload = (ticket: object, more = {}) =>
  uploaded({
    input: { scans: [{ ticket, eventId: 'evt_0', ...more, scannedAt, idempotencyKey: `scan-${++scans}` }] },
  })

const redeemed = graphqlAsk('mutation', 'redeemSupplement', '$input: RedeemSupplementInput!', 'input: $input')
// An absent supplement, so that the response does not depend on what was redeemed before.
const redeem = (ticket: object, supplementId = 'sup_0', eventId = 'evt_0') =>
  redeemed({ input: { ticket, eventId, supplementId, idempotencyKey: `bar-${++scans}` } })
const redeemRow = { writes: true, notes: ['redemptions'] }

export const doorRows: Rows = {
  'Mutation.checkInTicket(input.ticket.qrCode)': {
    ...scanRow,
    kind: 'code',
    sees: ofIntegration,
    ask: (_caller, qrCode) => scan({ qrCode }),
  },
  'Mutation.checkInTicket(input.ticket.ticketId)': {
    ...scanRow,
    kind: 'ticket',
    sees: ofIntegration,
    ask: (_caller, ticketId) => scan({ ticketId }),
  },
  'Mutation.checkInTicket(input.eventId)': {
    ...scanRow,
    kind: 'event',
    sees: (caller, thing) => isIntegration(caller) && seesCatalogue(caller, thing),
    ask: (caller, eventId, world) => scan({ ticketId: soldFor(world, caller) }, { eventId }),
  },
  'Mutation.checkInTickets(input.scans.ticket.qrCode)': {
    ...scanRow,
    kind: 'code',
    sees: ofIntegration,
    ask: (_caller, qrCode) => upload({ qrCode }),
  },
  'Mutation.checkInTickets(input.scans.ticket.ticketId)': {
    ...scanRow,
    kind: 'ticket',
    sees: ofIntegration,
    ask: (_caller, ticketId) => upload({ ticketId }),
  },
  'Mutation.checkInTickets(input.scans.eventId)': {
    ...scanRow,
    kind: 'event',
    sees: (caller, thing) => isIntegration(caller) && seesCatalogue(caller, thing),
    ask: (caller, eventId, world) => upload({ ticketId: soldFor(world, caller) }, { eventId }),
  },
  'Mutation.redeemSupplement(input.ticket.qrCode)': {
    ...redeemRow,
    kind: 'code',
    sees: ofIntegration,
    ask: (_caller, qrCode) => redeem({ qrCode }),
  },
  'Mutation.redeemSupplement(input.ticket.ticketId)': {
    ...redeemRow,
    kind: 'ticket',
    sees: ofIntegration,
    ask: (_caller, ticketId) => redeem({ ticketId }),
  },
  'Mutation.redeemSupplement(input.eventId)': {
    ...redeemRow,
    kind: 'event',
    sees: (caller, thing) => isIntegration(caller) && seesCatalogue(caller, thing),
    ask: (caller, eventId, world) => redeem({ ticketId: soldFor(world, caller) }, 'sup_0', eventId),
  },
  'Mutation.redeemSupplement(input.supplementId)': {
    ...redeemRow,
    kind: 'supplement',
    // One of its own organization may be redeemed or not.
    sees: (caller, thing) => (isIntegration(caller) && seesCatalogue(caller, thing) ? null : false),
    ask: (caller, supplementId, world) => redeem({ ticketId: paidFor(world, caller) }, supplementId),
  },
}
