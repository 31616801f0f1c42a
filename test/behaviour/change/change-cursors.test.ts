// Runs in: postgres, slow-forms

import { sql } from 'drizzle-orm'
import { beforeAll, expect, test } from 'vitest'
import { changeGrant } from '../../../src/domain/caller/change-grant.ts'
import { readCursor, toCursor } from '../../../src/domain/change/cursor.ts'
import { recordChanges } from '../../../src/domain/change/record-changes.ts'
import { type ChangeNode, cursorRefusal, readChanges, readChangesPage } from '../../support/change-feed.ts'
import { anOrganization, channelHeaders, integrationHeaders } from '../../support/factories.ts'
import { sharedSale } from '../../support/sale.ts'

// Cursors of the feed: those that continue across revoked and new grants, and those that are refused.

const organizations = Array.from({ length: 6 }, (_, index) => `org_${index + 1}`)

/** Sets the changes a millisecond apart in the order of their ids: a clock may give two the same time. */
const apartInTime = sql`update changes set created_at = now() - interval '1 minute' + ordered.place * interval '1 ms'
  from (select id, row_number() over (order by id) as place from changes) as ordered where ordered.id = changes.id`

let channelId: string
const sale = sharedSale({
  organizations: organizations.map((_id) => anOrganization({ _id, name: _id })),
  events: [],
})
beforeAll(async () => {
  const rows = await sale.db.select({ id: sql<string>`id` }).from(sql`channels where id like 'chn_%'`)
  channelId = rows[0]?.id ?? ''
  for (let round = 0; round < 3; round++)
    for (const id of organizations) await record(id, [`${id}/${round}`], round === 1 ? channelId : null)
  await sale.db.execute(apartInTime)
})

/** Writes changes of an organization's rates, or of payments that a channel made there. */
const record = (organizationId: string, subjects: string[], channel: string | null = null) =>
  sale.db.transaction((tx) =>
    recordChanges(
      tx,
      subjects.map((subjectId) => ({
        type: channel ? ('payment.paid' as const) : ('rate.sold_out' as const),
        subjectId,
        organizationId,
        channelId: channel,
        data: {},
      })),
    ),
  )
const subjects = ({ nodes }: { nodes: ChangeNode[] }) => nodes.map(({ subjectId }) => subjectId)
const grant = (organizationId: string, granted: boolean, to = channelId) =>
  changeGrant(sale.db, { channelId: to, organizationId, granted })

test('changes of several organizations are merged by time, on pages of any size', async () => {
  const all = await readChanges(sale, sale.channel)
  expect(subjects(all)).toEqual([0, 1, 2].flatMap((round) => organizations.map((id) => `${id}/${round}`)))
  for (const first of [1, 2, 5, 18]) expect(await readChanges(sale, sale.channel, null, first)).toEqual(all)
  const { cursors } = await readChangesPage(sale, sale.channel)
  for (const [index, after] of cursors.entries())
    expect(subjects(await readChanges(sale, sale.channel, after, 4))).toEqual(subjects(all).slice(index + 1))
})

test('a grant given after a cursor adds the changes of that organization from the oldest', async () => {
  const headers = await channelHeaders(sale.db, 'org_1')
  const rows = await sale.db
    .select({ id: sql<string>`id` })
    .from(sql`channels where id like 'chn_%' order by created_at desc, id desc`)
  const before = await readChanges(sale, headers)
  expect(subjects(before)).toEqual(['org_1/0', 'org_1/2'])
  await grant('org_2', true, rows[0]?.id)
  const added = await readChanges(sale, headers, before.end)
  expect(subjects(added)).toEqual(['org_2/0', 'org_2/2'])
  expect(subjects(await readChanges(sale, headers, added.end))).toEqual([])
})

test('a grant revoked for a while misses no change and repeats none', async () => {
  const { end } = await readChanges(sale, sale.channel)
  await grant('org_3', false)
  await record('org_3', ['while/1'])
  await record('org_3', ['while/2'], channelId)
  const meanwhile = await readChanges(sale, sale.channel, end)
  expect(subjects(meanwhile)).toEqual(['while/2'])
  await record('org_3', ['while/3'], channelId)
  await grant('org_3', true)
  const after = await readChanges(sale, sale.channel, meanwhile.end)
  expect(subjects(after)).toEqual(['while/1', 'while/3'])
  expect(subjects(await readChanges(sale, sale.channel, after.end))).toEqual([])
})

