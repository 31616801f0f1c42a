import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { Stripe } from 'stripe'

// A stateful stub of the Stripe endpoints in use: sessions, refunds, idempotency keys and signed events.

export const webhookSecret = 'whsec_fake'
export const stripeSettings = (url: string) => ({
  PAYMENT_PROVIDER: 'stripe',
  STRIPE_SECRET_KEY: 'sk_test_fake',
  STRIPE_WEBHOOK_SECRET: webhookSecret,
  STRIPE_API_BASE: url,
})

type Fields = Record<string, unknown>
export type StubSession = Fields & {
  id: string
  status: 'open' | 'complete' | 'expired'
  payment_status: 'unpaid' | 'paid'
  payment_intent: string | null
  amount_total: number
  currency: string
  metadata: Record<string, string>
  url: string
  success_url: string
}
export type StubRefund = Fields & { id: string; status: string; amount: number; payment_intent: string }
export type StubEvent = Fields & { id: string; type: string; data: { object: Fields } }

type Answer = { status: number; body: Fields; isReplayed?: boolean }
type StripeRequest = { method: string; path: string; params: Record<string, string>; key: string | undefined }

/** A fault to inject: `cut` closes the connection, a number is the status of the response. */
export type Fault = 'cut' | number | null

const refused = (status: number, code: string | undefined, type = 'invalid_request_error'): Answer => ({
  status,
  body: { error: { type, code, message: `The fake refuses: ${code}.` } },
})

// metadata[payment_id]=x → { payment_id: 'x' }
const nestedParams = (params: Record<string, string>, name: string) =>
  Object.fromEntries(
    Object.entries(params).flatMap(([key, value]) =>
      key.startsWith(`${name}[`) ? [[key.slice(name.length + 1, -1), value]] : [],
    ),
  )

const { webhooks } = new Stripe('sk_test_fake')

/** Signs an event as Stripe does. */
export const signEvent = (event: StubEvent, secret?: string, secondsAgo?: number) =>
  signBody(JSON.stringify(event), secret, secondsAgo)

/** Signs any text as Stripe does. */
export function signBody(body: string, secret = webhookSecret, secondsAgo = 0) {
  const timestamp = Math.floor(Date.now() / 1000) - secondsAgo
  const signature = webhooks.generateTestHeaderString({ payload: body, secret, timestamp })
  return {
    body,
    headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature },
  }
}

export type StubStripe = Awaited<ReturnType<typeof startStubStripe>>

/** Returns the session that a request would expire. */
export const sessionToExpire = ({ path }: { path: string }): string =>
  /^\/v1\/checkout\/sessions\/(\w+)\/expire$/.exec(path)?.[1] ?? ''

