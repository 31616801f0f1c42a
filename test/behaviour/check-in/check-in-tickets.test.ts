import { asc, eq } from 'drizzle-orm'
import { afterAll, expect, test } from 'vitest'
import { changes } from '../../../src/domain/change/table.ts'
import { checkIns } from '../../../src/domain/check-in/table.ts'
import { aLargeRate, anEventAtDoor, laterToday, scanTicket, uploadScans } from '../../support/door.ts'
import { anOrganization, integrationHeaders, type RateFile } from '../../support/factories.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { cancelTicket, ticketRow } from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { aPaidTicket } from '../../support/tickets.ts'

// Scans of scanners that were offline, uploaded together.

const event = (_id: string, days: number, ticket_rates: RateFile[], organization_id = 'org_1') =>
  anEventAtDoor({ _id, organization_id, ticket_rates }, days)

const sale = sharedSale({
  organizations: [anOrganization(), anOrganization({ _id: 'org_2', name: 'Other' })],
  locations: [laterToday().location],
  events: [
    event('tonight', 0.1, [aLargeRate('table', { admits: 4 }), aLargeRate('single')]),
    event('far', 30, [aLargeRate('later', { admits: 2 })]),
    laterToday({ ticket_rates: [aLargeRate('today', { admits: 2 })] }).event,
    event('theirs', 0.1, [aLargeRate('theirs')], 'org_2'),
  ],
})
afterAll(async () => expect(await brokenInvariants(sale.db)).toEqual([]))

const buy = async (name = 'single') => (await aPaidTicket(sale, { rate: name })).id
const codeOf = async (id: string) => (await ticketRow(sale, id))?.qrCode ?? ''
const beginning = Date.now()
/** Time of a scan, so many minutes before the tests. */
const ago = (minutes: number) => new Date(beginning - minutes * 60_000).toISOString()
const outcomesOf = (answers: { outcome: string }[]) => answers.map(({ outcome }) => outcome)

test('each scan has its own outcome, in the order of the request', async () => {
  const [one, two, theirs, far] = [await buy(), await buy(), await buy('theirs'), await buy('later')]
  const answers = await uploadScans(sale, [
    { ticketId: one, scannedAt: ago(3) },
    { ticketId: 'tkt_nobodys', scannedAt: ago(2) },
    { qrCode: await codeOf(two), eventId: 'tonight', scannedAt: ago(1) },
    { ticketId: theirs },
    { qrCode: await codeOf(theirs) },
    { ticketId: one, eventId: 'far' },
    { ticketId: far },
    { ticketId: one, direction: 'OUT', people: 2 },
  ])
  expect(outcomesOf(answers)).toEqual([
    ...['OK', 'NOT_FOUND', 'OK', 'NOT_FOUND', 'NOT_FOUND', 'WRONG_EVENT', 'TOO_EARLY', 'NOT_INSIDE'],
  ])
  expect(answers.map(({ ticket }) => ticket?.id ?? null)).toEqual([one, null, two, null, null, one, far, one])
  expect(answers[0]).toMatchObject({ inside: 1, admits: 1, reasons: [], replayed: false })
  expect(answers[6]).toMatchObject({ reasons: ['TOO_EARLY'] })
})

test('tickets that are unpaid, cancelled or transferred let nobody in', async () => {
  const cancelled = await buy()
  await cancelTicket(sale, cancelled)
  const moved = await buy()
  const former = await codeOf(moved)
  const answer = await sale.graphql<{ transferTicket: { ticket: { qrCode: string } } }>(
    `mutation ($id: ID!) { transferTicket(input: { ticketId: $id, attendee: { fullName: "Zoe", email: "zoe@example.com" } }) {
      ... on TransferTicketPayload { ticket { qrCode } } } }`,
    { id: moved },
    sale.channel,
  )
  expect(answer.errors).toBeUndefined()
  const answers = await uploadScans(sale, [
    { ticketId: cancelled },
    { qrCode: former },
    { qrCode: await codeOf(moved) },
  ])
  expect(outcomesOf(answers)).toEqual(['CANCELLED', 'NOT_FOUND', 'OK'])
})

