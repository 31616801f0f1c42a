import { z } from 'zod'
import { exampleIds } from '../../../rest/openapi/example-ids.ts'
import { toMajor } from '../../../shared/money.ts'
import type { Ticket } from '../../ticket/table.ts'
import * as views from '../../ticket/views.ts'
import { priceBody, priceExample, toPriceBody } from '../../ticket-rate/body.ts'
import type { Price } from '../../ticket-rate/table.ts'

const amount = (description: string) => z.number().meta({ description })
const text = (description: string) => z.string().meta({ description })
const optionalText = (description: string) => z.string().nullable().meta({ description })
const timestamp = z.iso.datetime().nullable()

const feesBody = z
  .object({
    organization: amount('Fee of the organization, added to the price, in major units.'),
    platform: amount(
      'Commission that the platform keeps from the organization, in major units. Not part of the total.',
    ),
  })
  .meta({ id: 'TicketFees', description: 'Fees of the organization and of the platform.' })

const answerBody = z
  .object({
    question_id: text('Identifier of the question.'),
    answer: text('Answer text.'),
  })
  .meta({ id: 'Answer', description: 'Answer to a question of the ticket rate.' })

const supplementBody = z
  .object({
    supplement_id: text('Supplement identifier.'),
    price: amount('Price paid, in major units.'),
  })
  .meta({ id: 'IssuedSupplement', description: 'Supplement bought with a ticket, as the checkout shows it.' })

const refundBody = z
  .object({
    channel_id: text('Identifier of the channel that sold the ticket.'),
    amount: amount('Amount in major units.'),
    at: z.iso.datetime().describe('Time of the refund.'),
  })
  .meta({ id: 'Refund', description: 'Completed refund of a ticket.' })

const warrantyBody = z
  .object({
    total: amount('Cost in major units; 0 without a warranty.'),
    hours: z
      .int()
      .describe(
        'Number of hours before the start of the event at which the warranty ends; 0 without a warranty.',
      ),
  })
  .meta({ id: 'TicketWarranty', description: 'Warranty bought with the ticket; zeros if none.' })

/** JSON shape of a ticket in a checkout response. Amounts in major units of the ticket's currency. */
export const issuedTicketBody = z.object({
  _id: text('Ticket identifier.'),
  test: z.literal(true).optional().describe('True on a test ticket; absent from any other.'),
  event_id: text('Identifier of the event.'),
  ticket_rate_id: text('Identifier of the ticket rate.'),
  qr_code: text('Code that is scanned at the door: 1 to 64 visible ASCII characters.'),
  status: z
    .enum(views.checkoutStatuses)
    .describe('Ticket status; `active` from the start, even before it is paid.'),
  price: priceBody.describe('Price that the ticket was sold at.'),
  payment_currency: text('Currency of all amounts, as an ISO 4217 code.'),
  channel_id: text('Identifier of the channel that sold the ticket.'),
  fees: feesBody,
  full_name: text('Full name of the attendee.'),
  phone: optionalText('Phone number in international format.'),
  email: text('E-mail address of the attendee.'),
  gender: z.int().nullable().describe('Gender, as one digit. The service attaches no meaning to it.'),
  birthday: z.iso.date().nullable().describe('Date of birth, `YYYY-MM-DD`.'),
  address: optionalText('Street and number.'),
  postal_code: optionalText('Postal code.'),
  country_code: optionalText('Two-letter ISO 3166 country code.'),
  personal_document_type: optionalText('Type of identity document: `dni`, `nie`, `passport` or another one.'),
  personal_document_number: optionalText('Number of the identity document.'),
  answers: z.array(answerBody).describe('Answers to the questions of the ticket rate.'),
  supplements: z.array(supplementBody).describe('Supplements bought with the ticket.'),
  refunded: amount('Amount refunded so far, in major units.'),
  refunded_at: timestamp.describe('Time of the last refund; null if there was none.'),
  refunds: z.array(refundBody).describe('Completed refunds.'),
  for: z.int().describe('Number of people that the ticket admits.'),
  enter: z.int().describe('Number of people inside now.'),
  entry_time: timestamp.describe('Time of the last entry; null if nobody has entered.'),
  total_supplements: amount('Total of the supplements, in major units.'),
  total_fees: amount('Total of the fees that the buyer pays, in major units.'),
  total_price: amount('Total of price, supplements, fees and warranty, minus the discount, in major units.'),
  warranty: warrantyBody,
})
issuedTicketBody.register(z.globalRegistry, {
  id: 'IssuedTicket',
  description: 'Ticket, as the checkout that created it shows it.',
})

