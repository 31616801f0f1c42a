import { graphql, major, moment, money, rest, type Spelling, select, word } from './spelling.ts'

// The gateway's pages produced by SQL alone, one statement per page: the same rows and fields in the same
// shape.

const isUsedUp = 'capacity - sold_before - sold - held = 0'

// Fee that comes on top of a price, in minor units.
const fee = `case price.fee_type when 'fixed' then price.fee_quantity::bigint
  else (round(price.amount * price.fee_quantity::numeric / case price.currency when 'KWD' then 1000 else 100 end)
    * case price.currency when 'KWD' then 10 else 1 end)::bigint end`

const priceFields = (spelling: Spelling) =>
  select(
    spelling,
    ['name', 'includes', 'additional_info'],
    {
      [spelling.id]: 'price.id',
      valid_until: moment('price.valid_until'),
      ...(spelling === graphql
        ? {
            price: money('price.amount', 'price.currency'),
            fee: money(fee, 'price.currency'),
            total: money(`price.amount + ${fee}`, 'price.currency'),
            limit: 'left_of.capacity',
          }
        : {
            price: major('price.amount', 'price.currency'),
            quantity: 'coalesce(left_of.capacity, 0)',
            fee_type: word(spelling, 'price.fee_type'),
            fee_quantity: `case price.fee_type when 'fixed' then ${major('price.fee_quantity', 'price.currency')} else price.fee_quantity end`,
          }),
    },
    'price.',
  )

// Reads each price of a rate once, with its availability. The listed prices, the current price and the rate's
// availability follow from it.
const prices = (spelling: Spelling) => `
  left join lateral (
    select json_agg(body order by position, id) as listed,
      (array_agg(body order by position, id) filter (where buyable))[1] as current
    from (
      select price.position, price.id,
        (price.valid_until is null or price.valid_until > now()) and (${isUsedUp}) is not true as buyable,
        (select row_to_json(body) from (select ${priceFields(spelling)}) as body) as body
      from prices as price join stock as left_of on left_of.id = price.id
        and left_of.kind = 'price' and left_of.mode = 'live'
      where price.ticket_rate_id = rate.id and not price.removed
    ) as price
  ) as price on true`

const supplements = (spelling: Spelling) => `(
    select coalesce(json_agg(body order by supplement.position, supplement.id), '[]')
    from supplements as supplement, lateral (select ${select(
      spelling,
      spelling === graphql ? [] : ['label', 'has_fake_price'],
      {
        [spelling.id]: 'supplement.id',
        ...(spelling === graphql
          ? {
              name: 'supplement.label',
              price: money('amount', 'currency'),
              compare_at_price: `case when has_fake_price and fake_amount is not null then ${money('fake_amount', 'currency')} end`,
            }
          : { price: major('amount', 'currency'), fake_price: major('fake_amount', 'currency') }),
      },
      'supplement.',
    )}) as body
    where supplement.ticket_rate_id = rate.id and not supplement.removed)`

const labels = `(
    select coalesce(json_agg(choice -> 'label' order by place), '[]')
    from jsonb_array_elements(question.options) with ordinality as one(choice, place))`

const questions = (spelling: Spelling) => `(
    select coalesce(json_agg(body order by question.position, question.id), '[]')
    from questions as question, lateral (select ${select(
      spelling,
      ['label', 'required', ...(spelling === graphql ? ['options'] : [])],
      {
        [spelling.id]: 'question.id',
        type: word(spelling, 'question.type'),
        ...(spelling === rest && { items: labels }),
      },
      'question.',
    )}) as body
    where question.ticket_rate_id = rate.id and not question.removed)`

const rateFields = (spelling: Spelling) =>
  select(
    spelling,
    ['name', 'slug', 'complete', 'show_all_prices'],
    {
      [spelling.id]: 'rate.id',
      type: word(spelling, 'rate.type'),
      valid_from: moment('rate.valid_from'),
      available: `not rate.complete and (rate.valid_from is null or rate.valid_from <= now())
        and event.start_date > now() and (${isUsedUp}) is not true and price.current is not null`,
      availability: `json_build_object('sold', sold_before + sold, 'available', capacity - sold_before - sold - held)`,
      ...(spelling === graphql
        ? {
            min_per_checkout: 'coalesce(rate.min, 1)',
            max_per_checkout: 'least(rate.max, 50)',
            warranty: `case when rate.warranty_enabled then json_build_object('percentage', rate.warranty_percentage,
              'endsAt', ${moment('(event.start_date - make_interval(hours => rate.warranty_hours))')}) end`,
            current_price: 'price.current',
          }
        : {
            organization_id: 'rate.organization_id',
            event_id: 'rate.event_id',
            min: 'rate.min',
            max: 'rate.max',
            warranty: `json_build_object('enabled', rate.warranty_enabled, 'percentage', rate.warranty_percentage,
              'hours', rate.warranty_hours)`,
          }),
      prices: `coalesce(case when rate.show_all_prices then price.listed
        when price.current is not null then json_build_array(price.current) end, '[]')`,
      supplements: supplements(spelling),
      questions: questions(spelling),
    },
    'rate.',
  )

