import { sql } from 'drizzle-orm'
import { deletionsOf } from '../../../../src/domain/retention/delete-old.ts'
import { type Dimension, fillUp, named } from '../dimensions.ts'
import { ask, attendee, buy, hold, mutate, type ReadWorld, ticketIds, type Verb } from '../verbs.ts'

// What sales leave behind, besides what the walk of reads.test.ts grows.

const keepNothingOld = {
  retainWebhookDays: 1,
  retainChangeMonths: 1,
  retainCheckInMonths: 1,
  retainProviderEventDays: 1,
  retainUnpaidDays: 1,
  retainPersonalMonths: 1,
  retainMailDays: 1,
}
// A batch of each table of which an organization may have old rows, where it has none.
const deleteOld = (world: ReadWorld) => async () => {
  for (const { deleteBatch } of await deletionsOf(world.sale.db, 'org_1', keepNothingOld)) await deleteBatch()
}

const readTicket = (world: ReadWorld, id: string | undefined) =>
  ask(
    world,
    'channel',
    'query ($id: ID!) { ticket(id: $id) { id documentUrl payment { id refunds { id } } } }',
    { id },
  )
const transfer = (world: ReadWorld, ticketId: string | undefined) =>
  mutate(world, 'channel', 'transferTicket', 'ticket { id }', { ticketId, attendee: attendee() })

/** Rows of a table that belong to a payment of the world, as SQL selects them by the number `n`. */
const ofPayment = (
  name: string,
  table: string,
  columns: string,
  select: string,
  verbs: Record<string, Verb>,
): Dimension => ({
  name,
  tables: [table],
  async open(world) {
    const { db } = world.sale
    const { payment_id } = await hold(world)
    const insert = (n: number) =>
      db.execute(sql`insert into ${sql.identifier(table)} (organization_id, payment_id, ${sql.raw(columns)})
        select 'org_1', ${payment_id}, ${sql.raw(select)} from (select ${n}::integer as n) as numbers`)
    await insert(0)
    const values = Object.fromEntries(
      columns.split(', ').map((column, index) => [column, select.split(', ')[index] ?? '']),
    )
    return {
      grow: async (to) =>
        void (await fillUp(world, { to, table, values, like: sql`payment_id = ${payment_id}` })),
      verbs,
    }
  },
})

export const dimensions: Dimension[] = [
  ofPayment(
    'requests with an idempotency key',
    'idempotency_keys',
    'id, request_hash',
    `'key_' || n, 'hash'`,
    {
      ...named('Mutation.checkout', 'Mutation.cancelPayment', 'POST /tickets/checkout', 'job sweep'),
    },
  ),
  ofPayment(
    'events of the provider',
    'provider_events',
    'provider, id, type',
    `'stripe', 'evt_' || n, 'paid'`,
    {
      ...named('POST /pay/:token', 'Query.payment'),
      'a batch of each deletion of old rows': deleteOld,
    },
  ),
  ofPayment(
    'sessions that are open',
    'open_sessions',
    'provider, session_id, due_at',
    `'sandbox', 'cs_' || n, now() + interval '1 hour'`,
    named('job ending sessions', 'Mutation.cancelPayment', 'GET /pay/:token', 'POST /pay/:token'),
  ),
  {
    name: 'refunds that were made',
    tables: ['refunds'],
    async open(world) {
      const { payment_id } = await buy(world)
      await mutate(world, 'integration', 'refundTickets', 'refunds { id }', {
        of: { paymentId: payment_id },
        idempotencyKey: 'made',
      })()
      return {
        async grow(to) {
          const values = { id: `'ref_' || n`, status: `'succeeded'`, idempotency_key: 'null' }
          await fillUp(world, { to, table: 'refunds', values, like: sql`payment_id = ${payment_id}` })
        },
        verbs: {
          ...named(
            'Mutation.refundTickets',
            'Mutation.returnTicket',
            'Mutation.cancelTickets',
            'job refunds',
          ),
          ...named('Query.ticket', 'Query.payment', 'GET /integrations/tickets/:ticketId'),
        },
      }
    },
  },
  {
    name: 'former documents of a ticket',
    tables: ['retired_documents'],
    async open(world) {
      const [ticketId] = ticketIds(await buy(world))
      await transfer(world, ticketId)()
      return {
        async grow(to) {
          const values = { token: `'doc_' || n` }
          await fillUp(world, { to, table: 'retired_documents', values, like: sql`ticket_id = ${ticketId}` })
        },
        verbs: {
          ...named('Mutation.transferTicket', 'Mutation.resendTickets'),
          'a look at the ticket': (world) => readTicket(world, ticketId),
        },
      }
    },
  },
  {
    name: 'subjects of which changes were deleted',
    tables: ['dropped_sequences'],
    open: async (world) => ({
      async grow(to) {
        await world.sale.db.execute(sql`insert into dropped_sequences (organization_id, subject_id, sequence)
          select 'org_1', 'tkt_' || n, 5 from generate_series(1, ${to}::integer) as n on conflict do nothing`)
      },
      verbs: {
        ...named(
          'Mutation.checkout',
          'Mutation.updateAttendees',
          'POST /pay/:token',
          'Query.changes',
          'job feed',
        ),
        'a batch of each deletion of old rows': deleteOld,
      },
    }),
  },
  {
    name: 'past events',
    tables: ['anonymized_events'],
    open: async (world) => ({
      async grow(to) {
        const values = {
          id: `'evt_past_' || n`,
          slug: `'past_' || n`,
          start_date: `now() - interval '3 years'`,
          end_date: `now() - interval '3 years'`,
        }
        const ids = { event_id: `'evt_past_' || n`, end_date: `now() - interval '3 years'` }
        const like = sql`id = 'evt_1'`
        const missing = await fillUp(world, {
          to,
          table: 'events',
          values,
          like,
          counted: sql`id like 'evt_past_%'`,
        })
        if (missing)
          await world.sale.db.execute(sql`insert into anonymized_events (organization_id, event_id, end_date)
            select 'org_1', ${sql.raw(ids.event_id)}, ${sql.raw(ids.end_date)} from ${missing.each}`)
      },
      verbs: named(
        'Query.event',
        'Mutation.checkout',
        'Query.tickets of an event',
        'job notices',
        'command erase',
      ),
    }),
  },
]
