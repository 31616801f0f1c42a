import { sql } from 'drizzle-orm'
import { type Dimension, fillUp, named } from '../dimensions.ts'
import { ask, items, mutate, type ReadWorld, unique, type Verb } from '../verbs.ts'
import { copyRows } from '../worlds.ts'

const isTemplate = (table: string) => sql`${sql.identifier(table)}.id like '%\\_1'`

/** Fills the world with events ahead, each with a rate and a price as that of the sale. */
const growEvents = (world: ReadWorld, rate: Record<string, string>) => async (to: number) => {
  const { db } = world.sale
  const dates = {
    start_date: `now() + n * interval '1 minute'`,
    end_date: `now() + (n + 60) * interval '1 minute'`,
  }
  const filled = await fillUp(world, {
    ...{ to, table: 'events', like: isTemplate('events'), counted: sql`true` },
    values: { id: `'evt_c' || n`, slug: `'event-' || n`, ...dates },
  })
  if (!filled) return
  const { each } = filled
  const rates = { id: `'rate_c' || n`, event_id: `'evt_c' || n`, slug: `'rate-' || n`, ...rate }
  await copyRows(db, 'ticket_rates', rates, { each, like: isTemplate('ticket_rates') })
  const prices = { id: `'price_c' || n`, ticket_rate_id: `'rate_c' || n` }
  await copyRows(db, 'prices', prices, { each, like: isTemplate('prices') })
  for (const kind of ['rate', 'price'])
    await copyRows(
      db,
      'stock',
      { id: `'${kind}_c' || n` },
      { each, like: sql`id = ${`${kind}_1`} and mode = 'live'` },
    )
}

const list =
  (filter: string, first = 5): Verb =>
  (world) =>
    ask(
      world,
      'channel',
      `{ events(first: ${first}, filter: ${filter}) { nodes { id } pageInfo { hasNextPage } } }`,
    )
const count =
  (filter: string): Verb =>
  (world) =>
    ask(world, 'channel', `{ events(first: 1, filter: ${filter}) { totalCount } }`)

// Filters that no event meets.
const unmet: Record<string, string> = {
  city: '{ city: "Nowhere" }',
  country: '{ countryCode: "NZ" }',
  circle: '{ near: { latitude: -80, longitude: 10 } }',
  name: '{ search: "nobody" }',
  genre: '{ musicGenre: "Silence" }',
  location: '{ locationId: "loc_none" }',
  organization: '{ organizationId: "org_none" }',
  start: '{ starts: { until: "2020-01-01T00:00:00Z" } }',
  day: '{ during: { from: "2090-01-01T00:00:00Z", until: "2090-01-02T00:00:00Z" } }',
}
const ofUnmet = Object.entries(unmet).flatMap(([name, filter]): [string, Verb][] => [
  [`events by a ${name} that none has`, list(filter)],
  [`their count by a ${name} that none has`, count(filter)],
])

const events = (name: string, rate: Record<string, string> = {}): Dimension => ({
  name,
  tables: ['events', 'ticket_rates', 'prices', 'stock'],
  async open(world) {
    // A place where nothing happens.
    await copyRows(
      world.sale.db,
      'locations',
      { id: `'loc_none'`, city: `'Nowhere'`, country_code: `'NZ'`, latitude: '-80', longitude: '10' },
      { each: sql`generate_series(1, 1) as n` },
    )
    return {
      grow: growEvents(world, rate),
      verbs: {
        ...Object.fromEntries(ofUnmet),
        events: list('{}'),
        'events from the last': (world) =>
          ask(world, 'channel', '{ events(first: 5, orderBy: START_DATE_DESC) { nodes { id } } }'),
        'events at a location': list('{ locationId: "loc_1" }'),
        'events on sale': list('{ onSale: true }', 1),
        'events that are not on sale': list('{ onSale: false }', 1),
        ...named('Query.event', 'Mutation.checkout', 'Query.quoteCheckout'),
        'GET /events':
          ({ sale }) =>
          () =>
            sale.rest('GET', '/events?limit=5', { headers: sale.channel }),
      },
    }
  },
})

const codes = (name: string, values: Record<string, string> = {}): Dimension => ({
  name,
  tables: ['discounts'],
  async open(world) {
    const { db } = world.sale
    await db.execute(sql`insert into discounts (id, organization_id, position, code, name, percentage, currency)
      values ('disc_1', 'org_1', 0, 'LESS', 'Less', 10, 'EUR')`)
    await db.execute(sql`insert into stock (organization_id, kind, id, mode)
      select 'org_1', 'discount', 'disc_1', mode from unnest(enum_range(null::key_mode)) as mode`)
    return {
      async grow(to) {
        const filled = await fillUp(world, {
          ...{ to, table: 'discounts', like: isTemplate('discounts'), counted: sql`true` },
          values: { id: `'disc_c' || n`, position: 'n', code: `'CODE' || n`, ...values },
        })
        const isLive = sql`id = 'disc_1' and mode = 'live'`
        if (filled) await copyRows(db, 'stock', { id: `'disc_c' || n` }, { each: filled.each, like: isLive })
      },
      verbs: {
        'a page of discounts': (world) =>
          ask(world, 'integration', '{ discounts(first: 5) { nodes { code } } }'),
        'a checkout with a code': (world) =>
          mutate(world, 'channel', 'checkout', 'payment { id }', {
            ...{ items: items(), idempotencyKey: unique(), discountCode: 'less' },
          }),
      },
    }
  },
})

export const dimensions: Dimension[] = [
  events('events ahead, all on sale'),
  events('events ahead, none on sale', { complete: 'true' }),
  codes('discount codes'),
  codes('discount codes that were removed', { removed: 'true' }),
]
