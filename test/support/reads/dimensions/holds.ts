import { type SQL, sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { expireHolds } from '../../../../src/domain/sale/release/expire-holds.ts'
import { type Dimension, fillUp, named } from '../dimensions.ts'
import { items, mutate, type ReadWorld, unique } from '../verbs.ts'
import { copyRows } from '../worlds.ts'

const input = (more: object) => ({ items: items(), idempotencyKey: unique(), ...more })
const checkOut = (world: ReadWorld, more: object = {}) =>
  mutate(world, 'channel', 'checkout', 'payment { id } tickets { id }', input(more))

// A checkout that is refused for its discount.
const refusedCheckout =
  ({ sale }: ReadWorld) =>
  async () => {
    const { data } = await sale.graphql<{ checkout: { errors: { code: string }[] } }>(
      'mutation ($input: CheckoutInput!) { checkout(input: $input) { ... on Refused { errors { code } } } }',
      { input: input({ discountCode: 'LESS' }) },
      sale.channel,
    )
    expect(data?.checkout.errors).toEqual([{ code: 'DISCOUNT_USED_UP' }])
  }

// Holds that ended, and that nobody has swept: copies of one that a checkout made.
async function openHolds(world: ReadWorld, discountCode?: string) {
  const { checkout } = (await checkOut(world, { discountCode })()) as {
    checkout: { payment: { id: string } }
  }
  const ofTemplate = sql`payment_id = ${checkout.payment.id}`
  const { db } = world.sale
  return async (to: number) => {
    const ids = { payment_id: `'pay_' || n`, id: `'tkt_' || n || '_' || position` }
    const place = `n || '_' || position`
    const unique = {
      qr_code: `'qr_' || ${place}`,
      document_token: `'doc_' || ${place}`,
      search_name: `'ana ' || ${place}`,
      email: `'ana' || ${place} || '@example.com'`,
      created_at: `now() + n * interval '1 millisecond'`,
    }
    const expires_at = `timestamptz '2026-01-01 00:00Z' + n * interval '1 millisecond'`
    const missing = await fillUp(world, {
      to,
      table: 'payments',
      values: { id: ids.payment_id, page_token: `'token_' || n`, expires_at },
      like: sql`id = ${checkout.payment.id}`,
      counted: sql`status = 'pending' and expires_at < now()`,
    })
    await db.execute(sql`update stock set capacity = null`)
    if (!missing) return
    const { each, count } = missing
    const [{ tickets } = { tickets: 0 }] = await db
      .select({ tickets: sql<number>`count(*)::integer` })
      .from(sql`tickets`)
      .where(ofTemplate)
    // All tickets of the template, one after the other.
    for (let position = 0; position < tickets; position++)
      await copyRows(
        db,
        'tickets',
        { ...ids, ...unique },
        { each, like: sql`${ofTemplate} and position = ${position}` },
      )
    await copyRows(db, 'expiries', { payment_id: ids.payment_id, expires_at }, { each, like: ofTemplate })
    const isCounted = discountCode ? sql`true` : sql`kind <> 'discount'`
    await db.execute(
      sql`update stock set held = held + ${count * tickets} where mode = 'live' and ${isCounted}`,
    )
  }
}

const fillCounters = ({ sale: { db } }: ReadWorld, which: SQL) =>
  db.execute(sql`update stock set capacity = sold_before + sold + held where mode = 'live' and ${which}`)

const createDiscount = async ({ sale: { db } }: ReadWorld) => {
  await db.execute(sql`insert into discounts (id, organization_id, position, code, name, percentage, currency)
    values ('disc_1', 'org_1', 0, 'LESS', 'Less', 10, 'EUR')`)
  await db.execute(sql`insert into stock (organization_id, kind, id, mode)
    select 'org_1', 'discount', 'disc_1', mode from unnest(enum_range(null::key_mode)) as mode`)
}

export const dimensions: Dimension[] = [
  {
    name: 'overdue holds of a rate',
    tables: ['expiries'],
    async open(world) {
      await createDiscount(world)
      return {
        grow: await openHolds(world),
        verbs: {
          'a checkout of a full rate': async (world) => {
            await fillCounters(world, sql`kind = 'rate'`)
            return checkOut(world)
          },
          'a checkout at a price that is used up': async (world) => {
            await fillCounters(world, sql`kind = 'price'`)
            return checkOut(world)
          },
          'a checkout with a discount that is used up by sales': async (world) => {
            await fillCounters(world, sql`kind = 'discount'`)
            return refusedCheckout(world)
          },
          'a step of the job that sweeps':
            ({ sale: { db } }) =>
            () =>
              expireHolds(db, 10),
          ...named('Mutation.checkout', 'Mutation.checkout by a publishable key', 'Mutation.cancelPayment'),
          ...named('POST /tickets/checkout', 'POST /pay/:token', 'GET /pay/:token'),
          ...named('Mutation.sellAtBoxOffice', 'Query.event', 'Query.ticketRate', 'Query.quoteCheckout'),
        },
      }
    },
  },
  {
    name: 'overdue holds with a discount',
    tables: ['expiries'],
    async open(world) {
      await createDiscount(world)
      return {
        grow: await openHolds(world, 'LESS'),
        verbs: {
          'a checkout with a discount that is used up': async (world) => {
            await fillCounters(world, sql`kind = 'discount'`)
            return checkOut(world, { discountCode: 'LESS' })
          },
        },
      }
    },
  },
]
