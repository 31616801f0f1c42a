import { type SQL, sql } from 'drizzle-orm'
import { type Dimension, fillUp, named } from '../dimensions.ts'

// Callers, their keys, and what a catalogue removes of a rate.

const asked = () =>
  named(
    ...['Query.viewer', 'Query.ticketRate', 'Query.quoteCheckout', 'Query.event', 'GET /events/:eventId'],
    ...['Mutation.checkout', 'Mutation.checkout by a publishable key', 'Mutation.updateAttendees'],
    ...['POST /pay/:token', 'GET /pay/:token', 'Mutation.checkInTicket', 'Query.ticket for its organizer'],
  )

const copies = (name: string, table: string, values: Record<string, string>, like: SQL): Dimension => ({
  name,
  tables: [table],
  async open(world) {
    return { grow: async (to) => void (await fillUp(world, { to, table, values, like })), verbs: asked() }
  },
})
const removed = (table: string) =>
  copies(
    `${table} that a catalogue has removed`,
    table,
    { id: `'${table}_' || n`, position: 'n', removed: 'true' },
    sql`ticket_rate_id = 'rate_1'`,
  )

export const dimensions: Dimension[] = [
  copies(
    'integrations of other organizations',
    'integrations',
    { id: `'int_' || n`, organization_id: `'org_' || n` },
    sql`true`,
  ),
  copies(
    'keys of a channel',
    'keys',
    { id: `'key_' || n`, revoked_at: 'now()' },
    sql`channel_id is not null`,
  ),
  copies(
    'former secrets of an organization',
    'organization_secrets',
    { id: `'sec_' || n`, hash: `'hash_' || n`, revoked_at: 'now()' },
    sql`true`,
  ),
  copies('venues', 'locations', { id: `'loc_' || n` }, sql`true`),
  removed('prices'),
  removed('supplements'),
  {
    ...removed('questions'),
    async open(world) {
      await world.sale.db.execute(sql`insert into questions (id, ticket_rate_id, position, label)
        values ('que_1', 'rate_1', 0, 'Size')`)
      return removed('questions').open(world)
    },
  },
]
