import { asc, eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { changes } from '../../../src/domain/change/table.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { redeem } from '../../support/door.ts'
import {
  anEvent,
  anOrganization,
  aRateNamed,
  aSupplement,
  integrationHeaders,
} from '../../support/factories.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { cancelTicket, returnTicket, ticketRow } from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { aPaidTicket, aRefundedTicket, holdTickets, ticketOf } from '../../support/tickets.ts'

// Supplements that are handed out at the bar.

const drinks = { _id: 'sup_drinks', label: 'Drinks', description: 'Beer or water', product_quantity: 3 }
const supplements = [aSupplement(drinks), aSupplement({ _id: 'sup_coat', label: 'Cloakroom' })]
const warranty = { enabled: true, percentage: 10, hours: 24 }
const rate = (name: string, more = {}) => aRateNamed(name, { warranty, ...more })

const sale = sharedSale({
  organizations: [anOrganization(), anOrganization({ _id: 'org_2', name: 'Other' })],
  events: [
    anEvent({ ticket_rates: [rate('1', { supplements })] }),
    anEvent({ ticket_rates: [rate('plain')] }),
    anEvent({
      organization_id: 'org_2',
      location_id: undefined,
      ticket_rates: [rate('other', { supplements: [aSupplement({ _id: 'sup_other' })] })],
    }),
  ],
})

const bought = (...ids: string[]) => ({ supplements: ids.map((supplement_id) => ({ supplement_id })) })
const buy = async (entry: Record<string, unknown> = bought('sup_drinks', 'sup_coat'), name = '1') =>
  (await aPaidTicket(sale, { rate: name, entry })).id
const drink = (ticketId: string, more = {}) => redeem(sale, { ticketId, supplementId: 'sup_drinks', ...more })

const done = (redeemed: number, left: number) => ({ outcome: 'OK', redeemed, left })
const usedUp = (left: number) => ({ outcome: 'USED_UP', redeemed: 0, left })

/** Supplements of a ticket in the lookups of both surfaces. */
async function lookUp(id: string) {
  const rest = await sale.rest('GET', `/integrations/tickets/${id}`, { headers: sale.integration.v2 })
  const query = `query ($id: ID!) { ticket(id: $id) { supplements { supplementId description count redeemed } } }`
  const graphql = await sale.graphql<{ ticket: { supplements: unknown[] } }>(query, { id }, sale.channel)
  type Body = {
    _id: string
    description: string | null
    product_quantity: number
    product_quantity_used: number
  }
  const { data } = rest.json<{ data: { supplements: Body[] } }>()
  const shown = data.supplements.map((body) => ({
    supplementId: body._id,
    description: body.description,
    count: body.product_quantity,
    redeemed: body.product_quantity_used,
  }))
  expect(graphql.data?.ticket.supplements).toEqual(shown)
  return shown
}

test('three drinks go from the catalogue through a checkout to the bar, and every lookup counts them', async () => {
  const { data } = await sale.graphql<{ ticketRate: unknown }>(
    '{ ticketRate(id: "rate_1") { supplements { id description count } } }',
    {},
    sale.channel,
  )
  const drinksSold = { description: 'Beer or water', count: 3 }
  const coat = { description: null, count: 1 }
  expect(data?.ticketRate).toEqual({
    supplements: [
      { id: 'sup_drinks', ...drinksSold },
      { id: 'sup_coat', ...coat },
    ],
  })
  const id = await buy()
  const used = (drinks: number, coats: number) => [
    { supplementId: 'sup_drinks', ...drinksSold, redeemed: drinks },
    { supplementId: 'sup_coat', ...coat, redeemed: coats },
  ]
  expect(await lookUp(id)).toEqual(used(0, 0))
  expect(await drink(id)).toMatchObject({ ...done(1, 2), ticket: { id } })
  expect(await lookUp(id)).toEqual(used(1, 0))
  const row = await ticketRow(sale, id)
  const byCode = { qrCode: row?.qrCode, supplementId: 'sup_drinks', count: 2 }
  expect(await redeem(sale, byCode)).toMatchObject({ ...done(2, 0), ticket: { id } })
  expect(await drink(id)).toMatchObject(usedUp(0))
  expect(await redeem(sale, { ticketId: id, supplementId: 'sup_coat' })).toMatchObject(done(1, 0))
  expect(await lookUp(id)).toEqual(used(3, 1))
})

test('a bar that asks for more than is left gets none, and hears what is left', async () => {
  const id = await buy()
  expect(await drink(id, { count: 4 })).toMatchObject(usedUp(3))
  expect(await drink(id, { count: 2 })).toMatchObject(done(2, 1))
  expect(await drink(id, { count: 2 })).toMatchObject(usedUp(1))
  expect(await drink(id, { count: 2_147_483_647 })).toMatchObject(usedUp(1))
  expect(await drink(id)).toMatchObject(done(1, 0))
})

test('a used key repeats its answer, and is refused for another redemption', async () => {
  const id = await buy()
  const idempotencyKey = 'round'
  expect(await drink(id, { idempotencyKey })).toMatchObject({ ...done(1, 2), replayed: false })
  await drink(id)
  expect(await drink(id, { idempotencyKey })).toMatchObject({ ...done(1, 2), replayed: true })
  const reused = [{ code: 'IDEMPOTENCY_KEY_REUSED', path: 'idempotencyKey' }]
  for (const other of [{ count: 2 }, { supplementId: 'sup_coat' }, { ticketId: await buy() }])
    expect((await drink(id, { idempotencyKey, ...other })).errors).toEqual(reused)
  expect(await drink(id)).toMatchObject(done(1, 0))
  // A rejection is kept as well. Keys are scoped to an integration.
  expect(await drink(id, { idempotencyKey: 'late' })).toMatchObject({ ...usedUp(0), replayed: false })
  expect(await drink(id, { idempotencyKey: 'late' })).toMatchObject({ ...usedUp(0), replayed: true })
  const { v2 } = await integrationHeaders(sale.db)
  const own = { ticketId: id, supplementId: 'sup_coat', idempotencyKey }
  expect(await redeem(sale, own, v2)).toMatchObject({ ...done(1, 0), replayed: false })
})

test('nothing is handed out without an active ticket with the supplement', async () => {
  const nobodys = { redeemed: 0, left: null, ticket: null, outcome: 'NOT_FOUND' }
  const others = await buy(bought('sup_other'), 'other')
  for (const given of [{ ticketId: 'tkt_nobodys' }, { qrCode: 'NOBODYS' }, { ticketId: others }])
    expect(await redeem(sale, { supplementId: 'sup_drinks', ...given })).toMatchObject(nobodys)
  const nothing = { redeemed: 0, left: null }
  const coatOnly = await buy(bought('sup_coat'))
  expect(await drink(coatOnly)).toMatchObject({ ...nothing, outcome: 'NOT_BOUGHT', ticket: { id: coatOnly } })
  expect(await drink(coatOnly, { supplementId: 'sup_nobodys' })).toMatchObject({ outcome: 'NOT_BOUGHT' })
  const unpaid = await holdTickets(sale, { entry: bought('sup_drinks') })
  expect(await drink(ticketOf(unpaid))).toMatchObject({ ...nothing, outcome: 'UNPAID' })
  await sale.db
    .update(tickets)
    .set({ status: 'expired' })
    .where(eq(tickets.id, ticketOf(unpaid)))
  expect(await drink(ticketOf(unpaid))).toMatchObject({ outcome: 'UNPAID' })
  await sale.db
    .update(tickets)
    .set({ status: 'held' })
    .where(eq(tickets.id, ticketOf(unpaid)))
  const cancelled = await buy()
  await cancelTicket(sale, cancelled)
  expect(await drink(cancelled)).toMatchObject({ ...nothing, outcome: 'CANCELLED' })
})

test('a refunded ticket keeps its drinks, and one whose drinks were handed out cannot be given back', async () => {
  const order = { entry: { ...bought('sup_drinks'), warranty: true } }
  const { id } = await aRefundedTicket(sale, order, { amount: 1 })
  expect(await drink(id)).toMatchObject(done(1, 2))
  const codes = ({ errors = [] }: { errors?: { code: string }[] }) => errors.map(({ code }) => code)
  for (const headers of [sale.channel, sale.integration.v2])
    expect(codes(await cancelTicket(sale, id, headers))).toEqual(['SUPPLEMENT_REDEEMED'])
  expect(codes(await returnTicket(sale, id))).toEqual(['SUPPLEMENT_REDEEMED'])
  expect((await ticketRow(sale, id))?.status).toBe('active')
})

test('a bar hands out to the tickets of its event alone, also where two events use one code', async () => {
  const qr_code = 'TWICE'
  const plain = await buy({ qr_code }, 'plain')
  const id = await buy({ ...bought('sup_drinks'), qr_code })
  const [elsewhere, here] = [(await ticketRow(sale, plain))?.eventId, (await ticketRow(sale, id))?.eventId]
  const byCode = { qrCode: qr_code, supplementId: 'sup_drinks' }
  expect(await redeem(sale, { ...byCode, eventId: elsewhere })).toMatchObject({
    ...{ outcome: 'NOT_BOUGHT', ticket: { id: plain } },
  })
  const wrong = { outcome: 'WRONG_EVENT', redeemed: 0, left: null, ticket: { id } }
  expect(await drink(id, { eventId: elsewhere })).toMatchObject(wrong)
  expect(await drink(id, { eventId: 'evt_nobodys' })).toMatchObject(wrong)
  expect(await redeem(sale, { ...byCode, eventId: here })).toMatchObject({ ...done(1, 2), ticket: { id } })
})

test.each([
  ['checkInTicket', 'ticket: { qrCode: "A" }, idempotencyKey: "n"'],
  ['checkInTickets', 'scans: [{ ticket: { qrCode: "A" }, idempotencyKey: "n" }]'],
  ['redeemSupplement', 'ticket: { qrCode: "A" }, supplementId: "sup_drinks", idempotencyKey: "n"'],
])('%s says at which event it is', async (name, input) => {
  const ask = (more = '') =>
    sale.graphql(
      `mutation { ${name}(input: { ${input.replace('idempotencyKey', `${more} idempotencyKey`)} }) { __typename } }`,
      {},
      sale.integration.v2,
    )
  expect((await ask('eventId: "evt_1",')).errors).toBeUndefined()
  const { errors } = await ask()
  expect(errors).toMatchObject([{ extensions: { code: 'BAD_REQUEST' } }])
  expect(errors?.[0]?.message).toContain('eventId')
})

test('a redemption records a change with numbers and nobody in it, and a rejection records none', async () => {
  const id = await buy()
  await drink(id, { count: 2, idempotencyKey: 'told' })
  await drink(id, { count: 2, idempotencyKey: 'told' })
  await drink(id, { count: 2 })
  const recorded = await sale.db
    .select()
    .from(changes)
    .where(eq(changes.subjectId, id))
    .orderBy(asc(changes.sequence))
  const { paymentId, eventId } = (await ticketRow(sale, id)) ?? {}
  expect(recorded.slice(1).map(({ type, sequence, data }) => ({ type, sequence, data }))).toEqual([
    {
      type: 'ticket.supplement_redeemed',
      sequence: 2,
      data: {
        ticket_id: id,
        payment_id: paymentId,
        event_id: eventId,
        ticket_rate_id: 'rate_1',
        status: 'activated',
        for: 1,
        enter: 0,
        supplement_id: 'sup_drinks',
        redeemed: 2,
        left: 1,
      },
    },
  ])
})

test.each([
  [{ qrCode: 'with space' }, 'INVALID', 'ticket.qrCode'],
  [{ supplementId: '' }, 'INVALID', 'supplementId'],
  [{ count: 0 }, 'INVALID', 'count'],
  [{ count: -1 }, 'INVALID', 'count'],
  [{ idempotencyKey: ' ' }, 'INVALID', 'idempotencyKey'],
  [{ idempotencyKey: 'x'.repeat(201) }, 'INVALID', 'idempotencyKey'],
])('a redemption with %j is refused', async (given, code, path) => {
  const { errors } = await redeem(sale, { qrCode: 'A', supplementId: 'sup_drinks', ...given })
  expect(errors).toEqual([{ code, path }])
})

test('a redemption with the key of a channel is refused', async () => {
  const { data, errors } = await sale.graphql(
    'mutation { redeemSupplement(input: { ticket: { qrCode: "A" }, eventId: "evt_1", supplementId: "sup_drinks", idempotencyKey: "1" }) { __typename } }',
    {},
    sale.channel,
  )
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'FORBIDDEN' })
  expect(data).toEqual({ redeemSupplement: null })
})

test('redemptions agree with what the tickets say', async () => {
  expect(await brokenInvariants(sale.db)).toEqual([])
})
