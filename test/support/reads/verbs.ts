import { eq } from 'drizzle-orm'
import { expect } from 'vitest'
import { assignPositions } from '../../../src/domain/change/assign-positions.ts'
import { webhookDeliveries, webhooks } from '../../../src/domain/change/table.ts'
import { queueMoved } from '../../../src/domain/delivery/move-dates.ts'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import { sandboxProvider } from '../../../src/domain/payment/sandbox.ts'
import { erasePerson } from '../../../src/domain/retention/erase-person.ts'
import { exportPerson } from '../../../src/domain/retention/export-person.ts'
import { processDueRefunds } from '../../../src/domain/sale/refund/request-provider-refund.ts'
import { sweepHolds } from '../../../src/domain/sale/release/expire-holds.ts'
import { closeSessions } from '../../../src/domain/sale/settle/provider-session.ts'
import { sendWebhooks } from '../../../src/domain/webhook/send/send-webhooks.ts'
import { anEntry, type Checkout, mustCheckOut } from '../checkouts.ts'
import { sendDeliveriesOnce } from '../deliveries.ts'
import { openPageBuyer } from '../payment-page-buyer.ts'
import type { Sale } from '../sale.ts'

/** A sale with a rate of any number of places, `rate_1` at `price_1` with `sup_1`, and keys of all kinds of callers. */
export type ReadWorld = { sale: Sale; publishable: Record<string, string> }

export type Act = () => Promise<unknown>
/** Prepares a request of a verb, uncounted, and returns it. */
export type Verb = (world: ReadWorld) => Act | Promise<Act>

let number = 0
/** A name that no other has. */
export const unique = () => `reads_${++number}`
const later = () => new Date(Date.now() - 1_000).toISOString()

const aTicket = () => {
  const name = unique()
  return anEntry('price_1', {
    full_name: `Ana ${name}`,
    email: `${name}@example.com`,
    phone: '+34600000001',
    supplements: [{ supplement_id: 'sup_1' }],
    warranty: true,
  })
}
export const hold = ({ sale }: ReadWorld, count = 2) =>
  mustCheckOut(sale, {
    ticket_rate_id: 'rate_1',
    tickets: Array.from({ length: count }, aTicket),
    referral_id: unique(),
    send_resourcers: true,
  })
export async function buy(world: ReadWorld, count = 2): Promise<Checkout> {
  const checkout = await hold(world, count)
  const answer = await openPageBuyer(world.sale).pay(checkout)
  expect(answer.statusCode, answer.body).toBeLessThan(400)
  return checkout
}
export const ticketIds = ({ tickets }: Checkout) => tickets.map(({ _id }) => _id)

type Caller = 'channel' | 'integration' | 'publishable'
const headersOf = ({ sale, publishable }: ReadWorld, caller: Caller) =>
  caller === 'integration' ? sale.integration.v2 : caller === 'channel' ? sale.channel : publishable

/** Asks GraphQL, and fails the test if it is refused. */
export const ask =
  (world: ReadWorld, caller: Caller, query: string, variables: Record<string, unknown> = {}): Act =>
  async () => {
    const { data, errors } = await world.sale.graphql<Record<string, { errors?: unknown } | null>>(
      query,
      variables,
      headersOf(world, caller),
    )
    expect(errors).toBeUndefined()
    for (const answer of Object.values(data ?? {})) expect(answer?.errors, query).toBeUndefined()
    return data
  }