test('a cursor stays valid when all its grants are revoked', async () => {
  const headers = await channelHeaders(sale.db, 'org_4')
  const rows = await sale.db
    .select({ id: sql<string>`id` })
    .from(sql`channels where id like 'chn_%' order by created_at desc, id desc`)
  const { end } = await readChanges(sale, headers)
  await grant('org_4', false, rows[0]?.id)
  expect(subjects(await readChanges(sale, headers, end))).toEqual([])
  expect(subjects(await readChanges(sale, headers))).toEqual([])
})

test('a cursor of an integration works for another integration of its organization', async () => {
  const { end } = await readChanges(sale, sale.integration.v2)
  const other = await integrationHeaders(sale.db, 'org_1')
  await record('org_1', ['another'])
  expect(subjects(await readChanges(sale, other.v1, end))).toEqual(['another'])
})

test.each([
  ['malformed', async () => 'nonsense'],
  ['of an earlier format', async () => Buffer.from('1234 56').toString('base64url')],
  ['of another channel', async () => (await readChanges(sale, await channelHeaders(sale.db, 'org_1'))).end],
  ['of an integration', async () => (await readChanges(sale, sale.integration.v2)).end],
  ['with altered positions', async () => altered((position) => position - 1)],
  ['with positions beyond the last', async () => altered((position) => position + 1_000_000)],
  ['of organizations without a grant', async () => altered((position) => position, 1_000)],
  ['of more organizations than exist', async () => `aaaaaaaaaaa${'.zzzzzzzzzz.1'.repeat(4_000)}`],
  ['that is too long', async () => `aaaaaaaaaaa${'.1.1'.repeat(20_000)}`],
  ['that names a part twice', async () => `${(await end()).slice(0, 11)}.1.1.0.1`],
])('a cursor %s is refused', async (_what, cursor) => {
  expect(await cursorRefusal(sale, sale.channel, await cursor())).toBe('CURSOR_UNKNOWN')
})

const end = async () => (await readChanges(sale, sale.channel)).end

/** Makes a cursor with a valid digest for changes that the channel never saw, or that never existed. */
async function altered(move: (position: number) => number, moveParts = 0): Promise<string> {
  const { positions } = readCursor(await end())
  const { id } = (await readChangesPage(sale, sale.channel)).nodes[0] ?? { id: '' }
  return toCursor(
    channelId,
    new Map(positions.map(({ part, position }) => [part + moveParts, { id, position: move(position) }])),
  )
}

test('a cursor of changes lost in a restore is refused', async () => {
  const { end } = await readChanges(sale, sale.channel)
  await record('org_5', ['taken back'])
  const lost = await readChanges(sale, sale.channel, end)
  expect(subjects(lost)).toEqual(['taken back'])
  const back = sql`with gone as (delete from changes where subject_id = 'taken back' returning organization_id)
    update change_feeds set last_position = last_position - 1 from gone
    where gone.organization_id = change_feeds.organization_id`
  await sale.db.execute(back)
  expect(await cursorRefusal(sale, sale.channel, lost.end)).toBe('CURSOR_UNKNOWN')
  await record('org_5', ['in its place'])
  const now = await readChanges(sale, sale.channel, end)
  expect(subjects(now)).toEqual(['in its place'])
  expect(await cursorRefusal(sale, sale.channel, lost.end)).toBe('CURSOR_UNKNOWN')
  expect(await cursorRefusal(sale, sale.channel, now.end)).toBeUndefined()
})

test('CURSOR_UNKNOWN says what to do', async () => {
  const { errors } = await sale.graphql(
    '{ changes(from: { after: "nonsense" }) { nodes { id } } }',
    {},
    sale.channel,
  )
  expect(errors?.[0]).toMatchObject({
    message: expect.stringContaining('Start again from the oldest change'),
    extensions: { code: 'CURSOR_UNKNOWN', path: 'from.after' },
  })
})

test('a cursor takes some seven characters for each organization', () => {
  const heard = Array.from(
    { length: 1_000 },
    (_, part) => [part * 3, { id: `chg_${part}`, position: 40_000 }] as const,
  )
  const cursor = toCursor('chn_1', new Map(heard))
  expect(cursor.length).toBeLessThan(7_100)
  expect(readCursor(cursor).positions).toEqual(heard.map(([part, { position }]) => ({ part, position })))
})
