import { getNamedType, isLeafType, isObjectType } from 'graphql'
import { beforeAll, expect, test } from 'vitest'
import { schema } from '../../../src/app/schema.ts'
import { type IntegrationScope, integrationScopes } from '../../../src/domain/caller/api-key.ts'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import { anEventAtDoor } from '../../support/door.ts'
import { anOrganization, aQuestion, aRateNamed, aSupplement } from '../../support/factories.ts'
import { openStream } from '../../support/live.ts'
import { scopedHeaders } from '../../support/modes.ts'
import { sharedSale } from '../../support/sale.ts'
import { payFor, ticketOf } from '../../support/tickets.ts'

// Fields of a ticket that the key of a door sees, whichever edge leads to it.

const atDoor = [
  ...[
    'activatedAt',
    'admits',
    'attendee.fullName',
    'checkIns',
    'createdAt',
    'event',
    'firstEnteredAt',
    'id',
    'inside',
  ],
  ...['lastEnteredAt', 'mode', 'price', 'saleType', 'status', 'supplements', 'ticketRate', 'updatedAt'],
]
const hidden = [
  ...['amounts', 'answers', 'attendee.address', 'attendee.birthDate', 'attendee.email'],
  ...['attendee.identityDocument', 'attendee.language', 'attendee.phone', 'channel'],
  ...['correctiveInvoiceReferences', 'discount', 'documentUrl', 'invoiceReference', 'metadata', 'payment'],
  ...['qrCode', 'referralId', 'refunds', 'settlement', 'warranty'],
]

const fieldsOf = (name: string) => {
  const type = schema.getType(name)
  return isObjectType(type) ? Object.values(type.getFields()) : []
}
// Everything of a ticket and of its attendee, whose names follow a dot.
const names = fieldsOf('Ticket').flatMap(({ name }) =>
  name === 'attendee' ? fieldsOf('Attendee').map(({ name }) => `attendee.${name}`) : name,
)
const selectionOf = (type: string): string =>
  fieldsOf(type)
    .map(({ name, type }) => {
      if (isLeafType(getNamedType(type))) return name
      return `${name} { ${name === 'attendee' ? selectionOf('Attendee') : '__typename'} }`
    })
    .join(' ')
const ticket = `ticket { ${selectionOf('Ticket')} }`

let ids: { tonight: string; second: string; far: string }
const rateWith = (place: string) => ({
  admits: 2,
  supplements: [aSupplement({ _id: `sup_${place}`, product_quantity: 50 })],
  questions: [aQuestion({ _id: `que_${place}` })],
  warranty: { enabled: true, percentage: 10, hours: 0 },
})
const events = [
  anEventAtDoor({ _id: 'tonight', ticket_rates: [aRateNamed('tonight', rateWith('tonight'))] }),
  anEventAtDoor({ _id: 'far', ticket_rates: [aRateNamed('far', rateWith('far'))] }, 200),
]
const discounts = [{ _id: 'dis_1', code: 'TEN', name: 'Ten', percentage: 10 }]
const sale = sharedSale({ organizations: [anOrganization({ discounts })], events, listen: true })
beforeAll(async () => {
  const entryOf = (place: string) => ({
    phone: '+34600123987',
    gender: '1',
    birthday: '1990-01-02',
    address: 'Calle Mayor 1',
    postal_code: '28013',
    country_code: 'ES',
    personal_document_type: 'dni',
    personal_document_number: '12345678Z',
    answers: [{ question_id: `que_${place}`, answer: 'The radio' }],
    supplements: [{ supplement_id: `sup_${place}` }],
    warranty: true,
  })
  const whole = { language: 'es', discount_code: 'TEN', referral_id: 'ref_7', metadata: { seat: 12 } }
  const buy = async (rate: string, count: number) => {
    const tickets = Array.from({ length: count }, () => anEntry(`price_${rate}`, entryOf(rate)))
    const checkout = await mustCheckOut(sale, { ticket_rate_id: `rate_${rate}`, tickets, ...whole })
    await payFor(sale, checkout)
    return checkout
  }
  const [two, far] = [await buy('tonight', 2), await buy('far', 1)]
  ids = { tonight: ticketOf(two), second: ticketOf(two, 1), far: ticketOf(far) }
})

