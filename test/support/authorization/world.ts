import type { Mode } from '../../../src/domain/caller/mode.ts'
import { checkIns } from '../../../src/domain/check-in/table.ts'
import {
  readCursor as readEventCursor,
  toCursor as toEventCursor,
} from '../../../src/domain/listing/search-events.ts'
import { refunds } from '../../../src/domain/refund/table.ts'
import { scanTicket } from '../door.ts'
import type { GatewayOptions } from '../harness.ts'
import { openStripeSale, type StripeSale } from '../stripe-sale.ts'
import { type Caller, type Callers, openCallers } from './callers.ts'
import { catalogueMark, catalogueOfTwo, optionOf } from './catalogue.ts'
import { dataOf, register, sellAs } from './sell-as.ts'

/** An object behind an identifier, and its owner. */
export type Thing = {
  id: string
  organization: string
  /** Channel that sold it or caller that registered it; null if it belongs to the organization alone. */
  principal: string | null
  /** Mode of what was sold or registered; null of the catalogue, which both share. */
  mode: Mode | null
}

const kinds = [
  ...['event', 'rate', 'price', 'supplement', 'question', 'location', 'organization', 'slug'],
  ...[
    'option',
    'discount',
    'discountCode',
    'payment',
    'ticket',
    'refund',
    'checkIn',
    'code',
    'channel',
    'integration',
    'webhook',
    'change',
    'eventCursor',
    'changeCursor',
  ],
] as const
export type Kind = (typeof kinds)[number]
export type Things = Record<Kind, Thing[]>

const catalogueThings = (prefix: string): Thing[] =>
  [1, 2].map((organization) => ({
    id: `${prefix}_${organization}`,
    organization: `org_${organization}`,
    principal: null,
    mode: null,
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
    return { id, organization: caller.organizations[0] ?? '', principal: null, mode: null }
  })
  return Promise.all(cursors)
}

/** The cursor of an absent event at the same place in the list. */
export const absentCursor = (cursor: string, id: string): string =>
  toEventCursor({ ...readEventCursor(cursor), id }) ?? ''

async function refundsIn({ db }: StripeSale): Promise<Thing[]> {
  const rows = await db.select().from(refunds)
  return rows.map(({ id, organizationId, channelId, mode }) => ({
    id,
    organization: organizationId,
    principal: channelId,
    mode,
  }))
}

// Scans of a code that matches no ticket, at an event of each organization and in each mode.
async function checkInsOf(sale: StripeSale, { door, testDoor, far }: Callers): Promise<Thing[]> {
  for (const { headers, organizations } of [door, testDoor, far])
    await scanTicket(
      sale,
      { qrCode: 'FORGED', eventId: organizations[0]?.replace('org', 'evt'), idempotencyKey: 'forged' },
      headers,
    )
  const rows = await sale.db.select().from(checkIns)
  return rows.map(({ id, organizationId, mode }) => ({
    ...{ id, organization: organizationId, principal: null, mode },
  }))
}

const clientThings = (callers: Callers): Pick<Things, 'channel' | 'integration'> => {
  const { shop, rival, foreign, ungranted, lapsed, door, side, far } = callers
  const thingOf = ({ principal, organizations }: Caller): Thing => ({
    ...{ id: principal ?? '', organization: organizations[0] ?? '', principal, mode: null },
  })
  return {
    channel: [shop, rival, foreign, ungranted, lapsed].map(thingOf),
    integration: [door, side, far].map(thingOf),
  }
}

type ChangePage = { changes: { nodes: { id: string }[]; pageInfo: { endCursor: string } } }

async function changesOf(sale: StripeSale, caller: Caller) {
  const { headers, principal, mode, organizations } = caller
  const query = '{ changes(from: { at: OLDEST }, first: 100) { nodes { id } pageInfo { endCursor } } }'
  const { nodes, pageInfo } = dataOf(await sale.graphql<ChangePage>(query, {}, headers)).changes
  const whose = { organization: organizations[0] ?? '', principal, mode }
  return {
    changes: nodes.map(({ id }): Thing => ({ ...whose, id })),
    cursor: { ...whose, id: pageInfo.endCursor },
  }
}

/** Opens two organizations in the middle of a sale: each selling channel has a pending payment and a paid,
 *  partly refunded one, as has one in test mode; each caller has a webhook that received changes; the grant of one channel is revoked
 *  at the end. */
export async function openWorld(options: GatewayOptions = {}) {
  const sale = await openStripeSale(catalogueOfTwo(), options)
  const { callers, bad, lapse } = await openCallers(sale.db)
  const { shop, tester, rival, foreign, lapsed, ungranted, door, testDoor, side, far } = callers
  const webhooks: Thing[] = []
  for (const caller of [shop, tester, rival, foreign, lapsed, ungranted, door, testDoor, side, far])
    webhooks.push({
      id: await register(sale, caller),
      organization: caller.organizations[0] ?? '',
      principal: caller.principal,
      mode: caller.mode,
    })
  const payments: Thing[] = []
  const tickets: Thing[] = []
  const codes: Thing[] = []
  const pages: string[] = []
  for (const [caller, organization, desk] of [
    [shop, 1, door],
    [tester, 1, testDoor],
    [rival, 1, door],
    [lapsed, 1, door],
    [foreign, 2, far],
  ] as const)
    for (const checkout of await sellAs(sale, caller, organization, desk)) {
      const { principal, mode } = caller
      const whose = { organization: `org_${organization}`, principal, mode }
      payments.push({ ...whose, id: checkout.payment_id })
      pages.push(new URL(checkout.payment_url).pathname)
      for (const { _id, qr_code } of checkout.tickets) {
        tickets.push({ ...whose, id: _id })
        codes.push({ ...whose, id: qr_code })
      }
    }
  const feeds = await Promise.all(
    [shop, tester, rival, foreign, lapsed].map((caller) => changesOf(sale, caller)),
  )
  const things: Things = {
    event: catalogueThings('evt'),
    rate: partThings('rate'),
    price: partThings('price'),
    supplement: partThings('sup'),
    question: partThings('que'),
    option: catalogueThings('size').map((thing) => ({ ...thing, id: optionOf(`${thing.id}_a`) })),
    location: catalogueThings('loc'),
    discount: catalogueThings('dsc'),
    discountCode: catalogueThings('dsc').map((thing) => ({
      ...thing,
      id: thing.id.replace('dsc_', 'code-'),
    })),
    organization: catalogueThings('org'),
    slug: catalogueThings('org').map((thing) => ({ ...thing, id: catalogueMark(thing.id.slice(-1)) })),
    payment: payments,
    ticket: tickets,
    refund: await refundsIn(sale),
    checkIn: await checkInsOf(sale, callers),
    code: codes,
    ...clientThings(callers),
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
