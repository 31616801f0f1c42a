import { expect } from 'vitest'
import { readCursor as readEventCursor, toCursor as toEventCursor } from '../../../src/domain/event/cursor.ts'
import { anEntry, type Checkout } from '../checkouts.ts'
import type { GatewayOptions } from '../harness.ts'
import { openStripeSale, type StripeSale } from '../stripe-sale.ts'
import { type Caller, type Callers, openCallers } from './callers.ts'
import { catalogueOfTwo } from './catalogue.ts'

/** An object behind an identifier, and its owner. */
export type Thing = {
  id: string
  organization: string
  /** Channel that sold it or caller that registered it; null if it belongs to the organization alone. */
  principal: string | null
}

const kinds = [
  ...['event', 'rate', 'price', 'supplement', 'question', 'location', 'organization'],
  ...[
    'discount',
    'discountCode',
    'payment',
    'ticket',
    'code',
    'webhook',
    'change',
    'eventCursor',
    'changeCursor',
  ],
] as const
export type Kind = (typeof kinds)[number]
export type Things = Record<Kind, Thing[]>

type Answer<Data> = { data: Data | null | undefined; errors: unknown }
const dataOf = <Data>({ data, errors }: Answer<Data>): Data => {
  expect(errors).toBeUndefined()
  if (!data) throw new Error('the response has no data')
  return data
}

/** Registers a webhook for a caller and returns its ID. */
export async function register(sale: StripeSale, caller: Caller): Promise<string> {
  const mutation = `mutation ($url: String!) { registerWebhook(input: { url: $url }) {
    ... on WebhookSecretPayload { webhook { id } } ... on Refused { errors { message } } } }`
  const url = `https://hooks.example/mk-hook-${caller.name}`
  const answer = await sale.graphql<{ registerWebhook: { webhook: { id: string } } }>(
    mutation,
    { url },
    caller.headers,
  )
  return dataOf(answer).registerWebhook.webhook.id
}

/** Checks out one ticket with a supplement, an answer and a warranty as this caller. */
export async function checkOutAs(sale: StripeSale, caller: Caller, organization: number): Promise<Checkout> {
  const part = (prefix: string) => `${prefix}_${organization}_a`
  const mark = `mk-sale-${caller.name}`
  const entry = anEntry(part('price'), {
    full_name: mark,
    email: `${mark}@example.com`,
    phone: '+34600123123',
    address: mark,
    birthday: '1990-01-02',
    personal_document_type: 'dni',
    personal_document_number: mark,
    supplements: [{ supplement_id: part('sup') }],
    answers: [{ question_id: part('que'), answer: mark }],
    warranty: true,
  })
  const discount_code = `code-${organization}`
  const body = { ticket_rate_id: part('rate'), tickets: [entry], metadata: { mark }, discount_code }
  const answer = await sale.rest('POST', '/tickets/checkout', { headers: caller.headers, body })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<{ data: Checkout }>().data
}

async function pay(sale: StripeSale, checkout: Checkout): Promise<Checkout> {
  const session = await sale.goToStripe(checkout)
  await sale.deliver(sale.fake.pay(session.id))
  return checkout
}

async function refundPart(sale: StripeSale, door: Caller, { tickets }: Checkout) {
  const mutation = 'mutation ($id: ID!) { refundTicket(input: { ticketId: $id, amount: 1 }) { __typename } }'
  const answer = await sale.graphql<{ refundTicket: { __typename: string } }>(
    mutation,
    { id: tickets[0]?._id },
    door.headers,
  )
  expect(dataOf(answer).refundTicket.__typename).toBe('RefundPayload')
}

async function sellAs(sale: StripeSale, caller: Caller, organization: number, door: Caller) {
  const pending = await checkOutAs(sale, caller, organization)
  const paid = await pay(sale, await checkOutAs(sale, caller, organization))
  await refundPart(sale, door, paid)
  return [pending, paid]
}

const catalogueThings = (prefix: string): Thing[] =>
  [1, 2].map((organization) => ({
    id: `${prefix}_${organization}`,
    organization: `org_${organization}`,
    principal: null,
  }))
