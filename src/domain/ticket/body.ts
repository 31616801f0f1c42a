import { z } from 'zod'
import { exampleIds } from '../../rest/openapi/example-ids.ts'
import { toMajor } from '../../shared/money.ts'
import { minimumAge } from '../event/minimum-age.ts'
import { type LookupTicket, saleType } from './table.ts'
import * as views from './views.ts'

// JSON shape of a ticket in the REST lookup (INTERFACE, Ticket). Amounts are in major units of its currency.

const amount = (description: string) => z.number().describe(description)
const nullableText = z.string().nullable()
const moment = z.iso.datetime().nullable()

const supplementBody = z.object({
  _id: z.string().describe('Supplement identifier.'),
  price: z.number().describe('Price paid, in major units.'),
  label: z.string().describe('Display name.'),
  description: nullableText.describe('Description; null if it has none.'),
  has_fake_price: z.boolean().describe('True if `fake_price` was shown struck through.'),
  fake_price: z.number().nullable().describe('Price that was shown struck through, in major units.'),
  product_quantity: z.int().describe('Number of items bought.'),
  product_quantity_used: z.int().describe('Number of items redeemed.'),
})
supplementBody.register(z.globalRegistry, {
  id: 'TicketSupplement',
  description: 'Supplement bought with a ticket, as the lookup shows it.',
})

const priceInfoBody = z
  .object({
    _id: z.string().describe('Price identifier.'),
    price: amount('Price without fees, supplements and warranty, in major units.'),
    age: z.int().nullable().describe('Minimum age of the event; null if it has none.'),
    content: nullableText.describe('Description of what the price includes.'),
    additional_info: nullableText.describe('Additional information for the buyer.'),
  })
  .meta({ id: 'PriceInfo', description: 'Price that the ticket was sold at.' })

export const ticketBody = z.object({
  _id: z.string().describe('Ticket identifier.'),
  activation_date: moment.describe('Time of payment; null unless paid.'),
  channel_id: z.string().describe('Identifier of the channel that sold the ticket.'),
  code: z.string().describe('Code that is scanned at the door: 1 to 64 visible ASCII characters.'),
  discount_quantity_subtract: amount('Amount that a discount took off the price, in major units.'),
  email: z.string().describe('E-mail address of the attendee.'),
  gender: nullableText.describe('Gender, as one digit. The service attaches no meaning to it.'),
  address: nullableText.describe('Street and number.'),
  language: nullableText.describe(
    'Language that the attendee is addressed in, as an ISO 639-1 code; null if it is not known.',
  ),
  country: nullableText.describe('Two-letter ISO 3166 country code.'),
  postal_code: nullableText.describe('Postal code.'),
  enter: z.int().describe('Number of people inside now.'),
  entry_date: z.int().describe('Time of the last entry in Unix seconds; 0 if nobody has entered.'),
  event_id: z.string().describe('Identifier of the event.'),
  for: z.int().describe('Number of people that the ticket admits.'),
  name: z.string().describe('Full name of the attendee.'),
  payment_id: z.string().describe('Identifier of the payment.'),
  phone: nullableText.describe('Phone number in international format.'),
  price: amount('Price without fees, supplements and warranty, in major units.'),
  raised: amount('Amount that the organization keeps after refunds and commission, in major units.'),
  rate_id: z.string().describe('Identifier of the ticket rate.'),
  rate_name: z.string().describe('Name of the ticket rate.'),
  rate_slug: z.string().describe('Slug of the ticket rate.'),
  referral_id: nullableText.describe(
    'Identifier that the channel has for whoever referred the buyer; null if it named nobody.',
  ),
  refunded: amount('Amount refunded so far, in major units.'),
  sale_type: z
    .enum(saleType.enumValues)
    .describe('Way of selling: `online` by a channel, `box_office` at the door, or `invitation`.'),
  price_info: priceInfoBody,
  supplements: z.array(supplementBody).describe('Supplements bought with the ticket.'),
  status: z
    .enum(views.lookupStatuses)
    .describe(
      'Ticket status: `pending` until payment, then `activated`; `cancelled` after a cancellation; `expired` if it was never paid.',
    ),
  total_extras: amount('Total of supplements and warranty, in major units.'),
  total_fees: amount('Total of the fees that the buyer pays, in major units.'),
  total_paid: amount('Amount paid, in major units; 0 unless paid.'),
  invoice_reference: nullableText.describe(
    'Invoice reference; null until the ticket is paid, and always null for a total of 0.',
  ),
  corrective_invoice_references: z
    .array(z.string())
    .describe('References of the corrective invoices, one per refund.'),
  test: z.literal(true).optional().describe('True on a test ticket; absent from any other.'),
})
ticketBody.register(z.globalRegistry, { id: 'Ticket', description: 'Ticket, as its organization sees it.' })

export type TicketBody = z.output<typeof ticketBody>

type Rate = { rateName: string; rateSlug: string }

