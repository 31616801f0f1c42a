import { translate } from '../language/translate.ts'
import { languageOfDocument, type TicketDocument } from './find-documents.ts'

const plain = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60)

/** Name of a file for an event. A slug may hold any character, so it is reduced to a safe file name. */
export const fileName = ({ slug, eventName }: TicketDocument, suffix: string): string =>
  `${plain(slug) || plain(eventName) || 'event'}${suffix}`

/** Name of a ticket's PDF, distinct from those of the other tickets of its checkout. */
export function documentName(document: TicketDocument): string {
  const number = document.position + 1
  const name = translate(languageOfDocument(document), 'document.file', { number })
  return fileName(document, `-${plain(name)}.pdf`)
}
