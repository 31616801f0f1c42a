import postgres from 'postgres'

// As many connections as the gateway. A tagged statement is prepared once per connection and executed by
// name.
const sql = postgres(process.env.DATABASE_URL ?? '', {
  max: 10,
  onnotice: () => {},
  transform: { column: { from: postgres.toCamel } },
  types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
})

/** Reads a key by its public ID: its hash, validity, granted organizations, and the database's clock. */
export const keyById = async (/** @type {string} */ id) => {
  const [key] = await sql`
    select hash, mode, now() as now,
      revoked_at is not null or coalesce(expires_at <= now(), false) as ended,
      array(select organization_id from grants where grants.channel_id = keys.channel_id) as organization_ids
    from keys where id = ${id} and channel_id is not null`
  return key
}

/** Reads the events that have not ended, by start, from the first that may not have ended. */
export const nextEvents = (/** @type {string[]} */ organizationIds, /** @type {number} */ first) => sql`
  select id, name, slug, description, age, outfit, ambiences, music_genres, artists, display_date, start_date,
    end_date, organization_id, image_url, location_id, iframe_tag_url, iframe_script_url
  from events
  where organization_id = any(${organizationIds}::text[]) and end_date > now()
    and start_date >= now() - make_interval(secs =>
      (select max(extract(epoch from (end_date - start_date))) from events)::double precision)
  order by start_date, id
  limit ${first}`

export const organizationsById = (/** @type {string[]} */ ids) => sql`
  select id, name, slug, currency from organizations where id = any(${ids}::text[])`

export const locationsById = (/** @type {string[]} */ ids) => sql`
  select id, name, address, city, country_code, latitude, longitude, timezone
  from locations where id = any(${ids}::text[])`

export const ratesByEventId = (/** @type {string[]} */ eventIds) => sql`
  select rate.id, event_id, name, slug, valid_from, complete,
    upper(type::text) as type, min, max, show_all_prices,
    warranty_enabled, warranty_percentage::float8, warranty_hours, sold_before + sold as sold,
    capacity - sold_before - sold - held as left_over
  from ticket_rates as rate
  join stock on stock.id = rate.id and stock.kind = 'rate' and stock.mode = 'live'
  where event_id = any(${eventIds}::text[]) and not removed
  order by position, rate.id`

export const pricesByEventId = (/** @type {string[]} */ eventIds) => sql`
  select price.id, ticket_rate_id, price.name, amount, currency, valid_until, capacity, includes, additional_info,
    fee_type::text as fee_type, fee_quantity::float8, capacity - sold_before - sold - held as left_over
  from prices as price
  join ticket_rates as rate on rate.id = ticket_rate_id
  join stock on stock.id = price.id and stock.kind = 'price' and stock.mode = 'live'
  where event_id = any(${eventIds}::text[]) and not price.removed
  order by price.position, price.id`

export const supplementsByEventId = (/** @type {string[]} */ eventIds) => sql`
  select supplement.id, ticket_rate_id, label, amount, currency, has_fake_price, fake_amount
  from supplements as supplement join ticket_rates as rate on rate.id = ticket_rate_id
  where event_id = any(${eventIds}::text[]) and not supplement.removed
  order by supplement.position, supplement.id`

export const questionsByEventId = (/** @type {string[]} */ eventIds) => sql`
  select question.id, ticket_rate_id, label, upper(question.type::text) as type, required, options
  from questions as question join ticket_rates as rate on rate.id = ticket_rate_id
  where event_id = any(${eventIds}::text[]) and not question.removed
  order by question.position, question.id`