export function toTicketBody(ticket: LookupTicket & Rate): TicketBody {
  const major = (minor: number) => toMajor(minor, ticket.currency)
  return {
    _id: ticket.id,
    ...(ticket.mode === 'test' && { test: true as const }),
    activation_date: ticket.activatedAt?.toISOString() ?? null,
    channel_id: ticket.channelId,
    code: ticket.qrCode,
    discount_quantity_subtract: major(ticket.discountAmount),
    email: ticket.email,
    gender: ticket.gender,
    address: ticket.address,
    language: ticket.language,
    country: ticket.countryCode,
    postal_code: ticket.postalCode,
    enter: ticket.entered,
    entry_date: views.entryDate(ticket),
    event_id: ticket.eventId,
    for: ticket.admits,
    name: ticket.fullName,
    payment_id: ticket.paymentId,
    phone: ticket.phone,
    price: major(ticket.priceAmount),
    raised: major(views.raised(ticket)),
    rate_id: ticket.ticketRateId,
    rate_name: ticket.rateName,
    rate_slug: ticket.rateSlug,
    referral_id: ticket.referralId,
    refunded: major(ticket.refundedAmount),
    sale_type: ticket.saleType,
    price_info: {
      _id: ticket.priceId,
      price: major(ticket.priceAmount),
      age: minimumAge({ age: ticket.eventAge }),
      content: ticket.priceIncludes,
      additional_info: ticket.priceAdditionalInfo,
    },
    supplements: ticket.supplements.map((supplement) => ({
      _id: supplement.supplementId,
      price: major(supplement.amount),
      label: supplement.label,
      description: supplement.description,
      has_fake_price: supplement.hasFakePrice,
      fake_price: supplement.fakeAmount === null ? null : major(supplement.fakeAmount),
      product_quantity: supplement.productQuantity,
      product_quantity_used: supplement.used,
    })),
    status: views.lookupStatus(ticket),
    total_extras: major(views.totalExtras(ticket)),
    total_fees: major(ticket.organizationFeeAmount),
    total_paid: major(views.totalPaid(ticket)),
    invoice_reference: ticket.invoiceReference,
    corrective_invoice_references: ticket.correctiveInvoiceReferences,
  }
}

/** Ticket in the examples of the documentation, paid and not used yet. */
export const ticketExample: TicketBody = {
  _id: exampleIds.ticketId,
  activation_date: '2026-11-22T18:04:11.000Z',
  channel_id: 'chn_01jd8r6t7c4e6g8j1m3p5r7t9v',
  code: 'K7M2PQ9RXW3DT4HBN',
  discount_quantity_subtract: 0,
  email: 'ada@example.com',
  gender: null,
  address: null,
  language: 'es',
  country: 'ES',
  postal_code: null,
  enter: 0,
  entry_date: 0,
  event_id: exampleIds.eventId,
  for: 1,
  name: 'Ada Lovelace',
  payment_id: 'pay_01jd8s2w7b6d2f9h5k7n1q4s6v',
  phone: '+34600000000',
  price: 20,
  raised: 20.6,
  rate_id: exampleIds.ticketRateId,
  rate_name: 'Entrance',
  rate_slug: 'entrance',
  referral_id: null,
  refunded: 0,
  sale_type: 'online',
  price_info: {
    _id: exampleIds.priceId,
    price: 20,
    age: 18,
    content: 'One entrance',
    additional_info: null,
  },
  supplements: [],
  status: 'activated',
  total_extras: 0,
  total_fees: 1.6,
  total_paid: 21.6,
  invoice_reference: 'F2026-000001',
  corrective_invoice_references: [],
}

/** JSON shape of a ticket in lists: that of the lookup, and its times. */
export const listedTicketBody = ticketBody
  .extend({
    rate_name: z
      .string()
      .nullable()
      .describe(
        "Name of the ticket rate; null if the organization has withdrawn the calling channel's access.",
      ),
    rate_slug: z
      .string()
      .nullable()
      .describe(
        "Slug of the ticket rate; null if the organization has withdrawn the calling channel's access.",
      ),
    created_at: z.iso.datetime().describe('Time of the checkout.'),
    updated_at: z.iso.datetime().describe('Time of the last change of the ticket.'),
  })
  .meta({ id: 'ListedTicket', description: 'Ticket as lists show it.' })
export type ListedTicketBody = z.output<typeof listedTicketBody>

/** Ticket in the examples of the documentation. */
export const listedTicketExample: ListedTicketBody = {
  ...ticketExample,
  created_at: '2026-11-22T18:03:40.000Z',
  updated_at: '2026-11-22T18:04:11.000Z',
}

/** Converts a ticket to its JSON shape in lists. Amounts in major units. */
export const toListedTicketBody = (ticket: LookupTicket): ListedTicketBody => ({
  ...toTicketBody({ ...ticket, rateName: ticket.rateName ?? '', rateSlug: ticket.rateSlug ?? '' }),
  rate_name: ticket.rateName,
  rate_slug: ticket.rateSlug,
  created_at: ticket.createdAt.toISOString(),
  updated_at: ticket.updatedAt.toISOString(),
})
