import type { Connection } from '../../database/database.ts'
import { newId } from '../../shared/ids.ts'
import type { Payment } from '../payment/table.ts'
import type { Ticket } from '../ticket/table.ts'
import { deliveries } from './table.ts'

type Paid = { payment: Payment; tickets: Pick<Ticket, 'email' | 'phone'>[] }

function deliveriesOf({ payment, tickets }: Paid) {
  const to = (medium: 'email' | 'whatsapp', recipients: (string | null)[]) =>
    [...new Set(recipients)].flatMap((recipient) =>
      recipient ? [{ id: newId('dlv'), paymentId: payment.id, medium, recipient }] : [],
    )
  const emails = tickets.map(({ email }) => email)
  const phones = tickets.map(({ phone }) => phone)
  return [...to('email', emails), ...to('whatsapp', phones)]
}

/** Puts paid checkouts that ask for it on their way to their buyers, in the transaction that makes them paid: a mail
 *  for each address, and a message for each phone number. What is queued is sent later, outside of requests (INTERFACE,
 *  `send_resourcers`). */
export async function queueDeliveries(tx: Connection, paid: Paid[]): Promise<void> {
  const queued = paid.filter(({ payment }) => payment.sendResourcers).flatMap(deliveriesOf)
  if (queued.length > 0) await tx.insert(deliveries).values(queued).onConflictDoNothing()
}