const rates = (spelling: Spelling) => `(
    select coalesce(json_agg(body order by rate.position, rate.id), '[]')
    from ticket_rates as rate join stock as left_of on left_of.id = rate.id
      and left_of.kind = 'rate' and left_of.mode = 'live' ${prices(spelling)},
      lateral (select ${rateFields(spelling)}) as body
    where rate.event_id = event.id and not rate.removed)`

const artists = `(
    select coalesce(json_agg(json_build_object('name', artist -> 'name', 'image_url', artist -> 'imageUrl') order by place), '[]')
    from jsonb_array_elements(event.artists) with ordinality as one(artist, place))`

const organization = `(
    select json_build_object('id', id, 'name', name, 'slug', slug, 'currency', currency)
    from organizations where id = event.organization_id)`

const location = `(
    select json_build_object('id', id, 'name', name, 'address', address,
      'city', city, 'countryCode', country_code, 'latitude', latitude, 'longitude', longitude, 'timezone', timezone)
    from locations where id = event.location_id)`

const eventColumns = ['name', 'slug', 'description', 'outfit', 'ambiences', 'music_genres', 'image_url']

/** Minimum age of an event, from its text. */
export const minimumAge = `substring(event.age from '\\d{1,2}')::integer`

const eventFields = (spelling: Spelling, nested: Record<string, string>) =>
  select(
    spelling,
    eventColumns,
    {
      [spelling.id]: 'event.id',
      ...(spelling === graphql
        ? { minimum_age: minimumAge }
        : {
            age: 'event.age',
            organization_id: 'event.organization_id',
            location_id: 'event.location_id',
          }),
      artists: spelling === rest ? artists : 'event.artists',
      display_date: moment('event.display_date'),
      start_date: moment('event.start_date'),
      end_date: moment('event.end_date'),
      iframe: `case when num_nonnulls(event.iframe_tag_url, event.iframe_script_url) > 0 then json_build_object(
        '${spelling.field('tag_url')}', event.iframe_tag_url, '${spelling.field('script_url')}', event.iframe_script_url) end`,
      ...nested,
    },
    'event.',
  )

// Scans the index of start dates from the first event that may not have ended, like the gateway.
const notEnded = `event.end_date > now() and event.start_date >= now() - make_interval(secs =>
  (select max(extract(epoch from (end_date - start_date))) from events)::double precision)`

// Builds JSON only for the events of the page, which is selected first.
const pageOf = (spelling: Spelling, nested: Record<string, string>, where = '') => `
  select coalesce(json_agg(body), '[]')::text as body
  from (
    select ${eventFields(spelling, nested)}
    from (
      select * from events as event
      where ${notEnded} ${where}
      order by event.start_date, event.id
      limit 50
    ) as event
    order by event.start_date, event.id
  ) as body`

const searched = 'and event.search_words @@ $1::tsquery'
const near = `and event.location_id in (
  select id from locations
  where latitude between $4::float8 and $5::float8 and longitude between $6::float8 and $7::float8
    and 2 * 6371.0088 * asin(least(1, sqrt(power(sin(radians(latitude - $1::float8) / 2), 2)
      + cos(radians($1::float8)) * cos(radians(latitude)) * power(sin(radians(longitude - $2::float8) / 2), 2)))) <= $3::float8)`

/** Statement of each page. */
export const pageStatements = {
  graphql: pageOf(graphql, { organization, location, ticketRates: rates(graphql) }),
  rest: pageOf(rest, { ticket_rates: rates(rest) }),
  events: pageOf(rest, {}),
  /** $1: a tsquery. */
  search: pageOf(rest, {}, searched),
  /** $1–$3: latitude, longitude and kilometres; $4–$7: south, north, west and east of the bounding box. */
  radius: pageOf(rest, {}, near),
}

export type Page = keyof typeof pageStatements

/** Text before and after a page in a response. */
export const envelope = (page: Page): [before: string, after: string] =>
  page === 'graphql' ? ['{"data":{"events":{"nodes":', '}}}'] : ['{"success":true,"data":', '}']
