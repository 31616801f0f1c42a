import type { Ticket } from '../ticket/table.ts'
import type { Sheet } from './find-sheets.ts'

type Documented = Pick<Ticket, 'status' | 'documentToken'>

/** URL of a ticket's PDF. The token is unguessable, and anybody with the URL has the ticket. Null unless the
 *  ticket is active. */
export const documentUrl = ({ status, documentToken }: Documented, publicUrl: string): string | null =>
  status === 'active' && documentToken !== null ? `${publicUrl}/tickets/${documentToken}.pdf` : null

/** Name of a file for an event. A slug may hold any character, so it is reduced to a safe file name. */
export function fileName({ slug, name }: Sheet['event'], suffix: string): string {
  const plain = (text: string) =>
    text
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 60)
  return `${plain(slug) || plain(name) || 'event'}${suffix}`
}

/** Name of a ticket's PDF, distinct from those of the other tickets of its checkout. */
export const documentName = ({ event, ticket }: Sheet): string =>
  fileName(event, `-ticket-${ticket.position + 1}.pdf`)