type Ticket = Record<string, unknown>
type Payload = {
  ticket: Ticket | null
  checkIn: { ticket: Ticket | null; outcome: string }
  results: Payload[]
  refunds: Payload[]
  tickets: Ticket[]
}

async function answerOf(
  field: string,
  input: string,
  selection: string,
  headers = sale.integration.v2,
): Promise<Payload> {
  const { data, errors } = await sale.graphql<{ answer: Payload }>(
    `mutation { answer: ${field}(input: { ${input} }) { __typename ${selection} } }`,
    {},
    headers,
  )
  expect(errors).toBeUndefined()
  if (!data) throw new Error('a mutation has data')
  return data.answer
}

let keys = 0
const scan = async (id: string, headers: Record<string, string>, more = 'people: 3') => {
  const { checkIn } = await answerOf(
    'checkInTicket',
    `ticket: { ticketId: "${id}" }, eventId: "${id === ids.far ? 'far' : 'tonight'}", idempotencyKey: "n${keys++}", ${more}`,
    `... on CheckInTicketPayload { checkIn { outcome ${ticket} } }`,
    headers,
  )
  return checkIn
}

/** Edges that lead to a ticket, by the scope that opens them. */
const edges: Record<
  string,
  { scope: IntegrationScope; read(headers: Record<string, string>): Promise<unknown> }
