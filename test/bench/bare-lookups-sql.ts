import { graphql, major, moment, rest, type Spelling, select, word } from './spelling.ts'

// The gateway's ticket lookup produced by SQL alone, in one statement.

export type Surface = 'graphql' | 'rest'

const supplements = (spelling: Spelling) => `(
    select coalesce(json_agg(body order by place), '[]')
    from jsonb_array_elements(ticket.supplements) with ordinality as one(sold, place),
      lateral (select ${select(spelling, [], {
        [spelling.id]: `sold ->> 'supplementId'`,
        price: major(`(sold ->> 'amount')::bigint`, 'ticket.currency'),
        label: `sold ->> 'label'`,
        description: `sold ->> 'description'`,
        has_fake_price: `(sold ->> 'hasFakePrice')::boolean`,
        fake_price: major(`(sold ->> 'fakeAmount')::bigint`, 'ticket.currency'),
        product_quantity: `(sold ->> 'productQuantity')::integer`,
        product_quantity_used: `(sold ->> 'used')::integer`,
      })}) as body)`

const priceInfo = (spelling: Spelling) => `(
    select row_to_json(body) from (select ${select(spelling, [], {
      [spelling.id]: 'price.id',
      price: major('ticket.price_amount', 'ticket.currency'),
      age: `substring(event.age from '\\d{1,3}')::integer`,
      content: 'price.includes',
      additional_info: 'price.additional_info',
    })}) as body)`

const paid = (amount: string) =>
  major(`case when ticket.activated_at is null then 0 else ${amount} end`, 'ticket.currency')

const ticketFields = (spelling: Spelling) =>
  select(
    spelling,
    [
      ...['channel_id', 'email', 'gender', 'address', 'postal_code', 'event_id', 'payment_id', 'phone'],
      ...['invoice_reference', 'corrective_invoice_references'],
    ],
    {
      [spelling.id]: 'ticket.id',
      activation_date: moment('ticket.activated_at'),
      code: 'ticket.qr_code',
      discount_quantity_subtract: major('ticket.discount_amount', 'ticket.currency'),
      language: 'ticket.language',
      country: 'ticket.country_code',
      enter: 'ticket.entered',
      entry_date: 'coalesce(floor(extract(epoch from ticket.last_entry_at)), 0)',
      for: 'ticket.admits',
      name: 'ticket.full_name',
      raised: paid('ticket.total_amount - ticket.platform_fee_amount - ticket.refunded_amount'),
      rate_id: 'ticket.ticket_rate_id',
      rate_name: 'rate.name',
      rate_slug: 'rate.slug',
      referral_id: 'ticket.referral_id',
      refunded: major('ticket.refunded_amount', 'ticket.currency'),
      sale_type: word(spelling, 'ticket.sale_type'),
      price_info: priceInfo(spelling),
      supplements: supplements(spelling),
      status: word(
        spelling,
        `(case ticket.status when 'held' then 'pending' when 'active' then 'activated' else ticket.status::text end)`,
      ),
      total_extras: major('(ticket.supplements_amount + ticket.warranty_amount)', 'ticket.currency'),
      total_fees: major('ticket.organization_fee_amount', 'ticket.currency'),
      total_paid: paid('ticket.total_amount'),
      // GraphQL's `price` is the price object; this number is the one in `priceInfo`.
      ...(spelling === rest && { price: major('ticket.price_amount', 'ticket.currency') }),
    },
    'ticket.',
  )

// $1: the ticket's ID.
const lookupOf = (spelling: Spelling) => `
  select row_to_json(body)::text as body
  from (
    select ${ticketFields(spelling)}
    from tickets as ticket
    join ticket_rates as rate on rate.id = ticket.ticket_rate_id
    join prices as price on price.id = ticket.price_id
    join events as event on event.id = ticket.event_id
    where ticket.id = $1
  ) as body`

// $1: the ID of a ticket, whose organization's newest 50 are listed.
const listOf = (spelling: Spelling) => `
  select json_agg(body)::text as body
  from (
    select ${ticketFields(spelling)}
      ${spelling === rest ? `, ${moment('ticket.created_at')} as created_at, ${moment('ticket.updated_at')} as updated_at` : ''}
    from (
      select * from tickets where organization_id = (select organization_id from tickets where id = $1)
      order by created_at desc, id desc limit 50
    ) as ticket
    join ticket_rates as rate on rate.id = ticket.ticket_rate_id
    join prices as price on price.id = ticket.price_id
    join events as event on event.id = ticket.event_id
    order by ticket.created_at desc, ticket.id desc
  ) as body`

/** The statement that lists tickets. */
export const listStatements: Record<Surface, string> = { graphql: listOf(graphql), rest: listOf(rest) }

/** Text before and after the tickets in a response. */
export const listEnvelope = (surface: Surface): [before: string, after: string] =>
  surface === 'graphql' ? ['{"data":{"tickets":{"nodes":', '}}}'] : ['{"success":true,"data":', '}']

/** The statement that looks a ticket up. */
export const lookupStatements: Record<Surface, string> = { graphql: lookupOf(graphql), rest: lookupOf(rest) }

/** Text before and after a ticket in a response. */
export const lookupEnvelope = (surface: Surface): [before: string, after: string] =>
  surface === 'graphql' ? ['{"data":{"ticket":', '}}'] : ['{"success":true,"data":', '}']