test('of two doors the earlier scan is OK, whatever the order of the upload', async () => {
  const ticketId = await buy()
  const answers = await uploadScans(sale, [
    { ticketId, scannedAt: ago(10) },
    { ticketId, scannedAt: ago(20) },
  ])
  expect(answers).toMatchObject([
    { outcome: 'NO_ENTRIES_LEFT', firstEnteredAt: ago(20), inside: 1 },
    { outcome: 'OK', firstEnteredAt: null, inside: 1 },
  ])
  const row = await ticketRow(sale, ticketId)
  expect([row?.entered, row?.firstEntryAt, row?.lastEntryAt]).toEqual([
    1,
    new Date(ago(20)),
    new Date(ago(20)),
  ])
})

test('people who came and went are counted in the order of their times', async () => {
  const ticketId = await buy('table')
  const answers = await uploadScans(sale, [
    { ticketId, people: 4, scannedAt: ago(10) },
    { ticketId, people: 3, direction: 'OUT', scannedAt: ago(20) },
    { ticketId, people: 3, scannedAt: ago(30) },
  ])
  expect(answers.map(({ outcome, inside }) => [outcome, inside])).toEqual([
    ['OK', 4],
    ['OK', 0],
    ['OK', 3],
  ])
  const recorded = await sale.db
    .select()
    .from(changes)
    .where(eq(changes.subjectId, ticketId))
    .orderBy(asc(changes.sequence))
  expect(recorded.slice(1).map(({ type, data }) => [type, data.people, data.enter])).toEqual([
    ['ticket.entered', 3, 3],
    ['ticket.updated', undefined, 0],
    ['ticket.entered', 4, 4],
  ])
})

test('a scan that arrives after a later one must fit among what happened since', async () => {
  const ticketId = await buy()
  expect((await scanTicket(sale, { ticketId, scannedAt: ago(5) })).outcome).toBe('OK')
  // Somebody else came in with it before, and left: it was then one person who is inside now.
  const answers = await uploadScans(sale, [
    { ticketId, scannedAt: ago(30) },
    { ticketId, direction: 'OUT', scannedAt: ago(20) },
  ])
  expect(answers).toMatchObject([
    { outcome: 'NO_ENTRIES_LEFT', firstEnteredAt: ago(5), inside: 1 },
    { outcome: 'NOT_INSIDE', inside: 1 },
  ])
  expect((await ticketRow(sale, ticketId))?.entered).toBe(1)
})

test('a late scan counts those of a scanner whose clock is ahead', async () => {
  const ticketId = await buy()
  const scans = [
    { ticketId, scannedAt: ago(10) },
    { ticketId, scannedAt: ago(-4), direction: 'OUT' as const },
    { ticketId, scannedAt: ago(-2) },
  ]
  const answers = []
  for (const scan of scans) answers.push(...(await uploadScans(sale, [scan])))
  expect(outcomesOf(answers)).toEqual(['OK', 'OK', 'NO_ENTRIES_LEFT'])
})

test('a late scan before the first entry becomes the first entry', async () => {
  const ticketId = await buy('table')
  expect((await scanTicket(sale, { ticketId, scannedAt: ago(5) })).outcome).toBe('OK')
  expect(outcomesOf(await uploadScans(sale, [{ ticketId, scannedAt: ago(30) }]))).toEqual(['OK'])
  expect((await ticketRow(sale, ticketId))?.firstEntryAt?.toISOString()).toBe(ago(30))
})