> = {
  'a scan that is turned away': {
    scope: 'door',
    read: async (headers) => {
      const answer = await scan(ids.tonight, headers)
      expect(answer.outcome).toBe('NO_ENTRIES_LEFT')
      return answer.ticket
    },
  },
  'a scan before the day of the event, by force': {
    scope: 'door',
    read: async (headers) => {
      const answer = await scan(ids.far, headers, 'force: true')
      expect(answer.outcome).toBe('TOO_EARLY')
      return answer.ticket
    },
  },
  'an uploaded scan': {
    scope: 'door',
    read: async (headers) => {
      const input = `scans: [{ ticket: { ticketId: "${ids.tonight}" }, eventId: "tonight", idempotencyKey: "n${keys++}", direction: OUT, people: 9 }]`
      const selection = `... on CheckInTicketsPayload { results {
        ... on CheckInTicketPayload { checkIn { ${ticket} } } } }`
      return (await answerOf('checkInTickets', input, selection, headers)).results[0]?.checkIn.ticket
    },
  },
  'a redemption': {
    scope: 'door',
    read: async (headers) => {
      const input = `ticket: { ticketId: "${ids.tonight}" }, eventId: "tonight", supplementId: "sup_tonight", count: 1, idempotencyKey: "n${keys++}"`
      return (
        await answerOf('redeemSupplement', input, `... on RedeemSupplementPayload { ${ticket} }`, headers)
      ).ticket
    },
  },
  'the stream of scans': {
    scope: 'door',
    read: async (headers) => {
      const query = `subscription { checkIns(eventId: "tonight") { node { ${ticket} } } }`
      const stream = await openStream(sale.url, headers, { query })
      await scan(ids.tonight, sale.integration.v2)
      await expect.poll(stream.text).toContain('data: {')
      const data = stream.text().match(/^data: (\{.*)$/m)?.[1] ?? ''
      stream.close()
      return JSON.parse(data).data.checkIns.node.ticket
    },
  },
  'a refund': {
    scope: 'refunds',
    read: async (headers) => {
      const selection = `... on RefundTicketsPayload { refunds { ${ticket} } }`
      const input = `of: { ticketId: "${ids.tonight}" }, amount: { amount: "0.01", currency: "EUR" }, idempotencyKey: "n${keys++}"`
      return (await answerOf('refundTickets', input, selection, headers)).refunds[0]?.ticket
    },
  },
  'a correction': {
    scope: 'sales',
    read: async (headers) => {
      const input = `attendees: [{ ticketId: "${ids.second}", phone: "+34600123987" }]`
      const selection = `... on UpdateAttendeesPayload { ${ticket.replace('ticket', 'tickets')} }`
      return (await answerOf('updateAttendees', input, selection, headers)).tickets[0]
    },
  },
}

// Names of what is not null.
const shownIn = (found: object): string[] =>
  Object.entries(found).flatMap(([name, value]) => {
    if (value === null) return []
    return name === 'attendee' ? shownIn(value).map((name) => `attendee.${name}`) : [name]
  })
const shownOf = (found: unknown) => shownIn(found as Ticket).sort()

test('each field of a ticket is either for the door or hidden from it', () => {
  expect(names.toSorted()).toEqual([...atDoor, ...hidden].sort())
})

test.each(Object.entries(edges))(
  '%s shows what the scopes of the key let it see',
  async (_edge, { scope, read }) => {
    const tonight = await read(sale.integration.v2)
    // Control: without a bound all of it is there, but for what this ticket has not.
    const whole = shownOf(tonight)
    expect(names.filter((name) => !whole.includes(name))).toEqual(
      expect.not.arrayContaining([
        'attendee.email',
        'attendee.phone',
        'attendee.birthDate',
        'attendee.address',
        'attendee.identityDocument',
        'qrCode',
        'payment',
        'settlement',
        'amounts',
        'documentUrl',
        'answers',
      ]),
    )
    for (const other of integrationScopes) {
      const headers = await scopedHeaders(sale, ...new Set([scope, other]))
      const shown = shownOf(await read(headers))
      const isWhole = [scope, other].some((each) => each === 'tickets:read' || each === 'sales')
      const isDoor = [scope, other].includes('door')
      const visible = whole.filter(
        (name) => (isWhole || atDoor.includes(name)) && (isDoor || name !== 'checkIns'),
      )
      expect([other, shown]).toEqual([other, visible])
    }
  },
)

test('nothing of the order is in what a door is told, neither by alias nor through a fragment', async () => {
  const door = await scopedHeaders(sale, 'door')
  const selection = `... on CheckInTicketPayload { checkIn { outcome ticket { ...Order person: attendee { mail: email }
    event { organization { id } ticketRates { name } } ticketRate { event { id } } } } }
    } } fragment Order on Ticket { code: qrCode payment { totalAmount { amount }
    tickets { qrCode attendee { email } documentUrl }`
  const ask = (headers: Record<string, string>) =>
    answerOf(
      'checkInTicket',
      `ticket: { ticketId: "${ids.far}" }, eventId: "far", idempotencyKey: "n${keys++}"`,
      selection,
      headers,
    )
  const told = await ask(door)
  expect(told).toMatchObject({
    checkIn: { outcome: 'TOO_EARLY', ticket: { person: { mail: null }, code: null, payment: null } },
  })
  const text = JSON.stringify(told)
  for (const secret of ['ana@example.com', 'totalAmount', '/tickets/']) expect(text).not.toContain(secret)
  const all = JSON.stringify(await ask(sale.integration.v2))
  for (const secret of ['ana@example.com', 'totalAmount', '/tickets/']) expect(all).toContain(secret)
})

test('neither node nor a list nor the feed is open to a door', async () => {
  const door = await scopedHeaders(sale, 'door')
  const codesOf = async (query: string) => {
    const { data, errors } = await sale.graphql<Record<string, unknown>>(query, {}, door)
    return errors?.map(({ extensions }) => extensions?.code) ?? Object.values(data ?? {})
  }
  expect(await codesOf(`{ node(id: "${ids.tonight}") { id } }`)).toEqual([null])
  for (const query of [
    `ticket(id: "${ids.tonight}") { id }`,
    'tickets { nodes { id } }',
    'changes(from: { at: OLDEST }) { nodes { id } }',
  ])
    expect(await codesOf(`{ ${query} }`)).toEqual(['FORBIDDEN'])
})

test('a scan list has nothing of a person and no code', async () => {
  const door = await scopedHeaders(sale, 'door')
  const { body } = await sale.rest('GET', '/integrations/events/tonight/scan-list', { headers: door })
  const { data } = await sale.graphql<{ ticket: { qrCode: string } }>(
    `{ ticket(id: "${ids.tonight}") { qrCode } }`,
    {},
    sale.integration.v2,
  )
  expect(body).toContain(ids.tonight)
  for (const secret of ['ana@', 'Ana', data?.ticket.qrCode ?? '', 'pay_']) expect(body).not.toContain(secret)
})