/** Starts the stub on the loopback. */
export async function startStubStripe() {
  const sessions = new Map<string, StubSession>()
  const intents = new Map<string, { id: string; status: string }>()
  const refunds: StubRefund[] = []
  const events: StubEvent[] = []
  const answers = new Map<string, { params: string; answer: Answer }>()
  const asked: StripeRequest[] = []
  let fault: (asked: StripeRequest) => Fault = () => null
  let refundStatus = 'succeeded'
  let number = 0
  let url = ''
  const newId = (prefix: string) => `${prefix}_fake${++number}`

  function emitEvent(type: string, object: Fields): StubEvent {
    const event = { id: newId('evt'), object: 'event', type, data: { object: { ...object } } }
    events.push(event)
    return event
  }
  function sessionOf(id: string): StubSession {
    const session = sessions.get(id)
    if (!session) throw new Error(`the stub has no session ${id}`)
    return session
  }
  function createSession(params: Record<string, string>): Answer {
    const seconds = Number(params.expires_at) - Date.now() / 1000
    if (seconds < 30 * 60 || seconds > 24 * 3600) return refused(400, 'parameter_invalid_integer')
    const amount = Number(params['line_items[0][price_data][unit_amount]'])
    if (amount < 50) return refused(400, 'amount_too_small')
    // In currencies of three decimals the last digit has to be 0.
    const currency = params['line_items[0][price_data][currency]'] ?? ''
    if (/^(bhd|jod|kwd|omr|tnd)$/.test(currency) && amount % 10 !== 0)
      return refused(400, 'parameter_invalid_integer')
    const id = newId('cs_test')
    const session: StubSession = {
      id,
      object: 'checkout.session',
      status: 'open',
      payment_status: 'unpaid',
      payment_intent: null,
      amount_total: amount,
      currency,
      metadata: nestedParams(params, 'metadata'),
      client_reference_id: params.client_reference_id,
      success_url: params.success_url ?? '',
      cancel_url: params.cancel_url,
      url: `${url}/c/pay/${id}`,
    }
    sessions.set(id, session)
    return { status: 200, body: session }
  }
  function expireSession(id: string): Answer {
    const session = sessionOf(id)
    if (session.status !== 'open') return refused(400, 'resource_unexpected_state')
    session.status = 'expired'
    emitEvent('checkout.session.expired', session)
    return { status: 200, body: session }
  }
  function createRefund(params: Record<string, string>): Answer {
    const { payment_intent = '', amount } = params
    const earlierRefunds = refunds.filter((refund) => refund.payment_intent === payment_intent)
    const paid = [...sessions.values()].find((session) => session.payment_intent === payment_intent)
    const back = earlierRefunds.reduce((sum, { amount }) => sum + amount, Number(amount))
    if (!paid) return refused(404, 'resource_missing')
    // Stripe has no code for too much of a charge that was refunded in part.
    const isAllBack = back - Number(amount) >= paid.amount_total
    if (back > paid.amount_total) return refused(400, isAllBack ? 'charge_already_refunded' : undefined)
    const refund = {
      id: newId('re'),
      object: 'refund',
      status: refundStatus,
      amount: Number(amount),
      payment_intent,
      metadata: nestedParams(params, 'metadata'),
    }
    refunds.push(refund)
    return { status: 200, body: refund }
  }
  function answer({ method, path, params }: StripeRequest): Answer {
    const [, id = '', action] = /^\/v1\/checkout\/sessions\/(\w+)(\/expire)?$/.exec(path) ?? []
    if (path === '/v1/checkout/sessions') return createSession(params)
    if (path === '/v1/refunds' && method === 'POST') return createRefund(params)
    if (path === '/v1/refunds')
      return {
        status: 200,
        body: { object: 'list', data: refunds.filter((r) => r.payment_intent === params.payment_intent) },
      }
    if (!sessions.has(id)) return refused(404, 'resource_missing')
    if (action) return expireSession(id)
    const session = sessionOf(id)
    const intent = intents.get(session.payment_intent ?? '') ?? null
    return { status: 200, body: { ...session, payment_intent: intent } }
  }
  // Stripe stores a response under its idempotency key, even an error.
  function answerOnce(request: StripeRequest, failed: Answer | null): Answer {
    const { key, path } = request
    const params = JSON.stringify([request.path, request.params])
    const known = key === undefined ? undefined : answers.get(key)
    if (known)
      return known.params === params
        ? { ...known.answer, isReplayed: true }
        : refused(400, '', 'idempotency_error')
    const made = failed ?? answer(request)
    // Requests that never started to execute are not stored.
    if (
      key !== undefined &&
      made.status !== 429 &&
      !(made.status === 400 && path === '/v1/checkout/sessions')
    )
      answers.set(key, { params, answer: made })
    return made
  }
  async function readRequest(request: IncomingMessage): Promise<StripeRequest> {
    const { pathname, searchParams } = new URL(request.url ?? '/', url)
    const form = new URLSearchParams(await text(request))
    const { 'idempotency-key': key } = request.headers
    const params = Object.fromEntries([...searchParams, ...form])
    return { method: request.method ?? 'GET', path: pathname, params, key: key?.toString() }
  }
  const complete = (session: StubSession, type: string, paid: boolean, status: string) => {
    session.payment_intent ??= newId('pi')
    intents.set(session.payment_intent, { id: session.payment_intent, status })
    session.status = 'complete'
    session.payment_status = paid ? 'paid' : 'unpaid'
    return emitEvent(`checkout.session.${type}`, session)
  }
  const fake = {
    asked,
    sessions,
    refunds,
    events,
    get url() {
      return url
    },
    /** Latest session of a payment. */
    sessionFor(paymentId: string): StubSession {
      const found = [...sessions.values()].filter(({ metadata }) => metadata.payment_id === paymentId).at(-1)
      if (!found) throw new Error(`the stub has no session for ${paymentId}`)
      return found
    },
    /** Completes the session with a card payment. */
    pay: (id: string) => complete(sessionOf(id), 'completed', true, 'succeeded'),
    /** Completes the session with a bank transfer that is still processing. */
    order: (id: string) => complete(sessionOf(id), 'completed', false, 'processing'),
    succeed: (id: string) => complete(sessionOf(id), 'async_payment_succeeded', true, 'succeeded'),
    fail: (id: string) => complete(sessionOf(id), 'async_payment_failed', false, 'requires_payment_method'),
    expire: (id: string) => void expireSession(id),
    emitEvent,
    /** Refunds a charge in the dashboard, with what is left of it unless an amount is given. */
    refundInDashboard(charge: string, amount?: number, status = 'succeeded') {
      const paid = [...sessions.values()].find((session) => session.payment_intent === charge)
      const back = refunds
        .filter(({ payment_intent }) => payment_intent === charge)
        .reduce((sum, { amount }) => sum + amount, 0)
      const left = (paid?.amount_total ?? 0) - back
      const refund = {
        ...{
          id: newId('re'),
          object: 'refund',
          status,
          amount: amount ?? left,
          currency: paid?.currency ?? 'eur',
        },
        ...{ payment_intent: charge, metadata: {} },
      }
      refunds.push(refund)
      return emitEvent('refund.created', refund)
    },
    /** Injects a fault into all further requests. */
    setFault(next: Fault | ((asked: StripeRequest) => Fault)) {
      fault = typeof next === 'function' ? next : () => next
    },
    /** Sets the status of further refunds. */
    setRefundStatus(status: string) {
      refundStatus = status
    },
    /** Sends every event, including past ones, in order to the current `target`, and repeats each until it
     *  gets a 200. Returns a handle to stop it. */
    deliverTo(target: () => string, pauseMs = 50) {
      let stopped = false
      let sent = 0
      const running = (async () => {
        while (!stopped) {
          const event = events[sent]
          const answered =
            event &&
            (await fetch(`${target()}/webhooks/stripe`, { method: 'POST', ...signEvent(event) }).catch(
              () => null,
            ))
          if (answered?.status === 200) sent++
          else await pause(pauseMs)
        }
      })()
      return {
        /** Number of accepted events. */
        sent: () => sent,
        async stop() {
          stopped = true
          await running
        },
      }
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }

  // Stripe's hosted payment page: a POST pays and redirects back to the shop.
  function page(request: StripeRequest): { status: number; headers: Record<string, string>; body: string } {
    const session = sessionOf(request.path.slice('/c/pay/'.length))
    if (request.method === 'POST' && session.status === 'open') fake.pay(session.id)
    const headers = { 'content-type': 'text/html' }
    return request.method === 'POST'
      ? { status: 303, headers: { location: session.success_url }, body: '' }
      : { status: 200, headers, body: '<h1>Stripe</h1><form method="post"><button>Pay there</button></form>' }
  }
  const server = createServer(async (request, response) => {
    const said = await readRequest(request)
    if (said.path.startsWith('/c/pay/')) {
      const { status, headers, body } = page(said)
      return void response.writeHead(status, headers).end(body)
    }
    asked.push(said)
    const wrong = fault(said)
    if (wrong === 'cut') return void request.socket.destroy()
    const failed =
      wrong === null ? null : refused(wrong, wrong === 429 ? 'rate_limit' : 'api_error', 'api_error')
    const { status, body, isReplayed = false } = answerOnce(said, failed)
    response.writeHead(status, {
      'content-type': 'application/json',
      'stripe-should-retry': 'false',
      ...(isReplayed && { 'idempotent-replayed': 'true' }),
    })
    response.end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('the stub has no port')
  url = `http://127.0.0.1:${address.port}`
  return fake
}
