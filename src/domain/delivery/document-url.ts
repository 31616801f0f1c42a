import { translate } from '../../language/translate.ts'
import { addressTokenReader } from '../../shared/ids.ts'
import type { Ticket } from '../ticket/table.ts'
import { languageOfDocument, type TicketDocument } from './find-documents.ts'

type Documented = Pick<Ticket, 'status' | 'documentToken'>

/** URL of a ticket's PDF. The token is unguessable, and anybody with the URL has the ticket. Null unless the
 *  ticket is active. */
export const documentUrl = ({ status, documentToken }: Documented, publicUrl: string): string | null =>
  status === 'active' && documentToken !== null ? `${publicUrl}/tickets/${documentToken}.pdf` : null

/** Reads the token of a document; null if the text has not its form. */
export const readDocumentToken = addressTokenReader(/[0-9a-f]{64}/)

const plain = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60)

/** Name of a file for an event. A slug may hold any character, so it is reduced to a safe file name. */
export const fileName = ({ slug, name }: TicketDocument['event'], suffix: string): string =>
  `${plain(slug) || plain(name) || 'event'}${suffix}`

/** Name of a ticket's PDF, distinct from those of the other tickets of its checkout. */
export function documentName(document: TicketDocument): string {
  const number = document.ticket.position + 1
  const name = translate(languageOfDocument(document), 'document.file', { number })
  return fileName(document.event, `-${plain(name)}.pdf`)
}
