import { type SQL, sql } from 'drizzle-orm'
import { tickets } from '../../../../src/domain/ticket/table.ts'
import { type Dimension, fillUp, named } from '../dimensions.ts'
import { ask, buy, type ReadWorld, type Verb } from '../verbs.ts'
import { copyRows } from '../worlds.ts'

type Caller = 'channel' | 'integration'
type Sold = typeof tickets.$inferSelect

/** Sells a ticket, by which lists are asked for. */
async function sellOne(world: ReadWorld): Promise<Sold> {
  const { payment_id } = await buy(world, 1)
  const [ticket] = await world.sale.db.select().from(tickets).where(sql`payment_id = ${payment_id}`)
  if (!ticket) throw new Error('a ticket was sold')
  return ticket
}

const list = (caller: Caller, name: string, filter: object): [string, Verb] => {
  const type = name === 'tickets' ? 'TicketFilter' : 'PaymentFilter'
  const query = `query ($filter: ${type}) { ${name}(first: 5, filter: $filter) { nodes { id } } }`
  return [`${name} of a ${caller}: ${Object.keys(filter)}`, (world) => ask(world, caller, query, { filter })]
}

// Lists of what has a key of its own.
const listsOf = (
  caller: Caller,
  { paymentId, qrCode: code, email, referralId }: Sold,
): Record<string, Verb> =>
  Object.fromEntries([
    list(caller, 'tickets', { paymentId }),
    list(caller, 'tickets', { code }),
    list(caller, 'tickets', { email }),
    list(caller, 'tickets', { email, status: 'ACTIVATED' }),
    list(caller, 'tickets', { referralId }),
    list(caller, 'tickets', { eventIds: 'evt_1' }),
    list(caller, 'tickets', { eventIds: 'evt_1', saleType: 'INVITATION' }),
    list(caller, 'tickets', { ticketRateIds: 'rate_1' }),
    list(caller, 'payments', { email }),
    list(caller, 'payments', { email, status: 'PAID' }),
    list(caller, 'payments', { eventIds: 'evt_1' }),
  ])

const rates = (name: string, values: Record<string, string>): Dimension => ({
  name,
  tables: ['ticket_rates'],
  async open(world) {
    const sold = await sellOne(world)
    return {
      async grow(to) {
        const ids = { id: `'rate_x' || n`, slug: `'slug_' || n`, position: 'n' }
        const like = sql`event_id = 'evt_1'`
        await fillUp(world, { to, table: 'ticket_rates', values: { ...ids, ...values }, like })
      },
      verbs: { ...listsOf('channel', sold), ...listsOf('integration', sold) },
    }
  },
})

/** Fills up who may sell for whom: copies of what the world has, with another channel or organization. */
async function fillSellers(world: ReadWorld, to: number, counted: SQL, values: Record<string, string>) {
  const shop = sql`(select id from channels where name = 'Shop')`
  const isOwn = sql`channel_id = ${shop} and organization_id = 'org_1'`
  const [table = '', column = ''] = values.organization_id
    ? ['organizations', 'organization_id']
    : ['channels', 'channel_id']
  const filled = await fillUp(world, {
    to,
    table,
    values: { id: values[column] ?? '', slug: `'slug_' || n`, name: `'other'` },
    like: values.organization_id ? sql`id = 'org_1'` : sql`id = ${shop}`,
    counted,
  })
  if (!filled) return
  for (const table of ['channel_organizations', 'grants'])
    await copyRows(world.sale.db, table, values, { each: filled.each, like: isOwn })
  // As the trigger does, which copies don't run.
  await world.sale.db.execute(sql`update channels set revision = default`)
}

export const dimensions: Dimension[] = [
  rates('rates of an event', {}),
  rates('removed rates of an event', { removed: 'true' }),
  {
    name: 'organizations of a channel',
    tables: ['organizations', 'channel_organizations', 'grants'],
    async open(world) {
      const sold = await sellOne(world)
      return {
        grow: (to) => fillSellers(world, to, sql`true`, { organization_id: `'org_x' || n` }),
        verbs: {
          ...listsOf('channel', sold),
          ...listsOf('integration', sold),
          ...named('Query.viewer', 'Query.event', 'Query.ticketRate', 'Query.ticket', 'Query.payment'),
          ...named(
            'Query.changes',
            'Mutation.checkout',
            'POST /tickets/checkout',
            'GET /payments/:paymentId',
          ),
        },
      }
    },
  },
  {
    name: 'channels of an organization',
    tables: ['channels', 'channel_organizations', 'grants'],
    async open(world) {
      const sold = await sellOne(world)
      return {
        grow: (to) => fillSellers(world, to, sql`true`, { channel_id: `'chn_x' || n` }),
        verbs: {
          ...listsOf('channel', sold),
          ...listsOf('integration', sold),
          ...named('Query.ticket for its organizer', 'Mutation.sellAtBoxOffice', 'Mutation.checkInTicket'),
        },
      }
    },
  },
  {
    name: 'payments of an address',
    tables: ['payments', 'tickets'],
    async open(world) {
      const sold = await sellOne(world)
      return {
        async grow(to) {
          const payment_id = `'pay_x' || n`
          const created_at = `now() - n * interval '1 second'`
          const values = {
            id: `'tkt_x' || n`,
            payment_id,
            created_at,
            qr_code: `'qr_' || n`,
            document_token: `'doc_' || n`,
          }
          const like = sql`email = ${sold.email}`
          const filled = await fillUp(world, { to, table: 'tickets', values, like })
          const ofPayment = sql`id = ${sold.paymentId}`
          const payment = { id: payment_id, page_token: `'token_' || n`, created_at }
          if (filled)
            await copyRows(world.sale.db, 'payments', payment, { each: filled.each, like: ofPayment })
        },
        verbs: { ...listsOf('channel', sold), ...listsOf('integration', sold) },
      }
    },
  },
]
