import { z } from 'zod'
import * as field from '../../engine/rest/body.ts'
import { body } from '../../engine/rest/body.ts'
import { isTest } from '../caller/mode.ts'
import { changeOf, type NewChange } from '../change/table.ts'
import { exampleIds } from '../contract/ids.ts'
import { minimumAge } from '../event/minimum-age.ts'
import { type LookupTicket, saleType, type Ticket } from './table.ts'
import * as views from './views.ts'

// JSON bodies of a ticket (INTERFACE, Ticket): in the lookup, in lists, and in changes. Amounts are in major units of
// its currency.

const channelId = 'chn_01jd8r6t7c4e6g8j1m3p5r7t9v'
const code = 'K7M2PQ9RXW3DT4HBN'
const paidAt = '2026-11-22T18:04:11.000Z'

const price = field.amount('priceAmount', 'Price without fees, supplements and warranty, in major units.', 20)

const priceInfo = body('PriceInfo', 'Price that the ticket was sold at.', {
  _id: field.text('priceId', 'Price identifier.', exampleIds.priceId),
  price,
  age: field.optionalInteger(
    ({ eventAge }: LookupTicket) => minimumAge({ age: eventAge }),
    'Minimum age of the event; null if it has none.',
    18,
  ),
  content: field.optionalText('priceIncludes', 'Description of what the price includes.', 'One entrance'),
  additional_info: field.optionalText('priceAdditionalInfo', 'Additional information for the buyer.', null),
})

/** Fields of a supplement in the lookup; the checkout takes its own from here. */
export const supplementFields = {
  _id: field.text('supplementId', 'Supplement identifier.', 'sup_01jd8r6t6a2c4e6g8j1m3p5r7t'),
  price: field.amount('amount', 'Price paid, in major units.', 12),
  label: field.text('label', 'Display name.', 'Three drinks'),
  description: field.optionalText('description', 'Description; null if it has none.', null),
  has_fake_price: field.flag('hasFakePrice', 'True if `fake_price` was shown struck through.', false),
  fake_price: field.optionalAmount(
    'fakeAmount',
    'Price that was shown struck through, in major units.',
    null,
  ),
  product_quantity: field.integer('productQuantity', 'Number of items bought.', 3),
  product_quantity_used: field.integer('used', 'Number of items redeemed.', 0),
}
const supplement = body(
  'TicketSupplement',
  'Supplement bought with a ticket, as the lookup shows it.',
  supplementFields,
)

/** Fields of a ticket in the lookup; other bodies take theirs from here. */
export const lookupFields = {
  _id: field.text('id', 'Ticket identifier.', exampleIds.ticketId),
  activation_date: field.optionalTime('activatedAt', 'Time of payment; null unless paid.', paidAt),
  channel_id: field.text('channelId', 'Identifier of the channel that sold the ticket.', channelId),
  code: field.text('qrCode', 'Code that is scanned at the door: 1 to 64 visible ASCII characters.', code),
  discount_quantity_subtract: field.amount(
    'discountAmount',
    'Amount that a discount took off the price, in major units.',
    0,
  ),
  email: field.text('email', 'E-mail address of the attendee.', 'ada@example.com'),
  gender: field.optionalText('gender', 'Gender, as one digit. The service attaches no meaning to it.', null),
  address: field.optionalText('address', 'Street and number.', null),
  language: field.optionalText(
    'language',
    'Language that the attendee is addressed in, as an ISO 639-1 code.',
    'es',
  ),
  country: field.optionalText('countryCode', 'Two-letter ISO 3166 country code.', 'ES'),
  postal_code: field.optionalText('postalCode', 'Postal code.', null),
  enter: field.integer('entered', 'Number of people inside now.', 0),
  entry_date: field.integer(
    views.entryDate,
    'Time of the last entry in Unix seconds; 0 if nobody has entered.',
    0,
  ),
  event_id: field.text('eventId', 'Identifier of the event.', exampleIds.eventId),
  for: field.integer('admits', 'Number of people that the ticket admits.', 1),
  name: field.text('fullName', 'Full name of the attendee.', 'Ada Lovelace'),
  payment_id: field.text('paymentId', 'Payment identifier.', 'pay_01jd8s2w7b6d2f9h5k7n1q4s6v'),
  phone: field.optionalText('phone', 'Phone number in international format.', '+34600000000'),
  price,
  raised: field.amount(
    views.raised,
    'Amount that the organization keeps after refunds and commission, in major units.',
    20.6,
  ),
  rate_id: field.text('ticketRateId', 'Identifier of the ticket rate.', exampleIds.ticketRateId),
  rate_name: field.text('rateName', 'Name of the ticket rate.', 'Entrance'),
  rate_slug: field.text('rateSlug', 'Slug of the ticket rate.', 'entrance'),
  referral_id: field.optionalText(
    'referralId',
    'Identifier that the channel has for whoever referred the buyer; null if it named nobody.',
    null,
  ),
  refunded: field.amount('refundedAmount', 'Amount refunded so far, in major units.', 0),
  sale_type: field.oneOf(
    'saleType',
    saleType.enumValues,
    'Way of selling: `online` by a channel, `box_office` at the door, or `invitation`.',
    'online',
  ),
  price_info: field.part(priceInfo),
  supplements: field.list('supplements', supplement, 'Supplements bought with the ticket.'),
  status: field.oneOf(
    views.lookupStatus,
    views.lookupStatuses,
    'Ticket status: `pending` until payment, then `activated`; `cancelled` after a cancellation; `expired` if it was never paid.',
    'activated',
  ),
  total_extras: field.amount(views.totalExtras, 'Total of supplements and warranty, in major units.', 0),
  total_fees: field.amount(
    'organizationFeeAmount',
    'Total of the fees that the buyer pays, in major units.',
    1.6,
  ),
  total_paid: field.amount(views.totalPaid, 'Amount paid, in major units; 0 unless paid.', 21.6),
  invoice_reference: field.optionalText(
    'invoiceReference',
    'Invoice reference; null until the ticket is paid, and always null for a total of 0.',
    'F2026-000001',
  ),
  corrective_invoice_references: field.texts(
    'correctiveInvoiceReferences',
    'References of the corrective invoices, one per refund.',
    [],
  ),
  test: isTest('True on a test ticket; absent from any other.'),
}