test('a late scan of a table is OK while the others of it leave enough places at all times since', async () => {
  const ticketId = await buy('table')
  await uploadScans(sale, [
    { ticketId, people: 3, scannedAt: ago(30) },
    { ticketId, people: 2, direction: 'OUT', scannedAt: ago(20) },
    { ticketId, people: 1, scannedAt: ago(10) },
  ])
  // Inside: three from 30 minutes ago, one from 20, two from 10.
  const late = (people: number, minutes: number, direction: 'IN' | 'OUT' = 'IN') =>
    uploadScans(sale, [{ ticketId, people, direction, scannedAt: ago(minutes) }])
  expect(await late(2, 40)).toMatchObject([{ outcome: 'NO_ENTRIES_LEFT', inside: 2 }])
  expect(await late(2, 15)).toMatchObject([{ outcome: 'OK', inside: 4 }])
  expect(await late(4, 15, 'OUT')).toMatchObject([{ outcome: 'NOT_INSIDE', inside: 4 }])
  expect(await late(3, 15, 'OUT')).toMatchObject([{ outcome: 'OK', inside: 1 }])
})

test('a batch that is sent again has the same outcomes and counts nobody', async () => {
  const ids = [await buy(), await buy('table')]
  const scans = [
    { ticketId: ids[0], idempotencyKey: 'again-1', scannedAt: ago(9) },
    { ticketId: ids[0], idempotencyKey: 'again-2', scannedAt: ago(8) },
    { ticketId: ids[1], idempotencyKey: 'again-3', people: 3, scannedAt: ago(7) },
    { qrCode: 'NOBODYS', idempotencyKey: 'again-4', scannedAt: ago(6) },
  ]
  const first = await uploadScans(sale, scans)
  expect(outcomesOf(first)).toEqual(['OK', 'NO_ENTRIES_LEFT', 'OK', 'NOT_FOUND'])
  const again = await uploadScans(sale, scans)
  expect(again).toEqual(first.map((answer) => ({ ...answer, replayed: true })))
  const [added] = await uploadScans(sale, [...scans, { ticketId: ids[1], scannedAt: ago(5) }]).then((all) =>
    all.slice(-1),
  )
  expect(added).toMatchObject({ outcome: 'OK', inside: 4 })
})

test('a key twice in one batch is one scan, or refused for another', async () => {
  const [one, two] = [await buy('table'), await buy()]
  const scan = { ticketId: one, idempotencyKey: 'twice', people: 2, scannedAt: ago(4) }
  const answers = await uploadScans(sale, [scan, scan, { ...scan, ticketId: two }])
  expect(answers).toMatchObject([
    { outcome: 'OK', inside: 2, replayed: false },
    { outcome: 'OK', inside: 2, replayed: true },
    { errors: [{ code: 'IDEMPOTENCY_KEY_REUSED', path: 'scans.2.idempotencyKey' }] },
  ])
  expect((await ticketRow(sale, two))?.entered).toBe(0)
  expect(await sale.db.$count(checkIns, eq(checkIns.idempotencyKey, 'twice'))).toBe(1)
})

test('a key is shared with checkInTicket, and belongs to its integration', async () => {
  const ticketId = await buy()
  const scan = { ticketId, idempotencyKey: 'shared', scannedAt: ago(2) }
  expect(await scanTicket(sale, scan)).toMatchObject({ outcome: 'OK' })
  expect(await uploadScans(sale, [scan])).toMatchObject([{ outcome: 'OK', replayed: true }])
  expect(await uploadScans(sale, [{ ...scan, people: 2 }])).toMatchObject([
    { errors: [{ code: 'IDEMPOTENCY_KEY_REUSED', path: 'scans.0.idempotencyKey' }] },
  ])
  const other = await integrationHeaders(sale.db)
  expect(await uploadScans(sale, [scan], other.v2)).toMatchObject([{ outcome: 'NO_ENTRIES_LEFT' }])
})

