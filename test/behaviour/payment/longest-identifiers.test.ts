// Runs in: postgres, slow-forms

import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import {
  aCatalogue,
  aLocation,
  anEvent,
  anOrganization,
  aPrice,
  aQuestion,
  aRate,
  aSupplement,
} from '../../support/factories.ts'
import { seed } from '../../support/fuzz/seed.ts'
import { createTestDatabase, type TestDatabase } from '../../support/harness.ts'
import { openPageBuyer } from '../../support/payment-page-buyer.ts'
import { openSale, type Sale } from '../../support/sale.ts'

// Identifiers of an import through every address, token and cursor that they are part of.

let database: TestDatabase
let sale: Sale | undefined
afterEach(async () => {
  await sale?.close()
  await database?.drop()
})

/** Makes identifiers of a length, of all characters that they may have. */
const idsOf = (length: number) => {
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  const characters = fc.constantFrom(...letters, ...letters.toUpperCase(), ...'0123456789_.:-')
  const drawn = fc.sample(fc.string({ unit: characters, minLength: length, maxLength: length }), {
    seed: seed + length,
    numRuns: 500,
  })
  // A client resolves segments of dots before it sends.
  const ids = [...new Set(drawn)].filter((id) => !/^\.+$/.test(id)).values()
  return (): string => ids.next().value ?? ''
}

async function openLongSale(length: number) {
  const next = idsOf(length)
  const [organization, location, rate, price, supplement, question] = Array.from({ length: 6 }, next)
  const discounts = [0, 1].map((index) => ({
    _id: next(),
    code: `CODE${index}`,
    name: 'Ten',
    percentage: 10,
  }))
  const events = [rate, next()].map((_id, index) =>
    anEvent({
      _id: next(),
      organization_id: organization,
      location_id: location,
      ticket_rates: [
        aRate({
          _id,
          prices: [aPrice({ _id: index === 0 ? price : next() })],
          supplements: index === 0 ? [aSupplement({ _id: supplement })] : [],
          questions: index === 0 ? [aQuestion({ _id: question })] : [],
        }),
      ],
    }),
  )
  database = await createTestDatabase()
  const opened = await database.open()
  // The largest number of an organization is in the identifiers of what it sells.
  await opened.db.execute(sql`alter table organizations alter column number restart with 2147483647`)
  await opened.close()
  const catalogue = aCatalogue({
    organizations: [anOrganization({ _id: organization, discounts })],
    locations: [aLocation({ _id: location, organization_id: organization })],
    events,
  })
  sale = await openSale(catalogue, { database })
  const ids = {
    organization,
    location,
    rate,
    price,
    supplement,
    question,
    event: events[0]?._id ?? '',
    discounts,
  }
  return { sale, ids: ids as typeof ids & Record<keyof Omit<typeof ids, 'discounts'>, string> }
}

type Page = { nodes: { id?: string }[]; pageInfo: { endCursor: string; hasNextPage: boolean } }

/** Reads a list page by page, one by one, and returns how long it is. */
async function lengthOf(sale: Sale, list: (args: string) => string, headers = sale.integration.v2) {
  let length = 0
  for (let after: string | null = null; ; ) {
    const query = list(`first: 1${after === null ? '' : `, after: "${after}"`}`)
    const { data, errors } = await sale.graphql<Record<string, unknown>>(query, {}, headers)
    expect(errors, query).toBeUndefined()
    let page = Object.values(data ?? {})[0] as Page & Record<string, Page>
    while (!page.nodes) page = Object.values(page)[0] as typeof page
    length += page.nodes.length
    if (!page.pageInfo.hasNextPage) return length
    after = page.pageInfo.endCursor
  }
}
const selected = '{ nodes { __typename } pageInfo { endCursor hasNextPage } }'

