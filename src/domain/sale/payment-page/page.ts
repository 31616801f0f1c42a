import formBody from '@fastify/formbody'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { answerErrors } from '../../../http/error-handler.ts'
import { type Note, sendErrorPage } from '../../../http/error-page.ts'
import { html, sendPage } from '../../../http/html.ts'
import { logFailure } from '../../../http/mask-error.ts'
import type { Services } from '../../../request/context.ts'
import type { RateLimits } from '../../../request/rate-limits.ts'
import { Refusal } from '../../../shared/errors.ts'
import { type BuyerAction, decidePayment } from './decide-payment.ts'
import { findPayment, isPageToken, readLines } from './find-payment.ts'
import { buyerUrl, outcomePage, undecidedPage } from './outcome-page.ts'
import { pendingPage } from './pending-page.ts'

const apologies: Record<number, Note> = {
  404: ['No such payment', 'The address is incomplete or wrong.'],
  415: ['That can’t be read', 'Go back to the payment and press one of its buttons.'],
  429: ['One moment', 'There were too many requests. Wait a little and try again.'],
  500: ['Something went wrong on our side', 'Nothing is lost: try again in a moment.'],
  503: ['We are busy', 'Nothing is lost: try again in a moment.'],
}

const sendApology = sendErrorPage(
  (status, message) => apologies[status] ?? ['That did not work', message],
  (status) => status >= 429 && html`<p><a href="">Back to the payment</a></p>`,
)

const paymentNotFound = () => new Refusal({ code: 'NOT_FOUND', message: 'There is no such payment.' })

const readToken = ({ params }: FastifyRequest) => (params as { '*': string })['*']

function readAction(body: unknown): BuyerAction {
  const action = typeof body === 'object' && body !== null && 'action' in body ? body.action : undefined
  if (action === 'pay' || action === 'cancel') return action
  throw new Refusal({
    code: 'INVALID',
    message: 'Go back to the payment and press one of its buttons.',
    path: ['action'],
  })
}

/** Serves `/pay/{token}`: the order with Pay and Cancel, without a script. Once the payment has ended,
 *  redirects to the channel's URL, or shows the outcome if there is none. Errors are pages, too. */
export async function addPaymentPage(
  app: FastifyInstance,
  services: Services,
  limits: RateLimits,
): Promise<void> {
  const { db, provider } = services
  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    action: BuyerAction,
    isBack = false,
  ) => {
    const token = readToken(request)
    const found = await limits.lookUpToken(request, () => findPayment(db, token))
    if (!found) throw paymentNotFound()
    const { status, sendTo, isOpen, failure } = await decidePayment(services, found, action)
    if (failure) logFailure(reply.log, failure, 'payment provider call failed')
    if (status === 'processing') return sendPage(reply, 200, undecidedPage(found, status))
    // A buyer who is back from paying is neither asked to pay again nor told that the payment failed until
    // the provider has decided.
    const mayBePaid = isBack && found.payment.sessionOpen && !isOpen
    if (mayBePaid && !found.payment.paidAt && status === found.payment.status)
      return sendPage(reply, 200, undecidedPage(found, 'pending'))
    if (status === 'pending') {
      if (sendTo) return reply.redirect(sendTo, 303)
      const lines = await readLines(db, found.payment.id)
      return sendPage(reply, 200, pendingPage(found, lines, provider))
    }
    // The payment may have just changed: its current row decides where the buyer goes.
    const isCurrent = status === found.payment.status && !found.payment.sessionOpen
    const ended = isCurrent ? found : await findPayment(db, token)
    if (!ended) throw paymentNotFound()
    const url = buyerUrl(ended.payment, ended.refundReason)
    return url ? reply.redirect(url, 303) : sendPage(reply, 200, outcomePage(ended, status))
  }
  await app.register(async (scope) => {
    answerErrors(scope, sendApology)
    scope.removeAllContentTypeParsers()
    await scope.register(formBody)
    scope.addHook('onRequest', async (_request, reply) => {
      reply.headers({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex',
      })
    })
    // A wildcard, so that addresses of the wrong length or depth get an error page, too.
    const tokenOf = (request: FastifyRequest) => {
      const token = readToken(request)
      return isPageToken(token) ? token : null
    }
    const options = { schema: { hide: true }, config: { tokenOf } }
    scope.get<{ Querystring: { paid?: string } }>('/pay/*', options, (request, reply) =>
      answer(request, reply, 'view', request.query.paid !== undefined),
    )
    scope.post('/pay/*', options, (request, reply) => answer(request, reply, readAction(request.body)))
  })
}
