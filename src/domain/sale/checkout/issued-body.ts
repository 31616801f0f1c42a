import { z } from 'zod'
import { toMajor } from '../../../shared/money.ts'
import type { Ticket } from '../../ticket/table.ts'
import * as views from '../../ticket/views.ts'
import { priceBody, toPriceBody } from '../../ticket-rate/body.ts'
import type { Price } from '../../ticket-rate/table.ts'

const amount = (description: string) => z.number().meta({ description })
const timestamp = z.iso.datetime().nullable()

/** JSON shape of a ticket in a checkout response. Amounts in major units of the ticket's currency. */
export const issuedTicketBody = z.object({
  _id: z.string(),
  event_id: z.string(),
  ticket_rate_id: z.string(),
  qr_code: z.string().meta({ description: 'Code scanned at the door.' }),
  status: z
    .enum(views.checkoutStatuses)
    .meta({ description: 'Ticket status; `active` from the start, even before it is paid.' }),
  price: priceBody,
  payment_currency: z.string(),
  channel_id: z.string(),
  fees: z.object({
    organization: amount('Fee the organization adds to the price.'),
    platform: amount('Commission the platform keeps from the organization; not part of the total.'),
  }),
  full_name: z.string(),
  phone: z.string().nullable(),
  email: z.string(),
  gender: z.int().nullable(),
  birthday: z.iso.date().nullable(),
  address: z.string().nullable(),
  postal_code: z.string().nullable(),
  country_code: z.string().nullable(),
  personal_document_type: z.string().nullable(),
  personal_document_number: z.string().nullable(),
  answers: z.array(z.object({ question_id: z.string(), answer: z.string() })),
  supplements: z.array(z.object({ supplement_id: z.string(), price: z.number() })),
  refunded: amount('Amount refunded so far.'),
  refunded_at: timestamp,
  refunds: z.array(z.object({ channel_id: z.string(), amount: z.number(), at: z.iso.datetime() })),
  for: z.int().meta({ description: 'Number of people the ticket admits.' }),
  enter: z.int().meta({ description: 'Number of people who have entered.' }),
  entry_time: timestamp.meta({ description: 'Time of the last entry.' }),
  total_supplements: z.number(),
  total_fees: z.number(),
  total_price: amount('Sum of price, supplements, fees and warranty.'),
  warranty: z.object({ total: z.number(), hours: z.int() }),
})

export function toIssuedTicketBody(ticket: Ticket, price: Price): z.output<typeof issuedTicketBody> {
  const major = (minor: number) => toMajor(minor, ticket.currency)
  return {
    _id: ticket.id,
    event_id: ticket.eventId,
    ticket_rate_id: ticket.ticketRateId,
    qr_code: ticket.qrCode,
    status: views.checkoutStatus(ticket),
    price: toPriceBody(price),
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
