import type { Change } from './table.ts'

/** Meaning of each type of change. */
export const changeDescriptions: Record<Change['type'], string> = {
  'payment.paid': 'Payment that was paid.',
  'payment.failed': 'Payment that failed. Its tickets are no longer held.',
  'payment.expired': 'Payment that was not paid in time. Its tickets are no longer held.',
  'payment.refunded': 'Payment of which all or part was refunded.',
  'ticket.activated': 'Ticket that was paid, and is now valid.',
  'ticket.cancelled': 'Ticket that was cancelled after payment.',
  'ticket.entered': 'Ticket with which somebody entered.',
  'ticket.updated':
    'Ticket whose attendee was corrected or erased on request, or with which people left: see `enter`.',
  'ticket.transferred': 'Ticket that was given to another person. Its former code is no longer valid.',
  'ticket.supplement_redeemed': 'Ticket of which a supplement was handed out.',
  'rate.sold_out': 'Ticket rate that has no places left.',
  'rate.available': 'Ticket rate that has places left again.',
}
