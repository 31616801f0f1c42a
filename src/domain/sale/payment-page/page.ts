import formBody from '@fastify/formbody'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { answerErrors } from '../../../engine/http/error-handler.ts'
import { html } from '../../../engine/http/html.ts'
import { logFailure } from '../../../engine/http/mask-error.ts'
import { secretAddress } from '../../../engine/http/security.ts'
import type { RateLimits } from '../../../engine/request/rate-limits.ts'
import type { Services } from '../../caller/context.ts'
import { refusal } from '../../contract/problem-codes.ts'
import { type Note, negotiateLanguage, sendErrorPage } from '../../language/error-page.ts'
import { chooseLanguage, type Language } from '../../language/languages.ts'
import { sendPage } from '../../language/page.ts'
import { translate } from '../../language/translate.ts'
import { providerOf } from '../../payment/open-provider.ts'
import { readPageToken } from '../../payment/payment-url.ts'
import { type BuyerAction, decidePayment } from './decide-payment.ts'
import { type FoundPayment, findPaymentOfPage, readLines } from './find-payment.ts'
import { findTicketLinks } from './find-ticket-links.ts'
import { buyerUrl, outcomePage, undecidedPage } from './outcome-page.ts'
import { pendingPage } from './pending-page.ts'

const notes: Record<number, Note> = {
  404: ['error.paymentNotFound', 'error.addressWrong'],
  415: ['error.unreadable', 'error.pressButton'],
  429: ['error.tooMany', 'error.tooManyDetail'],
  500: ['error.internal', 'error.nothingLost'],
  503: ['error.busy', 'error.nothingLost'],
}

const sendApology = sendErrorPage(
  (status) => notes[status] ?? ['error.other', 'error.pressButton'],
  (status, language) => status >= 429 && html`<p><a href="">${translate(language, 'error.back')}</a></p>`,
)

const paymentNotFound = () => refusal('NOT_FOUND', 'There is no such payment.')

const readToken = ({ params }: FastifyRequest) => (params as { '*': string })['*']

// Another language than ours in a checkout means the organization's, not the browser's (DECISIONS, language and referral).
function languageOf(reply: FastifyReply, { language, organizationLanguage }: FoundPayment): Language {
  if (language !== null) return chooseLanguage(language, organizationLanguage)
  return negotiateLanguage(reply) ?? chooseLanguage(organizationLanguage)
}

const unknownAction = () =>
  refusal('INVALID', 'Go back to the payment and press one of its buttons.', ['action'])

function readAction(body: unknown): BuyerAction {
  const action = typeof body === 'object' && body !== null && 'action' in body ? body.action : undefined
  if (action === 'pay' || action === 'decline' || action === 'cancel') return action
  throw unknownAction()
}

/** Serves `/pay/{token}`: the order with Pay and Cancel, without a script. Once the payment has ended,
 *  redirects to the channel's URL, or shows the outcome if there is none, or the paid tickets with `?tickets`.
 *  Errors are pages, too. */
export async function addPaymentPage(app: FastifyInstance, services: Services, limits: RateLimits) {
  const { db, publicUrl } = services
  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    action: BuyerAction,
    { isBack = false, stays = false } = {},
  ) => {
    const token = readToken(request)
    const found = await limits.lookUpToken(request, () => findPaymentOfPage(db, token))
    if (!found) throw paymentNotFound()
    const language = languageOf(reply, found)
    const provider = providerOf(services, found)
    if (action === 'decline' && provider.name !== 'sandbox') throw unknownAction()
    const decision = await decidePayment({ ...services, provider }, found, action)
    const { status, sendTo, isOpen, isDeclined, failure } = decision
    if (failure) logFailure(reply.log, failure, 'payment provider call failed')
    if (status === 'processing') return sendPage(reply, 200, undecidedPage(language, found, status))
    // A buyer who is back from paying is neither asked to pay again nor told that the payment failed until
    // the provider has decided.
    const mayBePaid = isBack && found.sessionOpen && !isOpen
    if (mayBePaid && !found.paidAt && status === found.status)
      return sendPage(reply, 200, undecidedPage(language, found, 'pending'))
    if (status === 'pending') {
      if (sendTo) return reply.redirect(sendTo, 303)
      const lines = await readLines(db, found)
      return sendPage(reply, 200, pendingPage(language, found, lines, provider, isDeclined))
    }
    // The payment may have just changed: its current row decides where the buyer goes.
    const isCurrent = status === found.status && !found.sessionOpen
    const ended = isCurrent ? found : await findPaymentOfPage(db, token)
    if (!ended) throw paymentNotFound()
    const url = buyerUrl(ended)
    if (url && !(stays && ended.paidAt)) return reply.redirect(url, 303)
    const links = ended.paidAt ? await findTicketLinks(db, ended, publicUrl()) : null
    return sendPage(reply, 200, outcomePage(language, ended, status, links))
  }
  await app.register(async (scope) => {
    answerErrors(scope, sendApology)
    scope.removeAllContentTypeParsers()
    await scope.register(formBody)
    scope.addHook('onRequest', async (_request, reply) => {
      reply.headers(secretAddress)
    })
    // A wildcard, so that addresses of the wrong length or depth get an error page, too.
    const tokenOf = (request: FastifyRequest) => readPageToken(readToken(request))?.token ?? null
    const options = { schema: { hide: true }, config: { tokenOf } }
    scope.get<{ Querystring: { paid?: string; tickets?: string } }>('/pay/*', options, (request, reply) => {
      const { paid, tickets } = request.query
      return answer(request, reply, 'view', { isBack: paid !== undefined, stays: tickets !== undefined })
    })
    scope.post('/pay/*', options, (request, reply) => answer(request, reply, readAction(request.body)))
  })
}