/** A mutation with its input; `fields` of its payload. */
export const mutate = (
  world: ReadWorld,
  caller: Caller,
  name: string,
  fields: string,
  input: Record<string, unknown>,
): Act => {
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}`
  const query = `mutation ($input: ${type}Input!) { ${name}(input: $input) {
    ... on ${type}Payload { ${fields} } ... on Refused { errors { code path message } } } }`
  return ask(world, caller, query, { input })
}

export const attendee = () => ({ fullName: `Luz ${unique()}`, email: `${unique()}@example.com` })
export const items = () => [
  {
    ticketRateId: 'rate_1',
    tickets: [
      { priceId: 'price_1', attendee: attendee() },
      { priceId: 'price_1', attendee: attendee() },
    ],
  },
]
const ticketFields = `id status attendee { fullName } event { id name } ticketRate { id name } price { name }
  payment { id status } refunds { id status } checkIns(first: 5) { nodes { id } }`

// A caller has ten webhooks at most.
async function dropWebhooks({ sale: { db } }: ReadWorld) {
  await db.delete(webhookDeliveries)
  await db.delete(webhooks)
}

async function aWebhook(world: ReadWorld) {
  await dropWebhooks(world)
  const url = `https://example.com/${unique()}`
  const answer = (await mutate(world, 'integration', 'registerWebhook', 'webhook { id }', {
    url,
    idempotencyKey: unique(),
  })()) as {
    registerWebhook: { webhook: { id: string } }
  }
  return { webhookId: answer.registerWebhook.webhook.id }
}
const withWebhook =
  (name: string, fields: string, more: object = {}): Verb =>
  async (world) => {
    const { webhookId } = await aWebhook(world)
    return mutate(world, 'integration', name, fields, { webhookId, ...more })
  }

export const scan = (ticketId: string) => ({
  ticket: { ticketId },
  eventId: 'evt_1',
  idempotencyKey: unique(),
  scannedAt: new Date().toISOString(),
})
const lookUp =
  (path: (checkout: Checkout) => string, caller: Caller): Verb =>
  async (world) => {
    const url = path(await buy(world))
    return async () => {
      const answer = await world.sale.rest('GET', url, { headers: headersOf(world, caller) })
      expect(answer.statusCode, answer.body).toBe(200)
    }
  }
const readRest =
  (caller: Caller, url: string): Verb =>
  (world) =>
  async () => {
    const answer = await world.sale.rest('GET', url, { headers: headersOf(world, caller) })
    expect(answer.statusCode, answer.body).toBe(200)
  }
const list =
  (caller: Caller, query: string): Verb =>
  (world) =>
    ask(world, caller, query)

const nodesOfTickets = `{ nodes { ${ticketFields} } pageInfo { endCursor hasNextPage } }`