test.each([64, 1, ...fc.sample(fc.integer({ min: 2, max: 63 }), { seed, numRuns: 1 })])(
  `identifiers of %i characters are followed (FUZZ_SEED=${seed})`,
  async (length) => {
    const { sale, ids } = await openLongSale(length)
    const door = sale.integration.v2
    const ask = async (query: string, headers = door) => {
      const { data, errors } = await sale.graphql<Record<string, Record<string, unknown>>>(query, {}, headers)
      expect(errors, query).toBeUndefined()
      return data ?? {}
    }
    const checkout = await mustCheckOut(sale, {
      ticket_rate_id: ids.rate,
      discount_code: 'CODE0',
      tickets: [0, 1].map(() =>
        anEntry(ids.price, {
          supplements: [{ supplement_id: ids.supplement }],
          answers: [{ question_id: ids.question, answer: 'The radio' }],
        }),
      ),
    })
    const buyer = openPageBuyer(sale)
    expect((await buyer.view(checkout)).statusCode).toBe(200)
    await buyer.pay(checkout)
    expect(await buyer.statusesOf(checkout)).toEqual(['paid', 'active', 'active'])
    const tickets = checkout.tickets.map(({ _id }) => _id)

    const found = await ask(
      `{
      paymentByUrl(url: "${checkout.payment_url}") { id tickets { id documentUrl } }
      organization(by: { id: "${ids.organization}" }) { id }
      event(by: { id: "${ids.event}" }) { id }
      ticketRate(id: "${ids.rate}") { id }
    }`,
      sale.channel,
    )
    expect(found.paymentByUrl?.id).toBe(checkout.payment_id)
    for (const { documentUrl } of (found.paymentByUrl?.tickets ?? []) as { documentUrl: string }[]) {
      const document = await sale.rest('GET', new URL(documentUrl).pathname)
      expect([document.statusCode, document.headers['content-type']]).toEqual([200, 'application/pdf'])
    }
    const refundInput = `{ of: { ticketId: "${tickets[0]}" }, idempotencyKey: "refund" }`
    const refunded = await ask(
      `mutation { refundTickets(input: ${refundInput}) { ... on RefundTicketsPayload { refunds { id } } } }`,
    )
    const [refund] = (refunded.refundTickets?.refunds ?? []) as { id: string }[]
    for (const direction of ['IN', 'OUT'])
      await ask(`mutation { checkInTicket(input: { ticket: { ticketId: "${tickets[1]}" }, eventId: "${ids.event}",
        idempotencyKey: "${direction}", direction: ${direction} }) { __typename } }`)
    const named = [
      ...[ids.organization, ids.location, ids.rate, ids.price, ids.supplement, ids.question, ids.event],
      ...[...tickets, checkout.payment_id, refund?.id ?? '', ...ids.discounts.map(({ _id }) => _id)],
    ]
    const nodes = await ask(`{ nodes(ids: ${JSON.stringify(named)}) { id } }`)
    expect(nodes.nodes).toEqual(named.map((id) => ({ id })))

    const sums = (groupBy: string) => (args: string) =>
      `{ event(by: { id: "${ids.event}" }) { sales(groupBy: ${groupBy}, ${args}) ${selected} } }`
    const within = (path: string) => (args: string) =>
      `{ ${path.replace('ARGS', args)} ${selected} ${path.includes('{') ? '}' : ''} }`
    expect([
      await lengthOf(sale, within('events(ARGS)')),
      await lengthOf(sale, within(`organization(by: { id: "${ids.organization}" }) { events(ARGS)`)),
      await lengthOf(sale, within('organizations(ARGS)')),
      await lengthOf(sale, within('discounts(ARGS)')),
      await lengthOf(sale, within('tickets(ARGS)')),
      await lengthOf(sale, within('payments(ARGS)')),
      await lengthOf(sale, within(`event(by: { id: "${ids.event}" }) { checkIns(ARGS)`)),
      await lengthOf(sale, within(`ticket(id: "${tickets[1]}") { checkIns(ARGS)`)),
      ...(await Promise.all(['RATE', 'PRICE', 'CHANNEL', 'DAY'].map((by) => lengthOf(sale, sums(by))))),
    ]).toEqual([2, 2, 1, 2, 2, 1, 2, 2, 1, 1, 1, 1])

    const status = async (url: string, headers = sale.channel) =>
      (await sale.rest('GET', url, { headers })).statusCode
    const event = encodeURIComponent(ids.event)
    const followed = [
      await status(`/events/${event}`),
      await status(`/payments/${checkout.payment_id}`),
      await status(`/tickets?payment_id=${checkout.payment_id}`),
      await status(`/events?organization_id=${ids.organization}&location_id=${ids.location}`),
      await status(`/integrations/tickets/${tickets[0]}`, door),
      await status(`/integrations/tickets?event_id=${event}`, door),
      await status(`/integrations/events/${event}/scan-list`, door),
    ]
    expect(followed).toEqual(followed.map(() => 200))
  },
)
