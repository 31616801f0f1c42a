import { sql } from 'drizzle-orm'
import { scanTicket } from '../../door.ts'
import { type Dimension, fillUp, named } from '../dimensions.ts'
import { ask, buy, mutate, type ReadWorld, scan, ticketIds, unique } from '../verbs.ts'

// Scans of one ticket.
const checkIn = (world: ReadWorld, ticketId: string, count: number, at: () => string) =>
  mutate(
    world,
    'integration',
    'checkInTickets',
    'results { ... on CheckInTicketPayload { checkIn { outcome } } }',
    {
      scans: Array.from({ length: count }, (_, index) => ({
        ...scan(ticketId),
        scannedAt: at(),
        direction: index % 2 ? 'OUT' : 'IN',
      })),
    },
  )
const now = () => new Date().toISOString()
const anHourAgo = () => new Date(Date.now() - 60 * 60_000).toISOString()

const redeem = (world: ReadWorld, ticketId: string) =>
  mutate(world, 'integration', 'redeemSupplement', 'outcome redeemed left', {
    ticket: { ticketId },
    eventId: 'evt_1',
    supplementId: 'sup_1',
    idempotencyKey: unique(),
  })

export const dimensions: Dimension[] = [
  {
    name: 'check-ins of a ticket',
    tables: ['check_ins'],
    async open(world) {
      const [ticketId = ''] = ticketIds(await buy(world, 1))
      await scanTicket(world.sale, { ticketId })
      return {
        async grow(to) {
          // A scan each second, by turns in and out, until now.
          const values = {
            id: `'chk_' || n`,
            idempotency_key: `'key_' || n`,
            direction: `case when n % 2 = 0 then 'in' else 'out' end::check_in_direction`,
            scanned_at: `now() - n * interval '1 second'`,
            created_at: `now() - n * interval '1 second'`,
          }
          await fillUp(world, { to, table: 'check_ins', values, like: sql`ticket_id = ${ticketId}` })
        },
        verbs: {
          'a scan': (world) => checkIn(world, ticketId, 1, now),
          'a scan made earlier': (world) => checkIn(world, ticketId, 1, anHourAgo),
          'twenty scans made earlier': (world) => checkIn(world, ticketId, 20, anHourAgo),
          'Query.ticket': (world) =>
            ask(
              world,
              'integration',
              'query ($id: ID!) { ticket(id: $id) { checkIns(first: 5) { nodes { id } } } }',
              {
                id: ticketId,
              },
            ),
          ...named('Query.event with its check-ins', 'Mutation.checkInTicket'),
        },
      }
    },
  },
  {
    name: 'redemptions of a ticket',
    tables: ['redemptions'],
    async open(world) {
      const [ticketId = ''] = ticketIds(await buy(world, 1))
      await redeem(world, ticketId)()
      return {
        async grow(to) {
          const values = { idempotency_key: `'key_' || n`, created_at: `now() - n * interval '1 second'` }
          await fillUp(world, { to, table: 'redemptions', values, like: sql`ticket_id = ${ticketId}` })
        },
        verbs: {
          'a redemption': (world) => redeem(world, ticketId),
          ...named('Mutation.redeemSupplement'),
        },
      }
    },
  },
]
