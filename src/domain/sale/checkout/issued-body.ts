import { z } from 'zod'
import * as field from '../../../engine/rest/body.ts'
import { body } from '../../../engine/rest/body.ts'
import { lookupFields as lookup, supplementFields } from '../../ticket/body.ts'
import type { Answer, Ticket } from '../../ticket/table.ts'
import * as views from '../../ticket/views.ts'
import { priceBody } from '../../ticket-rate/body.ts'
import type { Price } from '../../ticket-rate/table.ts'

const fees = body('TicketFees', 'Fees of the organization and of the platform.', {
  organization: field.amount(
    'organizationFeeAmount',
    'Fee of the organization, added to the price, in major units.',
    1.6,
  ),
  platform: field.amount(
    'platformFeeAmount',
    'Commission that the platform keeps from the organization, in major units. Not part of the total.',
    1,
  ),
})

const answer = body('Answer', 'Answer to a question of the ticket rate.', {
  question_id: field.text('questionId', 'Identifier of the question.', 'que_01jd8r6t6b3d5f7h9k2m4p6r8t'),
  answer: field.text(
    ({ text, checked, option }: Answer) => text ?? option?.label ?? String(checked),
    'Answer text.',
    'A friend',
  ),
})

const supplement = body('IssuedSupplement', 'Supplement bought with a ticket, as the checkout shows it.', {
  supplement_id: supplementFields._id,
  price: supplementFields.price,
})

const refund = body('Refund', 'Completed refund of a ticket.', {
  channel_id: lookup.channel_id,
  amount: field.amount('amount', 'Amount in major units.', 20),
  at: field.of('at', z.iso.datetime().describe('Time of the refund.'), '2026-11-23T10:00:00.000Z'),
})

const warranty = body('TicketWarranty', 'Warranty bought with the ticket; zeros if none.', {
  total: field.amount('warrantyAmount', 'Cost in major units; 0 without a warranty.', 0),
  hours: field.integer(
    'warrantyHours',
    'Number of hours before the start of the event at which the warranty ends; 0 without a warranty.',
    0,
  ),
})

/** Ticket in a checkout response, with its price beside it. Amounts in major units of the ticket's currency. */
export const issuedTicketBody = body('IssuedTicket', 'Ticket, as the checkout that created it shows it.', {
  _id: lookup._id,
  test: lookup.test,
  event_id: lookup.event_id,
  ticket_rate_id: lookup.rate_id,
  qr_code: lookup.code,
  status: field.oneOf(
    views.checkoutStatus,
    views.checkoutStatuses,
    'Ticket status; `active` from the start, even before it is paid.',
    'active',
  ),
  price: field.of(
    (ticket: Ticket, price: Price) => priceBody.of(views.priceAsSold(price, ticket)),
    priceBody.schema.describe('Price that the ticket was sold at.'),
    priceBody.example,
  ),
  payment_currency: field.text('currency', 'Currency of all amounts, as an ISO 4217 code.', 'EUR'),
  channel_id: lookup.channel_id,
  fees: field.part(fees),
  full_name: lookup.name,
  phone: { ...lookup.phone, example: null },
  email: lookup.email,
  gender: field.optionalInteger(
    ({ gender }: Ticket) => (gender === null ? null : Number(gender)),
    'Gender, as one digit. The service attaches no meaning to it.',
    null,
  ),
  birthday: field.of('birthday', z.iso.date().nullable().describe('Date of birth, `YYYY-MM-DD`.'), null),
  address: lookup.address,
  postal_code: lookup.postal_code,
  country_code: { ...lookup.country, example: null },
  personal_document_type: field.optionalText(
    'personalDocumentType',
    'Type of identity document: `dni`, `nie`, `passport` or another one.',
    null,
  ),
  personal_document_number: field.optionalText(
    'personalDocumentNumber',
    'Number of the identity document.',
    null,
  ),
  answers: field.list('answers', answer, 'Answers to the questions of the ticket rate.'),
  supplements: field.list('supplements', supplement, 'Supplements bought with the ticket.'),
  refunded: lookup.refunded,
  refunded_at: field.optionalTime('refundedAt', 'Time of the last refund; null if there was none.', null),
  refunds: field.list('refunds', refund, 'Completed refunds.'),
  for: lookup.for,
  enter: lookup.enter,
  entry_time: field.optionalTime('lastEntryAt', 'Time of the last entry; null if nobody has entered.', null),
  total_supplements: field.amount('supplementsAmount', 'Total of the supplements, in major units.', 0),
  total_fees: lookup.total_fees,
  total_price: field.amount(
    'totalAmount',
    'Total of price, supplements, fees and warranty, minus the discount, in major units.',
    21.6,
  ),
  warranty: field.part(warranty),
})
