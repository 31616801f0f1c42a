import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { assignPositions } from '../../src/domain/change/assign-positions.ts'
import { sandboxProvider } from '../../src/domain/payment/sandbox.ts'
import { processDueRefunds } from '../../src/domain/sale/refund/request-provider-refund.ts'
import { sweepHolds } from '../../src/domain/sale/release/expire-holds.ts'
import { sendWebhooks } from '../../src/domain/webhook/send/send-webhooks.ts'
import { aBuyer, aGuest, issueInvitations, sellAtBoxOffice } from '../support/box-office.ts'
import { openClusterSale, serverOf } from '../support/cluster.ts'
import { openDoors, redeem, scanTicket, uploadScans } from '../support/door.ts'
import { integrationHeaders } from '../support/factories.ts'
import { openPageBuyer } from '../support/payment-page-buyer.ts'
import { cancelPayment, cancelTickets, refundTickets } from '../support/refunds.ts'
import type { Sale } from '../support/sale.ts'
import { holdTickets, ticketOf } from '../support/tickets.ts'
import { startReceiver, webhooksOf } from '../support/webhooks.ts'

// Each request of an organization goes to the one server that has its rows, as the service prepares its statements, and
// commits there without a second phase.

let cluster: Awaited<ReturnType<typeof openClusterSale>>
/** The sale of one organization: its integration is that of the sale. */
let sales: Map<string, Sale>
beforeAll(async () => {
  cluster = await openClusterSale({
    settings: { ...openDoors, WEBHOOKS_TO_PRIVATE_ADDRESSES: 'true' },
  })
  const { sale, organizationIds } = cluster
  const own = await Promise.all(
    organizationIds.map(
      async (id): Promise<[string, Sale]> => [
        id,
        { ...sale, integration: await integrationHeaders(sale.db, id) },
      ],
    ),
  )
  sales = new Map(own)
})
afterAll(() => cluster?.close())

const saleOf = (id: string): Sale => sales.get(id) as Sale
const buy = (id: string, headers = {}, count = 1) =>
  holdTickets(cluster.sale, {
    rate: id,
    count,
    entry: { supplements: [{ supplement_id: `sup_${id}` }] },
    headers,
  })
const pay = async (checkout: Parameters<ReturnType<typeof openPageBuyer>['pay']>[0]) => {
  expect((await openPageBuyer(cluster.sale).pay(checkout)).statusCode).toBeLessThan(400)
}
async function bought(id: string, count = 1) {
  const checkout = await buy(id, {}, count)
  await pay(checkout)
  return checkout
}
const read = async (sale: Sale, query: string, headers: Record<string, string>) => {
  const { data, errors } = await sale.graphql<Record<string, object | null>>(query, {}, headers)
  expect(errors).toBeUndefined()
  for (const value of Object.values(data ?? {})) expect(value).not.toBeNull()
  return data ?? {}
}
const isDone = (answer: { errors?: unknown }) => expect(answer.errors).toBeUndefined()

// Prepares work of an organization, and returns it.
type Verb = (id: string) => Promise<() => Promise<unknown>>

const verbs: Record<string, Verb> = {
  'a checkout': async (id) => () => buy(id),
  'a checkout under a key': async (id) => () => buy(id, { 'idempotency-key': crypto.randomUUID() }),
  'a checkout of the last place': async (id) => {
    await cluster.sale.db.execute(sql`update stock set capacity = sold_before + sold + held + 1
      where organization_id = ${id} and id = ${`rate_${id}`} and mode = 'live'`)
    return async () => {
      await buy(id)
      await cluster.sale.db.execute(sql`update stock set capacity = 1000
        where organization_id = ${id} and id = ${`rate_${id}`} and mode = 'live'`)
    }
  },
  'a payment by its page': async (id) => {
    const checkout = await buy(id)
    return () => pay(checkout)
  },
  'a sale at the box office': async (id) => async () =>
    isDone(
      await sellAtBoxOffice(saleOf(id), { ticketRateId: `rate_${id}`, tickets: [aBuyer(`price_${id}`)] }),
    ),
  'an invitation': async (id) => async () =>
    isDone(await issueInvitations(saleOf(id), { ticketRateId: `rate_${id}`, guests: [aGuest()] })),
  'a refund': async (id) => {
    const checkout = await bought(id)
    return async () => isDone(await refundTickets(saleOf(id), { ticketId: ticketOf(checkout) }))
  },
  'a cancellation of a payment': async (id) => {
    const checkout = await buy(id)
    return async () => isDone(await cancelPayment(saleOf(id), checkout.payment_id))
  },
  'a cancellation of tickets': async (id) => {
    const checkout = await bought(id, 2)
    return async () => isDone(await cancelTickets(saleOf(id), { paymentId: checkout.payment_id }))
  },
  'a check-in': async (id) => {
    const checkout = await bought(id)
    return async () => {
      const { outcome } = await scanTicket(saleOf(id), { ticketId: ticketOf(checkout) })
      expect(outcome).toBe('OK')
    }
  },
  'a batch of scans': async (id) => {
    const { tickets } = await bought(id, 5)
    return async () => {
      const scans = await uploadScans(
        saleOf(id),
        tickets.map(({ _id }) => ({ ticketId: _id })),
      )
      expect(scans.map(({ outcome }) => outcome)).toEqual(tickets.map(() => 'OK'))
    }
  },
  'a redemption': async (id) => {
    const checkout = await bought(id)
    return async () => {
      const { outcome } = await redeem(saleOf(id), {
        ticketId: ticketOf(checkout),
        supplementId: `sup_${id}`,
      })
      expect(outcome).toBe('OK')
    }
  },
  'a lookup by an integration, over REST': async (id) => {
    const checkout = await buy(id)
    return async () => {
      const { v1: headers } = saleOf(id).integration
      const answer = await cluster.sale.rest('GET', `/integrations/tickets/${ticketOf(checkout)}`, {
        headers,
      })
      expect(answer.statusCode).toBe(200)
    }
  },
  'a lookup of a ticket by a channel': async (id) => {
    const checkout = await buy(id)
    const around =
      'status ticketRate { name } price { name } refunds { id } payment { status tickets { id } }'
    return () =>
      read(saleOf(id), `{ ticket(id: "${ticketOf(checkout)}") { ${around} } }`, cluster.sale.channel)
  },
  'a lookup of a payment by a channel': async (id) => {
    const { payment_id } = await buy(id)
    const around = 'status tickets { ticketRate { name } refunds { id } } refunds { id }'
    return () => read(saleOf(id), `{ payment(id: "${payment_id}") { ${around} } }`, cluster.sale.channel)
  },
  'a page of its events': async (id) => () =>
    read(
      saleOf(id),
      `{ events(filter: { organizationId: "${id}" }) { nodes { ticketRates { availability { sold } prices { id } } } } }`,
      cluster.sale.channel,
    ),
  'its lists and sums': async (id) => {
    const checkout = await bought(id)
    await scanTicket(saleOf(id), { ticketId: ticketOf(checkout), eventId: `evt_${id}` })
    const { integration } = saleOf(id)
    return async () => {
      await read(
        saleOf(id),
        '{ tickets(first: 5) { nodes { id } } payments(first: 5) { nodes { id } } }',
        integration.v2,
      )
      await read(saleOf(id), '{ changes(from: { at: OLDEST }, first: 5) { nodes { id } } }', integration.v2)
      const sums = `sales(groupBy: RATE) { nodes { ticketCount } } attendance { sold } checkIns(first: 5) { nodes { id } }`
      const { event } = await read(
        saleOf(id),
        `{ event(by: { id: "evt_${id}" }) { ${sums} } }`,
        integration.v2,
      )
      const some = expect.any(Number)
      expect(event).toMatchObject({ attendance: { sold: some }, sales: { nodes: [{ ticketCount: some }] } })
      expect(event).toMatchObject({
        checkIns: { nodes: expect.arrayContaining([{ id: expect.any(String) }]) },
      })
    }
  },
}

