import { exampleIds } from '../../../rest/openapi/example-ids.ts'
import { priceExample } from '../../ticket-rate/price-example.ts'
import type { IssuedTicketBody } from './issued-body.ts'

const { eventId, ticketRateId, priceId, ticketId } = exampleIds

const ticket: IssuedTicketBody = {
  _id: ticketId,
  event_id: eventId,
  ticket_rate_id: ticketRateId,
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

/** Checkout of one ticket, in the examples of the documentation. */
export const checkoutExample = {
  body: {
    ticket_rate_id: ticketRateId,
    tickets: [{ price_id: priceId, full_name: 'Ada Lovelace', email: 'ada@example.com' }],
  },
  answer: {
    data: {
      payment_id: 'pay_01jd8s2w7b6d2f9h5k7n1q4s6v',
      payment_url: 'https://tickets.example/pay/Qm3c7R1xV9tY5nK2w8Zp4sLh',
      total_amount: 21.6,
      tickets: [ticket],
      conditions_changed: false,
    },
  },
}