test('a scan from before the ticket was sold is refused, and one a day behind is not', async () => {
  const ticketId = await buy()
  const year = 366 * 24 * 60
  const answers = await uploadScans(sale, [
    { ticketId, scannedAt: '0001-01-01T00:00:00.000Z' },
    { ticketId, scannedAt: ago(25 * 60) },
    { qrCode: 'NOBODYS', scannedAt: '0001-01-01T00:00:00.000Z' },
    { qrCode: 'NOBODYS', scannedAt: ago(year + 1) },
    { qrCode: 'NOBODYS', scannedAt: ago(year - 60) },
    { ticketId, scannedAt: ago(23 * 60) },
  ])
  expect(answers.map(({ outcome, errors }) => outcome ?? errors?.[0])).toEqual([
    ...[0, 1, 2, 3].map((place) => ({ code: 'INVALID', path: `scans.${place}.scannedAt` })),
    ...['NOT_FOUND', 'TOO_EARLY'],
  ])
  expect((await ticketRow(sale, ticketId))?.entered).toBe(0)
  const { errors } = await scanTicket(sale, { ticketId, scannedAt: '0001-01-01T00:00:00.000Z' })
  expect(errors).toEqual([{ code: 'INVALID', path: 'scannedAt' }])
})

test('a scan that is not valid is refused by itself', async () => {
  const ticketId = await buy()
  const answers = await uploadScans(sale, [
    { qrCode: 'https://menu.example/a b' },
    { ticketId, people: 0 },
    { ticketId, scannedAt: new Date(Date.now() + 3_600_000).toISOString() },
    { ticketId, idempotencyKey: ' ' },
    { ticketId },
  ])
  expect(
    answers.slice(0, -1).map(({ errors }) => errors?.map(({ code, path }) => `${code} ${path}`)),
  ).toEqual([
    ['INVALID scans.0.ticket.qrCode'],
    ['INVALID scans.1.people'],
    ['INVALID scans.2.scannedAt'],
    ['INVALID scans.3.idempotencyKey'],
  ])
  expect(answers.at(-1)).toMatchObject({ outcome: 'OK' })
})

test.each([[{}], [{ qrCode: 'A', ticketId: 'tkt_1' }], [{ qrCode: null }]])(
  'a batch with a scan of %j, which is not one of code and identifier, is refused by the schema',
  async (ticket) => {
    const other = { ticket: { ticketId: await buy() }, eventId: 'evt_1', idempotencyKey: 'beside' }
    const { data, errors } = await sale.graphql(
      'mutation ($input: CheckInTicketsInput!) { checkInTickets(input: $input) { __typename } }',
      { input: { scans: [other, { ticket, eventId: 'evt_1', idempotencyKey: 'wrong' }] } },
      sale.integration.v2,
    )
    expect(data).toBeUndefined()
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_REQUEST' } }])
    expect(errors?.[0]?.message).toMatch(/ScannedTicketInput|"qrCode"/)
    expect((await ticketRow(sale, other.ticket.ticketId))?.entered).toBe(0)
  },
)

test('a batch has 1 to 200 scans, and an integration sends it', async () => {
  const scans = (count: number) =>
    Array.from({ length: count }, () => ({ qrCode: 'NOBODYS', eventId: 'evt_1' }))
  expect((await uploadScans(sale, [])).errors).toEqual([{ code: 'INVALID', path: 'scans' }])
  expect((await uploadScans(sale, scans(201))).errors).toEqual([{ code: 'INVALID', path: 'scans' }])
  expect(await uploadScans(sale, scans(200))).toHaveLength(200)
  const { errors } = await sale.graphql(
    'mutation { checkInTickets(input: { scans: [] }) { __typename } }',
    {},
    sale.channel,
  )
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'FORBIDDEN' })
})

test('somebody inside before the doors open is told beside TOO_EARLY', async () => {
  const ticketId = await buy('today')
  expect(await uploadScans(sale, [{ ticketId }])).toMatchObject([
    { outcome: 'TOO_EARLY', reasons: ['TOO_EARLY'], inside: 0, firstEnteredAt: null },
  ])
  await scanTicket(sale, { ticketId, people: 2, force: true })
  const scan = { ticketId, idempotencyKey: 'early' }
  const both = { outcome: 'NO_ENTRIES_LEFT', reasons: ['NO_ENTRIES_LEFT', 'TOO_EARLY'], inside: 2 }
  expect(await uploadScans(sale, [scan])).toMatchObject([{ ...both, replayed: false }])
  expect(await uploadScans(sale, [scan])).toMatchObject([{ ...both, replayed: true }])
})