/** Ticket in the lookup. */
export const ticketBody = body('Ticket', 'Ticket, as its organization sees it.', lookupFields)

const whileGranted = (what: string) =>
  `${what}; null if the organization has withdrawn the calling channel's access.`

/** Ticket in lists: that of the lookup, and its times. */
export const listedTicketBody = body('ListedTicket', 'Ticket as lists show it.', {
  ...lookupFields,
  rate_name: field.optionalText('rateName', whileGranted('Name of the ticket rate'), 'Entrance'),
  rate_slug: field.optionalText('rateSlug', whileGranted('Slug of the ticket rate'), 'entrance'),
  created_at: field.time('createdAt', 'Time of the checkout.', '2026-11-22T18:03:40.000Z'),
  updated_at: field.time('updatedAt', 'Time of the last change of the ticket.', paidAt),
})

/** Ticket in changes, in the feed and in webhooks (DECISIONS, changes). Contains no personal data and no code. */
export const ticketChangeBody = body('TicketState', 'State of a ticket right after a change.', {
  ticket_id: lookupFields._id,
  payment_id: lookupFields.payment_id,
  event_id: lookupFields.event_id,
  ticket_rate_id: lookupFields.rate_id,
  status: field.oneOf(
    views.lookupStatus,
    views.lookupStatuses,
    'Ticket status, as in the lookup.',
    'activated',
  ),
  for: lookupFields.for,
  enter: lookupFields.enter,
})

/** Columns of a ticket that a change contains. */
type ChangedTicket = Parameters<typeof ticketChangeBody.of>[0] &
  Pick<Ticket, 'organizationId' | 'channelId' | 'mode' | 'status'>

/** Builds the change of a ticket from its current state, with the field names of the REST lookup, and facts
 *  of the change itself. Contains no personal data and no code. */
export const ticketChange = (
  type: Extract<NewChange['type'], `ticket.${string}`>,
  ticket: ChangedTicket,
  facts?: Record<string, string | number>,
): NewChange => changeOf(type, ticket, ticketChangeBody.of(ticket), facts)

/** Schema of the change of an entry. */
export const ticketEnteredBody = ticketChangeBody.schema
  .extend({ people: z.int().min(1).describe('Number of people who entered.') })
  .meta({ id: 'TicketEntered', description: 'State of a ticket right after an entry.' })

/** Schema of the change of a redemption. */
export const supplementRedeemedBody = ticketChangeBody.schema
  .extend({
    supplement_id: z.string().describe('Identifier of the supplement.'),
    redeemed: z.int().min(1).describe('Number of items that were handed out.'),
    left: z.int().describe('Number of items that are left.'),
  })
  .meta({ id: 'SupplementRedeemed', description: 'State of a ticket right after a redemption.' })
