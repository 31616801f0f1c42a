import { minimumAge } from './bare-pages-sql.ts'
import { graphql, major, moment, money, rest, type Spelling, select, word } from './spelling.ts'

// The gateway's ticket lookup produced by SQL alone, in one statement.

export type Surface = 'graphql' | 'rest'

const inMajor = (amount: string) => major(amount, 'ticket.currency')
const inMoney = (amount: string) => money(amount, 'ticket.currency')

// What a supplement was sold with.
const sold = {
  id: `sold ->> 'supplementId'`,
  amount: `(sold ->> 'amount')::bigint`,
  label: `sold ->> 'label'`,
  description: `sold ->> 'description'`,
  hasFakePrice: `(sold ->> 'hasFakePrice')::boolean`,
  fakeAmount: `(sold ->> 'fakeAmount')::bigint`,
  quantity: `(sold ->> 'productQuantity')::integer`,
  used: `(sold ->> 'used')::integer`,
}

const supplementsOf = (spelling: Spelling, fields: Record<string, string>) => `(
    select coalesce(json_agg(body order by place), '[]')
    from jsonb_array_elements(ticket.supplements) with ordinality as one(sold, place),
      lateral (select ${select(spelling, [], fields)}) as body)`

const paid = (amount: string) => `case when ticket.activated_at is null then 0 else ${amount} end`
const net = paid('greatest(0, ticket.total_amount - ticket.platform_fee_amount - ticket.refunded_amount)')

const status = (spelling: Spelling) =>
  word(
    spelling,
    `(case ticket.status when 'held' then 'pending' when 'active' then 'activated' else ticket.status::text end)`,
  )

const restFields = select(
  rest,
  [
    ...[
      'channel_id',
      'email',
      'gender',
      'address',
      'postal_code',
      'event_id',
      'payment_id',
      'phone',
      'language',
    ],
    ...['invoice_reference', 'corrective_invoice_references', 'referral_id', 'sale_type'],
  ],
  {
    _id: 'ticket.id',
    activation_date: moment('ticket.activated_at'),
    code: 'ticket.qr_code',
    discount_quantity_subtract: inMajor('ticket.discount_amount'),
    country: 'ticket.country_code',
    enter: 'ticket.entered',
    entry_date: 'coalesce(floor(extract(epoch from ticket.last_entry_at)), 0)',
    for: 'ticket.admits',
    name: 'ticket.full_name',
    price: inMajor('ticket.price_amount'),
    raised: inMajor(net),
    rate_id: 'ticket.ticket_rate_id',
    rate_name: 'rate.name',
    rate_slug: 'rate.slug',
    refunded: inMajor('ticket.refunded_amount'),
    price_info: `(select row_to_json(body) from (select ${select(rest, [], {
      _id: 'price.id',
      price: inMajor('ticket.price_amount'),
      age: minimumAge,
      content: 'price.includes',
      additional_info: 'price.additional_info',
    })}) as body)`,
    supplements: supplementsOf(rest, {
      _id: sold.id,
      price: inMajor(sold.amount),
      label: sold.label,
      description: sold.description,
      has_fake_price: sold.hasFakePrice,
      fake_price: inMajor(sold.fakeAmount),
      product_quantity: sold.quantity,
      product_quantity_used: sold.used,
    }),
    status: status(rest),
    total_extras: inMajor('(ticket.supplements_amount + ticket.warranty_amount)'),
    total_fees: inMajor('ticket.organization_fee_amount'),
    total_paid: inMajor(paid('ticket.total_amount')),
  },
  'ticket.',
)

const graphqlFields = select(
  graphql,
  ['qr_code', 'invoice_reference', 'corrective_invoice_references', 'referral_id', 'admits'],
  {
    id: 'ticket.id',
    activated_at: moment('ticket.activated_at'),
    channel: `case when ticket.channel_id <> ticket.organization_id
      then (select json_build_object('id', id) from channels where id = ticket.channel_id) end`,
    payment: `(select json_build_object('id', id) from payments where id = ticket.payment_id)`,
    event: `json_build_object('id', event.id, 'minimumAge', ${minimumAge})`,
    ticket_rate: `json_build_object('id', rate.id, 'name', rate.name, 'slug', rate.slug)`,
    attendee: `json_build_object('fullName', ticket.full_name, 'email', ticket.email, 'phone', ticket.phone,
      'language', ticket.language, 'address',
      case when num_nonnulls(ticket.address, ticket.postal_code, ticket.country_code) > 0 then json_build_object(
        'street', ticket.address, 'postalCode', ticket.postal_code, 'countryCode', ticket.country_code) end)`,
    price: `json_build_object('id', price.id, 'price', ${inMoney('ticket.price_amount')},
      'includes', price.includes, 'additionalInfo', price.additional_info)`,
    inside: 'ticket.entered',
    last_entered_at: moment('ticket.last_entry_at'),
    sale_type: word(graphql, 'ticket.sale_type'),
    status: status(graphql),
    supplements: supplementsOf(graphql, {
      supplement_id: sold.id,
      price: inMoney(sold.amount),
      name: sold.label,
      description: sold.description,
      compare_at_price: `case when ${sold.hasFakePrice} and ${sold.fakeAmount} is not null then ${inMoney(sold.fakeAmount)} end`,
      count: sold.quantity,
      redeemed: sold.used,
    }),
    amounts: `json_build_object('price', ${inMoney('ticket.price_amount')},
      'discount', ${inMoney('ticket.discount_amount')}, 'supplements', ${inMoney('ticket.supplements_amount')},
      'fees', ${inMoney('ticket.organization_fee_amount')}, 'warranty', ${inMoney('ticket.warranty_amount')},
      'total', ${inMoney('ticket.total_amount')})`,
    settlement: `json_build_object('paid', ${inMoney(paid('ticket.total_amount'))},
      'refunded', ${inMoney('ticket.refunded_amount')}, 'net', ${inMoney(net)})`,
  },
  'ticket.',
)

const ticketFields: Record<Surface, string> = { graphql: graphqlFields, rest: restFields }

// $1: the ticket's ID.
const lookupOf = (surface: Surface) => `
  select row_to_json(body)::text as body
  from (
    select ${ticketFields[surface]}
    from tickets as ticket
    join ticket_rates as rate on rate.id = ticket.ticket_rate_id
    join prices as price on price.id = ticket.price_id
    join events as event on event.id = ticket.event_id
    where ticket.id = $1
  ) as body`

// $1: the ID of a ticket, whose organization's newest 50 are listed.
const listOf = (surface: Surface) => `
  select json_agg(body)::text as body
  from (
    select ${ticketFields[surface]}
      ${surface === 'rest' ? `, ${moment('ticket.created_at')} as created_at, ${moment('ticket.updated_at')} as updated_at` : ''}
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
export const listStatements: Record<Surface, string> = { graphql: listOf('graphql'), rest: listOf('rest') }

/** Text before and after the tickets in a response. */
export const listEnvelope = (surface: Surface): [before: string, after: string] =>
  surface === 'graphql' ? ['{"data":{"tickets":{"nodes":', '}}}'] : ['{"success":true,"data":', '}']

/** The statement that looks a ticket up. */
export const lookupStatements: Record<Surface, string> = {
  graphql: lookupOf('graphql'),
  rest: lookupOf('rest'),
}

/** Text before and after a ticket in a response. */
export const lookupEnvelope = (surface: Surface): [before: string, after: string] =>
  surface === 'graphql' ? ['{"data":{"ticket":', '}}'] : ['{"success":true,"data":', '}']