const partThings = (prefix: string): Thing[] =>
  catalogueThings(prefix).flatMap((thing) =>
    ['a', 'b'].map((part) => ({ ...thing, id: `${thing.id}_${part}` })),
  )

async function eventCursors(sale: StripeSale, callers: Callers): Promise<Thing[]> {
  const cursors = [callers.shop, callers.foreign].map(async (caller) => {
    const query = '{ events(first: 1) { pageInfo { endCursor } } }'
    const answer = await sale.graphql<{ events: { pageInfo: { endCursor: string } } }>(
      query,
      {},
      caller.headers,
    )
    const id = dataOf(answer).events.pageInfo.endCursor
    return { id, organization: caller.organizations[0] ?? '', principal: null }
  })
  return Promise.all(cursors)
}

/** The cursor of an absent event at the same place in the list. */
export const absentCursor = (cursor: string, id: string): string =>
  toEventCursor({ ...readEventCursor(cursor), id }) ?? ''

type ChangePage = { changes: { nodes: { id: string }[]; pageInfo: { endCursor: string } } }

async function changesOf(sale: StripeSale, caller: Caller) {
  const { headers, principal, organizations } = caller
  const query = '{ changes(first: 100) { nodes { id } pageInfo { endCursor } } }'
  const { nodes, pageInfo } = dataOf(await sale.graphql<ChangePage>(query, {}, headers)).changes
  const whose = { organization: organizations[0] ?? '', principal }
  return {
    changes: nodes.map(({ id }): Thing => ({ ...whose, id })),
    cursor: { ...whose, id: pageInfo.endCursor },
  }
}

/** Opens two organizations in the middle of a sale: each selling channel has a pending payment and a paid,
 *  partly refunded one; each caller has a webhook that received changes; the grant of one channel is revoked
 *  at the end. */
export async function openWorld(options: GatewayOptions = {}) {
  const sale = await openStripeSale(catalogueOfTwo(), options)
  const { callers, bad, lapse } = await openCallers(sale.db)
  const { shop, rival, foreign, lapsed, ungranted, door, side, far } = callers
  const webhooks: Thing[] = []
  for (const caller of [shop, rival, foreign, lapsed, ungranted, door, side, far])
    webhooks.push({
      id: await register(sale, caller),
      organization: caller.organizations[0] ?? '',
      principal: caller.principal,
    })
  const payments: Thing[] = []
  const tickets: Thing[] = []
  const codes: Thing[] = []
  const pages: string[] = []
  for (const [caller, organization, desk] of [
    [shop, 1, door],
    [rival, 1, door],
    [lapsed, 1, door],
    [foreign, 2, far],
  ] as const)
    for (const checkout of await sellAs(sale, caller, organization, desk)) {
      const whose = { organization: `org_${organization}`, principal: caller.principal }
      payments.push({ ...whose, id: checkout.payment_id })
      pages.push(new URL(checkout.payment_url).pathname)
      for (const { _id, qr_code } of checkout.tickets) {
        tickets.push({ ...whose, id: _id })
        codes.push({ ...whose, id: qr_code })
      }
    }
  const feeds = await Promise.all([shop, rival, foreign, lapsed].map((caller) => changesOf(sale, caller)))
  const things: Things = {
    event: catalogueThings('evt'),
    rate: partThings('rate'),
    price: partThings('price'),
    supplement: partThings('sup'),
    question: partThings('que'),
    location: catalogueThings('loc'),
    discount: catalogueThings('dsc'),
    discountCode: catalogueThings('dsc').map((thing) => ({
      ...thing,
      id: thing.id.replace('dsc_', 'code-'),
    })),
    organization: catalogueThings('org'),
    payment: payments,
    ticket: tickets,
    code: codes,
    webhook: webhooks,
    change: feeds.flatMap(({ changes }) => changes),
    changeCursor: feeds.map(({ cursor }) => cursor),
    eventCursor: await eventCursors(sale, callers),
  }
  await lapse()
  sale.statements.reset()
  return { sale, callers, bad, things, pages }
}

export type World = Awaited<ReturnType<typeof openWorld>>