/** A request for each root field of GraphQL and each route of REST that reads or writes what was sold, and jobs. */
export const verbs: Record<string, Verb> = {
  'Mutation.checkout': (world) =>
    mutate(world, 'channel', 'checkout', 'payment { id } tickets { id }', {
      items: items(),
      idempotencyKey: unique(),
    }),
  'Mutation.checkout by a publishable key': (world) =>
    mutate(world, 'publishable', 'checkout', 'paymentUrl: ticketRates { id }', {
      items: items(),
      idempotencyKey: unique(),
    }),
  'Mutation.cancelPayment': async (world) => {
    const { payment_id } = await hold(world)
    return mutate(world, 'channel', 'cancelPayment', 'payment { id status tickets { id status } }', {
      paymentId: payment_id,
    })
  },
  'Mutation.sellAtBoxOffice': (world) =>
    mutate(world, 'integration', 'sellAtBoxOffice', 'payment { id } tickets { id }', {
      items: items(),
      method: 'CASH',
      idempotencyKey: unique(),
    }),
  'Mutation.issueInvitations': (world) =>
    mutate(world, 'integration', 'issueInvitations', 'payment { id } tickets { id }', {
      ticketRateId: 'rate_1',
      guests: [attendee(), attendee()],
      idempotencyKey: unique(),
    }),
  'Mutation.updateAttendees': async (world) => {
    const [ticketId] = ticketIds(await buy(world))
    return mutate(world, 'channel', 'updateAttendees', 'tickets { id }', {
      attendees: [{ ticketId, ...attendee() }],
    })
  },
  'Mutation.transferTicket': async (world) => {
    const [ticketId] = ticketIds(await buy(world))
    return mutate(world, 'channel', 'transferTicket', 'ticket { id }', { ticketId, attendee: attendee() })
  },
  'Mutation.resendTickets': async (world) => {
    const { payment_id } = await buy(world)
    return mutate(world, 'channel', 'resendTickets', 'tickets { id }', { of: { paymentId: payment_id } })
  },
  'Mutation.refundTickets': async (world) => {
    const { payment_id } = await buy(world)
    return mutate(world, 'integration', 'refundTickets', 'refunds { id status }', {
      of: { paymentId: payment_id },
      idempotencyKey: unique(),
    })
  },
  'Mutation.refundTickets of a ticket': async (world) => {
    const [ticketId] = ticketIds(await buy(world))
    return mutate(world, 'integration', 'refundTickets', 'refunds { id status }', {
      of: { ticketId },
      idempotencyKey: unique(),
    })
  },
  'Mutation.returnTicket': async (world) => {
    const [ticketId] = ticketIds(await buy(world))
    return mutate(world, 'channel', 'returnTicket', 'refund { id status }', { ticketId })
  },
  'Mutation.cancelTickets': async (world) => {
    const { payment_id } = await buy(world)
    return mutate(world, 'channel', 'cancelTickets', 'tickets { id status }', {
      of: { paymentId: payment_id },
    })
  },
  // Many keys at once, for which a planner that knows nothing may read all of an organization.
  'Mutation.resendTickets of twenty tickets': async (world) => {
    const { payment_id } = await buy(world, 20)
    return mutate(world, 'channel', 'resendTickets', 'tickets { id }', { of: { paymentId: payment_id } })
  },
  'Mutation.cancelTickets of twenty tickets': async (world) => {
    const { payment_id } = await buy(world, 20)
    return mutate(world, 'channel', 'cancelTickets', 'tickets { id status }', {
      of: { paymentId: payment_id },
    })
  },
  'Mutation.checkInTicket': async (world) => {
    const [ticketId = ''] = ticketIds(await buy(world))
    return mutate(world, 'integration', 'checkInTicket', 'checkIn { outcome ticket { id inside } }', {
      ...scan(ticketId),
    })
  },
  'Mutation.checkInTickets': async (world) => {
    const sold = await buy(world, 20)
    return mutate(
      world,
      'integration',
      'checkInTickets',
      'results { ... on CheckInTicketPayload { checkIn { outcome ticket { id inside } } } }',
      { scans: ticketIds(sold).map(scan) },
    )
  },
  'Mutation.checkInTickets made earlier': async (world) => {
    const sold = await buy(world, 20)
    const scans = ticketIds(sold).map((id) => ({ ...scan(id), scannedAt: later() }))
    return mutate(
      world,
      'integration',
      'checkInTickets',
      'results { ... on CheckInTicketPayload { checkIn { outcome ticket { id inside } } } }',
      { scans },
    )
  },
  'Mutation.redeemSupplement': async (world) => {
    const [ticketId] = ticketIds(await buy(world))
    return mutate(world, 'integration', 'redeemSupplement', 'outcome redeemed left ticket { id }', {
      ticket: { ticketId },
      eventId: 'evt_1',
      supplementId: 'sup_1',
      idempotencyKey: unique(),
    })
  },
  'Mutation.registerWebhook': async (world) => {
    await dropWebhooks(world)
    const url = `https://example.com/${unique()}`
    return mutate(world, 'integration', 'registerWebhook', 'webhook { id }', {
      url,
      idempotencyKey: unique(),
    })
  },
  'Mutation.updateWebhook': withWebhook('updateWebhook', 'webhook { id }', { types: ['PAYMENT_PAID'] }),
  'Mutation.enableWebhook': withWebhook('enableWebhook', 'webhook { id }'),
  'Mutation.disableWebhook': withWebhook('disableWebhook', 'webhook { id }'),
  'Mutation.rotateWebhookSecret': withWebhook('rotateWebhookSecret', 'webhook { id }', {
    idempotencyKey: 'once',
  }),
  'Mutation.deleteWebhook': withWebhook('deleteWebhook', 'webhookId'),
  'Mutation.redeliverWebhook': async (world) => {
    const { webhookId } = await aWebhook(world)
    await buy(world)
    const found = (await ask(
      world,
      'integration',
      '{ webhooks { id deliveries(first: 1) { nodes { change { id } } } } }',
    )()) as { webhooks: { id: string; deliveries: { nodes: { change: { id: string } }[] } }[] }
    const own = found.webhooks.find(({ id }) => id === webhookId)
    return mutate(world, 'integration', 'redeliverWebhook', 'delivery { status }', {
      webhookId,
      changeId: own?.deliveries.nodes[0]?.change.id,
    })
  },
  'Query.organizations': list('channel', '{ organizations { nodes { id } } }'),
  'Query.organization': list('channel', '{ organization(by: { id: "org_1" }) { id name } }'),
  'Query.viewer': list('channel', '{ viewer { kind } }'),
  'Query.event': list(
    'channel',
    '{ event(by: { id: "evt_1" }) { id ticketRates { id availability { available } } } }',
  ),
  'Query.event with its check-ins': list(
    'integration',
    '{ event(by: { id: "evt_1" }) { id checkIns(first: 5) { nodes { id } } } }',
  ),
  'Query.events': list('channel', '{ events { nodes { id ticketRates { id prices { id } } } } }'),
  'Query.ticketRate': list('channel', '{ ticketRate(id: "rate_1") { id availability { available } } }'),
  'Query.discounts': list('integration', '{ discounts { nodes { id code } } }'),
  'Query.payment': async (world) => {
    const { payment_id } = await buy(world)
    return ask(
      world,
      'channel',
      'query ($id: ID!) { payment(id: $id) { id status tickets { id status } refunds { id } } }',
      { id: payment_id },
    )
  },
  'Query.paymentByUrl': async (world) => {
    const { payment_url: url } = await buy(world)
    return ask(world, 'publishable', 'query ($url: String!) { paymentByUrl(url: $url) { status } }', { url })
  },
  'Query.ticket': async (world) => {
    const [id] = ticketIds(await buy(world))
    return ask(world, 'channel', `query ($id: ID!) { ticket(id: $id) { ${ticketFields} } }`, { id })
  },
  'Query.ticket for its organizer': async (world) => {
    const [id] = ticketIds(await buy(world))
    return ask(world, 'integration', `query ($id: ID!) { ticket(id: $id) { ${ticketFields} } }`, { id })
  },
  'Query.tickets': list('channel', `{ tickets(first: 20) ${nodesOfTickets} }`),
  'Query.tickets of an organization': list('integration', `{ tickets(first: 20) ${nodesOfTickets} }`),
  'Query.tickets of an event': list(
    'integration',
    `{ tickets(first: 20, filter: { eventIds: "evt_1" }) ${nodesOfTickets} }`,
  ),
  'Query.tickets of a rate, oldest first': list(
    'integration',
    `{ tickets(first: 20, orderBy: CREATED_ASC, filter: { ticketRateIds: "rate_1" }) ${nodesOfTickets} }`,
  ),
  'Query.tickets by payment': async (world) => {
    const { payment_id } = await buy(world)
    return ask(
      world,
      'integration',
      `query ($id: ID!) { tickets(first: 20, filter: { paymentId: $id }) ${nodesOfTickets} }`,
      { id: payment_id },
    )
  },
  'Query.tickets by name': async (world) => {
    const sold = await buy(world)
    return ask(
      world,
      'integration',
      `query ($name: String!) { tickets(first: 20, filter: { name: $name }) ${nodesOfTickets} }`,
      { name: sold.tickets[0]?.full_name },
    )
  },
  'Query.tickets by e-mail': async (world) => {
    const sold = await buy(world)
    return ask(
      world,
      'integration',
      `query ($email: String!) { tickets(first: 20, filter: { email: $email }) ${nodesOfTickets} }`,
      { email: sold.tickets[0]?.email },
    )
  },
  'Query.payments': list('channel', '{ payments(first: 20) { nodes { id status tickets { id } } } }'),
  'Query.payments of an organization': list(
    'integration',
    '{ payments(first: 20) { nodes { id status tickets { id } } } }',
  ),
  'Query.payments by e-mail': async (world) => {
    const sold = await buy(world)
    return ask(
      world,
      'integration',
      'query ($email: String!) { payments(first: 20, filter: { email: $email }) { nodes { id } } }',
      { email: sold.tickets[0]?.email },
    )
  },
  'Query.quoteCheckout': (world) =>
    ask(
      world,
      'publishable',
      `query { quoteCheckout(input: { items: [{ ticketRateId: "rate_1", tickets: [{ priceId: "price_1" }] }] }) {
        ... on CheckoutQuote { amounts { total { amount } } } ... on Refused { errors { code path message } } } }`,
    ),
  'Query.changes': list('channel', '{ changes(from: { at: NOW }) { nodes { id } pageInfo { endCursor } } }'),
  'Query.changes from the oldest': list(
    'integration',
    '{ changes(from: { at: OLDEST }, first: 20) { nodes { id type } pageInfo { endCursor } } }',
  ),
  'Query.webhooks': list('integration', '{ webhooks { id deliveries(first: 5) { nodes { status } } } }'),
  'Query.node': async (world) => {
    const [id] = ticketIds(await buy(world))
    return ask(world, 'channel', 'query ($id: ID!) { node(id: $id) { id } }', { id })
  },
  'Query.nodes': async (world) => {
    const ids = ticketIds(await buy(world, 10))
    return ask(world, 'channel', 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids })
  },
  'GET /events': readRest('channel', '/events?populate=*'),
  'GET /events/:eventId': readRest('channel', '/events/evt_1'),
  'GET /tickets': readRest('channel', '/tickets?limit=20'),
  'GET /integrations/tickets': readRest('integration', '/integrations/tickets?limit=20'),
  'POST /tickets/checkout': (world) => () =>
    mustCheckOut(world.sale, { ticket_rate_id: 'rate_1', tickets: [aTicket(), aTicket()] }),
  'GET /payments/:paymentId': lookUp(({ payment_id }) => `/payments/${payment_id}`, 'channel'),
  'GET /integrations/tickets/:ticketId': lookUp(
    (sold) => `/integrations/tickets/${ticketIds(sold)[0]}`,
    'integration',
  ),
  'GET /pay/:token': async (world) => {
    const sold = await hold(world)
    return () => openPageBuyer(world.sale).view(sold)
  },
  'GET /pay/:token once paid': async (world) => {
    const sold = await buy(world)
    return () => openPageBuyer(world.sale).view(sold)
  },
  'POST /pay/:token': async (world) => {
    const sold = await hold(world)
    return () => openPageBuyer(world.sale).pay(sold)
  },
  'POST /pay/:token to cancel': async (world) => {
    const sold = await hold(world)
    return () => openPageBuyer(world.sale).cancel(sold)
  },
  'job sweep': async (world) => {
    const sold = await hold(world)
    await openPageBuyer(world.sale).expire(sold)
    return () => sweepHolds(world.sale.db)
  },
  'job sweep of twenty holds': async (world) => {
    await sweepHolds(world.sale.db)
    for (const sold of await Promise.all(Array.from({ length: 20 }, () => hold(world))))
      await openPageBuyer(world.sale).expire(sold)
    return () => sweepHolds(world.sale.db)
  },
  'job ending sessions':
    ({ sale: { db } }) =>
    () =>
      closeSessions({ db, provider: sandboxProvider }),
  'job refunds':
    ({ sale: { db } }) =>
    () =>
      processDueRefunds(db, sandboxProvider),
  'job feed': async (world) => {
    await assignPositions(world.sale.db)
    await buy(world)
    return () => assignPositions(world.sale.db)
  },
  'job notices':
    ({ sale: { db } }) =>
    () =>
      queueMoved(db),
  'job delivery': async (world) => {
    await world.sale.db.update(deliveries).set({ status: 'skipped' }).where(eq(deliveries.status, 'pending'))
    await buy(world)
    return () => sendDeliveriesOnce(world.sale, {})
  },
  'job webhooks':
    ({ sale: { db } }) =>
    () =>
      sendWebhooks(db, { privateWebhooks: false, stopping: new AbortController().signal }),
  'command erase':
    async ({ sale: { db } }) =>
    () =>
      erasePerson(db, unique(), { mailFolder: '', force: true }),
  'command export-person':
    async ({ sale: { db } }) =>
    () =>
      exportPerson(db, unique()),
}
