import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { sha256 } from '../../engine/base/ids.ts'
import { createBulkhead } from '../../engine/base/turns.ts'
import { ownedBy } from '../../engine/database/database.ts'
import { answerErrors } from '../../engine/http/error-handler.ts'
import { secretAddress } from '../../engine/http/security.ts'
import type { RateLimits } from '../../engine/request/rate-limits.ts'
import type { Services } from '../caller/context.ts'
import { nameInMode } from '../caller/idempotency.ts'
import { addressTokenReader } from '../contract/ids.ts'
import { refusal } from '../contract/problem-codes.ts'
import { type Note, negotiateLanguage, sendErrorPage, sendNote } from '../language/error-page.ts'
import { documentName } from './document-name.ts'
import { drawTicket } from './draw-ticket.ts'
import { findDocument, languageOfDocument, type TicketDocument } from './find-documents.ts'

// Drawing is CPU-bound and must not hold up checkouts.
const drawing = { maxAtOnce: 2, maxOfOwner: 1, maxWaiting: 50, words: 'Try again in a moment.' }

// Bytes of the documents that were drawn last, and their age: whoever opens a link again, or twice at once, draws it once.
const kept = { maxSize: 8 * 2 ** 20, ttl: 10_000, ttlAutopurge: true }

/** Draws documents, at the turns of their organizations. One is known by all that is drawn: a ticket that has changed, or
 *  whose attendee was erased, is another. Refuses: BUSY if too many of an organization wait. */
function createDrawings() {
  const inTurn = createBulkhead(drawing)
  const drawn = new LRUCache<string, Buffer, TicketDocument>({
    ...kept,
    sizeCalculation: (pdf, key) => pdf.length + key.length,
    // One that is pushed out before it is drawn is drawn nevertheless, for those who wait.
    ignoreFetchAbort: true,
    fetchMethod: (_key, _former, { context }) =>
      inTurn(nameInMode(context, context.organizationId), () => drawTicket(context)),
  })
  return (document: TicketDocument) => drawn.fetch(sha256(JSON.stringify(document)), { context: document })
}

const notes: Record<number, Note> = {
  404: ['error.ticketNotFound', 'error.addressWrong'],
  429: ['error.tooMany', 'error.tooManyDetail'],
  503: ['error.busy', 'error.ticketValid'],
}

const ofOtherHolder: Note = ['error.otherHolder', 'error.documentAdmitsNobody']
const cancelled: Note = ['error.ticketCancelled', 'error.admitsNobody']

const sendApology = sendErrorPage((status) => notes[status] ?? ['error.internal', 'error.tryAgain'])

const readDocumentToken = addressTokenReader(/[0-9a-f]{64}/)
const readToken = ({ params }: FastifyRequest) => readDocumentToken((params as { token: string }).token)

/** Serves `/tickets/{token}.pdf`: the PDF of a ticket, for anybody with the URL. A cancelled ticket, and
 *  the former document of one that was transferred, are answered 410. Errors are HTML pages, because a
 *  person opens this URL. */
export async function addDocumentPage(app: FastifyInstance, { db }: Services, limits: RateLimits) {
  const draw = createDrawings()
  await app.register(async (scope) => {
    answerErrors(scope, sendApology)
    scope.addHook('onRequest', async (_request, reply) => {
      reply.headers(secretAddress)
    })
    const tokenOf = (request: FastifyRequest) => readToken(request)?.token ?? null
    const options = { schema: { hide: true }, config: { tokenOf } }
    scope.get('/tickets/:token.pdf', options, async (request, reply) => {
      const token = readToken(request)
      const document = await limits.lookUpToken(
        request,
        async () => token && findDocument(ownedBy(db, token.token), token),
      )
      if (!document) throw refusal('NOT_FOUND', 'There is no such ticket.')
      if (document.documentToken !== token?.token)
        // The language of the former attendee is not kept.
        return sendNote(reply, 410, negotiateLanguage(reply) ?? 'en', ofOtherHolder)
      // A refunded ticket that was not cancelled still admits (DECISIONS, states).
      if (document.status !== 'active') return sendNote(reply, 410, languageOfDocument(document), cancelled)
      const pdf = await draw(document)
      return reply
        .type('application/pdf')
        .header('content-disposition', `inline; filename="${documentName(document)}"`)
        .send(pdf)
    })
  })
}