export type IssuedTicketBody = z.output<typeof issuedTicketBody>

export function toIssuedTicketBody(ticket: Ticket, price: Price): IssuedTicketBody {
  const major = (minor: number) => toMajor(minor, ticket.currency)
  return {
    _id: ticket.id,
    ...(ticket.mode === 'test' && { test: true as const }),
    event_id: ticket.eventId,
    ticket_rate_id: ticket.ticketRateId,
    qr_code: ticket.qrCode,
    status: views.checkoutStatus(ticket),
    price: toPriceBody(views.priceAsSold(price, ticket)),
    payment_currency: ticket.currency,
    channel_id: ticket.channelId,
    fees: { organization: major(ticket.organizationFeeAmount), platform: major(ticket.platformFeeAmount) },
    full_name: ticket.fullName,
    phone: ticket.phone,
    email: ticket.email,
    gender: ticket.gender === null ? null : Number(ticket.gender),
    birthday: ticket.birthday,
    address: ticket.address,
    postal_code: ticket.postalCode,
    country_code: ticket.countryCode,
    personal_document_type: ticket.personalDocumentType,
    personal_document_number: ticket.personalDocumentNumber,
    answers: ticket.answers.map(({ questionId, answer }) => ({ question_id: questionId, answer })),
    supplements: ticket.supplements.map(({ supplementId, amount }) => ({
      supplement_id: supplementId,
      price: major(amount),
    })),
    refunded: major(ticket.refundedAmount),
    refunded_at: ticket.refundedAt?.toISOString() ?? null,
    refunds: ticket.refunds.map(({ channelId, amount, at }) => ({
      channel_id: channelId,
      amount: major(amount),
      at,
    })),
    for: ticket.admits,
    enter: ticket.entered,
    entry_time: ticket.lastEntryAt?.toISOString() ?? null,
    total_supplements: major(ticket.supplementsAmount),
    total_fees: major(ticket.organizationFeeAmount),
    total_price: major(ticket.totalAmount),
    warranty: { total: major(ticket.warrantyAmount), hours: ticket.warrantyHours },
  }
}

/** Ticket of a checkout in the examples of the documentation. */
export const issuedTicketExample: IssuedTicketBody = {
  _id: exampleIds.ticketId,
  event_id: exampleIds.eventId,
  ticket_rate_id: exampleIds.ticketRateId,
  qr_code: 'K7M2PQ9RXW3DT4HBN',
  status: 'active',
  price: priceExample,
  payment_currency: 'EUR',
  channel_id: 'chn_01jd8r6t7c4e6g8j1m3p5r7t9v',
  fees: { organization: 1.6, platform: 1 },
  full_name: 'Ada Lovelace',
  phone: null,
  email: 'ada@example.com',
  gender: null,
  birthday: null,
  address: null,
  postal_code: null,
  country_code: null,
  personal_document_type: null,
  personal_document_number: null,
  answers: [],
  supplements: [],
  refunded: 0,
  refunded_at: null,
  refunds: [],
  for: 1,
  enter: 0,
  entry_time: null,
  total_supplements: 0,
  total_fees: 1.6,
  total_price: 21.6,
  warranty: { total: 0, hours: 0 },
}
