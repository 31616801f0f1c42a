import type { Connection } from '../../database/database.ts'
import { newId } from '../../shared/ids.ts'
import type { Payment } from '../payment/table.ts'
import { anonymized } from '../ticket/anonymized.ts'
import type { Ticket } from '../ticket/table.ts'
import { deliveries } from './table.ts'

type Paid = { payment: Payment; tickets: Pick<Ticket, 'email' | 'phone'>[] }

function deliveriesOf({ payment, tickets }: Paid) {
  const to = (medium: 'email' | 'whatsapp', recipients: (string | null)[]) =>
    [...new Set(recipients)].flatMap((recipient) =>
      recipient && recipient !== anonymized
        ? [
            {
              organizationId: payment.organizationId,
              id: newId('dlv'),
              paymentId: payment.id,
              medium,
              recipient,
            },
          ]
        : [],
    )
  const emails = tickets.map(({ email }) => email)
  const phones = tickets.map(({ phone }) => phone)
  return [...to('email', emails), ...to('whatsapp', phones)]
}

/** Queues the tickets of paid checkouts for sending, in the transaction that makes them paid: one mail per
 *  address and one message per phone number, if the checkout asked for it (INTERFACE, `send_resourcers`). A
 *  background job sends them. */
export async function queueDeliveries(tx: Connection, paid: Paid[]): Promise<void> {
  const queued = paid.filter(({ payment }) => payment.sendResourcers).flatMap(deliveriesOf)
  if (queued.length > 0) await tx.insert(deliveries).values(queued).onConflictDoNothing()
}