describe.each(Object.entries(verbs))('%s', (_name, prepare) => {
  // By then PostgreSQL plans a prepared statement once for all.
  test('goes to one server and commits there, also after the tenth execution', async () => {
    for (const id of cluster.organizationIds) {
      const server = await serverOf(cluster.sale.db, id)
      for (let times = 1; times <= 11; times++) {
        const work = await prepare(id)
        const { servers, inTwoPhases } = await cluster.commandsOf(work)
        expect({ servers, inTwoPhases }).toEqual({ servers: [server.address], inTwoPhases: false })
      }
    }
  })
})

test('control: a statement of two organizations, and an insert of what is selected, are seen', async () => {
  const { sale, commandsOf, organizationIds } = cluster
  const spread = await commandsOf(() =>
    sale.db.execute(
      sql`select count(*) from payments where organization_id = any(${sql.param(organizationIds)}::text[])`,
    ),
  )
  expect(spread.servers).toHaveLength(2)
  const copied = await commandsOf(() =>
    sale.db
      .execute(sql`insert into charges (organization_id, id, payment_id, provider, reference, amount, currency)
        select 'org_1', 'cha_' || number, 'pay_none', 'none', number::text, 1, 'EUR' from generate_series(1, 2) as number`)
      .catch(() => {}),
  )
  expect(copied.texts.some((text) => text.startsWith('COPY'))).toBe(true)
})

test('payments of several organizations in one request are read where they are', async () => {
  const { sale, commandsOf, organizationIds } = cluster
  const made = await Promise.all(organizationIds.map((id) => buy(id)))
  const fields = made.map(
    ({ payment_id }, n) => `p${n}: payment(id: "${payment_id}") { status tickets { id } }`,
  )
  const { servers, inTwoPhases } = await commandsOf(() => read(sale, `{ ${fields.join(' ')} }`, sale.channel))
  expect([servers.length, inTwoPhases]).toEqual([2, false])
})

test('jobs ask each server what is due, and do the work of an organization on its own', async () => {
  const { sale, commandsOf, organizationIds } = cluster
  const receiver = await startReceiver()
  for (const id of organizationIds) {
    await webhooksOf(saleOf(id), saleOf(id).integration.v2).register(receiver.url)
    await bought(id)
    await refundTickets(saleOf(id), { ticketId: ticketOf(await bought(id)) })
    const { payment_id } = await buy(id)
    await sale.db.execute(sql`update payments set expires_at = now() - interval '1 minute'
      where organization_id = ${id} and id = ${payment_id}`)
    await sale.db.execute(sql`update expiries set expires_at = now() - interval '1 minute'
      where organization_id = ${id} and payment_id = ${payment_id}`)
    await sale.db.execute(
      sql`update idempotency_keys set created_at = now() - interval '2 days' where organization_id = ${id}`,
    )
  }
  const stopping = new AbortController().signal
  const jobs: Record<string, () => Promise<unknown>> = {
    expiry: () => sweepHolds(sale.db),
    feed: () => assignPositions(sale.db),
    refunds: () => processDueRefunds(sale.db, sandboxProvider),
    webhooks: () => sendWebhooks(sale.db, { privateWebhooks: true, stopping }),
  }
  for (const [name, run] of Object.entries(jobs)) {
    const { servers, inTwoPhases } = await commandsOf(run)
    expect([name, servers.length, inTwoPhases]).toEqual([name, 2, false])
  }
  expect(receiver.received.length).toBeGreaterThan(0)
  receiver.close()
})
