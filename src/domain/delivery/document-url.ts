import type { Ticket } from '../ticket/table.ts'
import type { Sheet } from './find-sheets.ts'

type Documented = Pick<Ticket, 'status' | 'documentToken'>

/** Where the document of a ticket is: the token is unguessable, and whoever has the address has the ticket. Null where
 *  it has none: it is not paid, or nobody gets in with it any more. */
export const documentUrl = ({ status, documentToken }: Documented, publicUrl: string): string | null =>
  status === 'active' && documentToken !== null ? `${publicUrl}/tickets/${documentToken}.pdf` : null

/** What a file of an event is called. A slug may hold anything; a name of a file may not. */
export function fileName({ slug, name }: Sheet['event'], rest: string): string {
  const plain = (text: string) =>
    text
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 60)
  return `${plain(slug) || plain(name) || 'event'}${rest}`
}

/** What a ticket's document is called, apart from the others of its checkout. */
export const documentName = ({ event, ticket }: Sheet): string =>
  fileName(event, `-ticket-${ticket.position + 1}.pdf`)
