import type { TicketDocument } from './find-documents.ts'
import type { Delivery } from './table.ts'

/** Sends the tickets of a delivery, or a notice about one. Throws `Undelivered` on failure. */
export type Sender = (
  delivery: Pick<Delivery, 'id' | 'notice' | 'recipient' | 'ticketId'>,
  documents: [TicketDocument, ...TicketDocument[]],
) => Promise<void>

/** Delivery failure: a code without personal data. A permanent failure is not retried. */
export class Undelivered extends Error {
  readonly code: string
  readonly isPermanent: boolean

  constructor(code: string, isPermanent: boolean) {
    super(code)
    this.name = 'Undelivered'
    this.code = code
    this.isPermanent = isPermanent
  }
}
