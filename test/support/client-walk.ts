import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { formType } from './payment-page-buyer.ts'
import type { StubStripe } from './stub-stripe.ts'

// A walk through everything that is sold, over HTTP. Its requests name only what the previous release knows
// too, because each of them may go to a process of that release.

type Headers = Record<string, string>

export type Walker = {
  /** Address of the process that gets the next request. */
  at: () => string
  channel: Headers
  integration: Headers
  fake: StubStripe
  /** Rate with a supplement `sup_N`, on which the discount `ten` is given: `rate_N` at `price_N`. */
  rate: number
}

const timeoutMs = 60_000

async function waitUntil(state: string, isReached: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + timeoutMs; !(await isReached()); await pause(20))
    if (Date.now() > end) throw new Error(`after a minute, not yet: ${state}`)
}

async function answerOf(url: string, request: RequestInit): Promise<Response> {
  const response = await fetch(url, { redirect: 'manual', ...request })
  if (response.status >= 400)
    throw new Error(`${url} was answered with ${response.status}: ${await response.text()}`)
  return response
}

const jsonBody = (headers: Headers, body: unknown): RequestInit => ({
  method: 'POST',
  headers: { ...headers, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

/** Sends a GraphQL operation. Throws unless the answer has `expected` in it. */
export async function askGraphql(
  url: string,
  headers: Headers,
  [query, expected]: [query: string, expected: string],
  variables: object = {},
): Promise<string> {
  const response = await answerOf(`${url}/graphql`, jsonBody(headers, { query, variables }))
  const text = await response.text()
  if (!text.includes(expected)) throw new Error(`${query} was answered with ${text}`)
  return text
}

const mutation = (name: string, payload: string) => {
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`
  return `mutation ($input: ${type}!) { ${name}(input: $input) { __typename ${payload} } }`
}

type Sold = { payment_id: string; payment_url: string; tickets: { _id: string; qr_code: string }[] }

/** Lists, sells, pays, looks up, checks in, redeems, transfers, refunds, cancels, sells at the door and
 *  invites, once each. Returns the payments that it made. */
export async function walk({ at, channel, integration, fake, rate }: Walker): Promise<string[]> {
  const id = randomUUID()
  const attendee = (name: string) => ({ full_name: name, email: `${name.toLowerCase()}-${id}@example.com` })
  const entry = (name: string) => ({ price_id: `price_${rate}`, ...attendee(name) })
  const asDoor = (name: string, expected: string, input: object, payload = '') =>
    askGraphql(at(), integration, [mutation(name, payload), expected], { input })

  const listed = await answerOf(`${at()}/events?populate=*`, { headers: channel })
  type Listed = { data: { _id: string; ticket_rates: { _id: string }[] }[] }
  const isSold = ({ ticket_rates }: Listed['data'][number]) =>
    ticket_rates.some(({ _id }) => _id === `rate_${rate}`)
  const eventId = ((await listed.json()) as Listed).data.find(isSold)?._id
  if (!eventId) throw new Error(`rate_${rate} is not listed`)
  await askGraphql(at(), channel, ['{ events { nodes { id ticketRates { id } } } }', `"rate_${rate}"`])

  const body = {
    ticket_rate_id: `rate_${rate}`,
    tickets: [{ ...entry('Ana'), supplements: [{ supplement_id: `sup_${rate}` }] }, entry('Luz')],
    discount_code: 'ten',
    send_resourcers: true,
  }
  const checkOut = async () => {
    const request = jsonBody({ ...channel, 'idempotency-key': id }, body)
    const response = await answerOf(`${at()}/tickets/checkout`, request)
    return ((await response.json()) as { data: Sold }).data
  }
  const sold = await checkOut()
  const again = await checkOut()
  if (again.payment_id !== sold.payment_id) throw new Error('a repeated checkout sold again')
  const [first, second] = sold.tickets
  if (!first || !second) throw new Error('a checkout of two tickets has two')

  const press = (action: string, { payment_url }: { payment_url: string }) =>
    answerOf(`${at()}${new URL(payment_url).pathname}`, {
      method: 'POST',
      headers: { 'content-type': formType },
      body: `action=${action}`,
    })
  await press('pay', sold)
  fake.pay(fake.sessionFor(sold.payment_id).id)
  const lookUp = async () =>
    (await answerOf(`${at()}/integrations/tickets/${first._id}`, { headers: integration })).text()
  await waitUntil(`${sold.payment_id} is paid`, async () => (await lookUp()).includes('"activated"'))
  await askGraphql(at(), channel, [`{ ticket(id: "${first._id}") { qrCode } }`, `"${first.qr_code}"`])

  const ticket = { qrCode: first.qr_code }
  const scan = { idempotencyKey: `in-${id}`, ticket, eventId }
  await asDoor('checkInTicket', '"OK"', scan, '... on CheckInTicketPayload { checkIn { outcome } }')
  const drink = { idempotencyKey: `drink-${id}`, ticket, eventId, supplementId: `sup_${rate}` }
  await asDoor('redeemSupplement', '"OK"', drink, '... on RedeemSupplementPayload { outcome }')
  const { full_name: fullName, email } = attendee('Eva')
  const eva = { fullName, email }
  await asDoor('transferTicket', '"TransferTicketPayload"', { ticketId: second._id, attendee: eva })
  const of = { ticketId: second._id }
  await asDoor('resendTickets', '"ResendTicketsPayload"', { of })
  await asDoor('refundTickets', '"RefundTicketsPayload"', { of, idempotencyKey: id })

  const ticketRateId = `rate_${rate}`
  const items = [{ ticketRateId, tickets: [{ priceId: `price_${rate}`, attendee: eva }] }]
  const bought = await askGraphql(
    at(),
    channel,
    [mutation('checkout', '... on CheckoutPayload { payment { id } }'), '"CheckoutPayload"'],
    { input: { items } },
  )
  const cancelled = paymentIn(bought)
  await askGraphql(at(), channel, [mutation('cancelPayment', ''), '"CancelPaymentPayload"'], {
    input: { paymentId: cancelled },
  })
  const atDoor = await asDoor(
    'sellAtBoxOffice',
    '"SellAtBoxOfficePayload"',
    { items, method: 'CASH', idempotencyKey: `door-${id}` },
    '... on SellAtBoxOfficePayload { payment { id } }',
  )
  const invited = await asDoor(
    'issueInvitations',
    '"IssueInvitationsPayload"',
    { ticketRateId, guests: [eva], sendTickets: true, idempotencyKey: `gift-${id}` },
    '... on IssueInvitationsPayload { payment { id } }',
  )
  // A reader does not wait for a process that is just assigning positions.
  const changes = '{ changes(from: { at: OLDEST }, first: 5) { nodes { id } } }'
  const readFeed = () => askGraphql(at(), channel, [changes, '"changes"'])
  await waitUntil('the feed has changes', async () => (await readFeed()).includes('"nodes":[{'))
  return [sold.payment_id, cancelled, paymentIn(atDoor), paymentIn(invited)]
}

const paymentIn = (text: string): string => {
  const [, id] = /"payment":\{"id":"(\w+)"/.exec(text) ?? []
  if (!id) throw new Error(`no payment in ${text}`)
  return id
}
