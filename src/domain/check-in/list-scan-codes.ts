import { randomBytes } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import { Refusal } from '../../engine/base/errors.ts'
import { createBulkhead } from '../../engine/base/turns.ts'
import { query, textArrayParam } from '../../engine/data/query.ts'
import { ownerOf, perDatabase } from '../../engine/database/database.ts'
import { type Context, loadNamed, requireIntegration } from '../caller/context.ts'
import { toDigest } from '../change/cursor.ts'
import { listChanges, readFeedHead } from '../change/list-changes.ts'
import { maxChanges } from '../change/read-feed.ts'
import { refusal } from '../contract/problem-codes.ts'
import { eventById } from '../event/loaders.ts'
import { type Event, events } from '../event/table.ts'
import { tickets } from '../ticket/table.ts'
import { ticketRates } from '../ticket-rate/table.ts'
import { doorsOpenAt } from './scan-book.ts'

/** Position of a scanner in the scan list of an event: the feed of changes, and, while it reads the list
 *  itself, the last ticket. */
type ScanListPosition = { feed: string; lastTicketId: string | null }

// Characters that neither the cursors of the feed nor identifiers contain, and that URLs leave as they are.
const separator = '~'

// Keeps the cursor of one event's list from being taken for that of another, and what was hashed with one salt
// from what is hashed with another.
const digestOf = (salt: string, { feed, lastTicketId }: ScanListPosition): string =>
  toDigest([salt, feed, lastTicketId])

/** Refusal of a cursor that is not of this list. */
const unknownCursor = () =>
  refusal(
    'CURSOR_UNKNOWN',
    'since is not a cursor of this scan list: it belongs to another event, caller or database, or names changes that a restore undid. Start again without since.',
    ['since'],
  )

/** Decodes a cursor. The feed verifies its own part. Refuses: CURSOR_UNKNOWN, if it is malformed or of another
 *  event. */
function readScanListCursor(salt: string, cursor: string): ScanListPosition {
  const [digest, feed = '', lastTicketId = '', ...rest] = cursor.split(separator)
  const position = { feed, lastTicketId: lastTicketId || null }
  if (rest.length > 0 || digest !== digestOf(salt, position)) throw unknownCursor()
  return position
}

const parameter = sql.placeholder

/** Maximum number of tickets in a page of the scan list. */
export const maxScanListPage = 5_000

// A page of 5,000 tickets is a megabyte. Few at once leave memory and connections to everybody else.
const pageBulkhead = perDatabase(() => createBulkhead({ maxAtOnce: 2, maxOfOwner: 1, maxWaiting: 200 }))

// PostgreSQL hashes the codes, so that they never leave it.
const entry = sql`json_build_object(
  '_id', id, 'code_hash', encode(sha256(convert_to(${parameter('salt')}::text || qr_code, 'UTF8')), 'hex'),
  'rate_id', ticket_rate_id, 'status', case status when 'active' then 'activated' else status::text end,
  'for', admits, 'enter', entered,
  'entry_date', coalesce(floor(extract(epoch from last_entry_at))::bigint, 0),
  'supplements', case when supplements = '[]' then '[]'::json else (
    select json_agg(json_build_object('_id', sold ->> 'supplementId', 'label', sold ->> 'label',
      'product_quantity', (sold ->> 'productQuantity')::integer,
      'product_quantity_used', (sold ->> 'used')::integer) order by place)
    from jsonb_array_elements(supplements) with ordinality as list(sold, place)) end)::text`

type PageRow = { entries: string; last: string | null; more: boolean }

// Tickets that may be shown at the door: what was never paid is unknown there.
const isListed = sql`organization_id = ${parameter('organizationId')}
  and mode = ${parameter('mode')}::text::key_mode and status in ('active', 'cancelled')`

const printPage = (found: SQL) => sql`
  select coalesce(string_agg(entry, ',' order by place) filter (where place <= ${parameter('limit')}::integer), '') as entries,
    max(id) filter (where place = ${parameter('limit')}::integer) as last,
    count(*) > ${parameter('limit')}::integer as more
  from (select id, ${entry} as entry, row_number() over (order by ticket_rate_id, channel_id, created_at, id) as place
    from (${found}) as found) as page`

// In the order of the index of a rate's tickets, one rate after the other, behind the last ticket that was
// read. The bounds are of that ticket in its own rate, and below all tickets in the rates after it.
const listPage = query<PageRow>(
  'scan_list_page',
  () => sql`
  with last as materialized (
    select ticket_rate_id, channel_id, created_at, id from ${tickets}
    where id = ${parameter('lastTicketId')} and organization_id = ${parameter('organizationId')}
  )
  ${printPage(sql`
    select listed.* from (
      select rate.id, last.id as last_id,
        case when last.ticket_rate_id = rate.id then last.channel_id else '' end as channel_id,
        case when last.ticket_rate_id = rate.id then last.created_at else '-infinity' end as created_at,
        case when last.ticket_rate_id = rate.id then last.id else '' end as ticket_id
      from ${ticketRates} as rate left join last on true
      where rate.event_id = ${parameter('eventId')} and rate.id >= coalesce(last.ticket_rate_id, '')
      order by rate.id
    ) as bound cross join lateral (
      select * from ${tickets} where ${isListed} and ticket_rate_id = bound.id
        and (channel_id, created_at, id) > (bound.channel_id, bound.created_at, bound.ticket_id)
      order by channel_id, created_at, id limit ${parameter('limit')}::integer + 1
    ) as listed
    order by bound.id, listed.channel_id, listed.created_at, listed.id limit ${parameter('limit')}::integer + 1`)}`,
)

const changedPage = query<PageRow>('scan_list_changes', () =>
  printPage(sql`
    select * from ${tickets} where ${isListed} and event_id = ${parameter('eventId')}
      and id = any(${textArrayParam('ids')})`),
)

const keepSalt = query<{ salt: string }>(
  'keep_scan_salt',
  () => sql`
  update ${events} set scan_salt = coalesce(${events.scanSalt}, ${parameter('salt')}::text)
  where id = ${parameter('eventId')} returning scan_salt as salt`,
)

// Random, so that nobody can hash codes before he has the list. Made when the first list of an event is read.
async function saltOf({ id: eventId, scanSalt }: Event, { db }: Context): Promise<string> {
  if (scanSalt) return scanSalt
  const [kept] = await keepSalt(db, { eventId, salt: randomBytes(16).toString('hex') })
  if (!kept) throw new Error(`there is no event ${eventId} any more`)
  return kept.salt
}

/** Lists what a scanner must know to work offline: for each ticket of an event the hash of its code, people
 *  that it admits and that are inside, and its supplements, and nothing of its attendee. Without `since` the
 *  list begins; a page's cursor continues it, and once the list is read (`hasMore` is false), leads to what
 *  has changed since it began: tickets paid since, entries, exits, redemptions, cancellations, and tickets with
 *  another code after a transfer. Each replaces what was read of the same ticket before. A page is at most
 *  `limit` tickets. Nothing is missed, whatever commits meanwhile; something may come twice.
 *  Refuses: FORBIDDEN for a channel, NOT_FOUND, CURSOR_UNKNOWN, BUSY (DECISIONS 54). */
export async function listScanCodes(
  { eventId, since, limit }: { eventId: string; since?: string | undefined; limit: number },
  ctx: Context,
) {
  const [organizationId] = requireIntegration(ctx).organizationIds
  const event = await loadNamed(ctx, eventById, eventId)
  if (!event) throw refusal('NOT_FOUND', 'There is no such event.', ['eventId'])
  const salt = await saltOf(event, ctx)
  const position = since === undefined ? null : readScanListCursor(salt, since)
  const values = { organizationId, mode: ctx.mode, eventId, salt }

  async function read() {
    if (position && position.lastTicketId === null) {
      const most = Math.min(limit, maxChanges)
      const changes = await listChanges(position.feed, most, ctx).catch((error: unknown) => {
        throw error instanceof Refusal && error.code === 'CURSOR_UNKNOWN' ? unknownCursor() : error
      })
      const ofEvent = changes.filter(
        ({ type, data }) => type.startsWith('ticket.') && data.event_id === eventId,
      )
      const ids = [...new Set(ofEvent.map(({ subjectId }) => subjectId))]
      const [page] = ids.length > 0 ? await changedPage(ctx.db, { ...values, ids, limit: ids.length }) : []
      const next = { feed: changes.at(-1)?.cursor() ?? position.feed, lastTicketId: null }
      return { entries: page?.entries ?? '', position: next, hasMore: changes.length === most }
    }
    // Read before the tickets, so that changes in between are told again rather than missed.
    const feed = position?.feed ?? (await readFeedHead(ctx))
    const [page] = await listPage(ctx.db, { ...values, limit, lastTicketId: position?.lastTicketId ?? '' })
    if (!page) throw new Error('the statement returned no page')
    const { entries, last, more } = page
    return { entries, position: { feed, lastTicketId: more ? last : null }, hasMore: more }
  }

  const { position: next, ...page } = await pageBulkhead(ctx.db)(ownerOf(ctx.db), read)
  const opensAt = doorsOpenAt(event.startDate, ctx.services.admissionHours)
  const cursor = [digestOf(salt, next), next.feed, next.lastTicketId ?? ''].join(separator)
  return { event, opensAt, salt, ...page, cursor }
}

/** A page of the scan list. `entries` is JSON without its brackets, as the database has written it, because
 *  parsing and printing 5,000 tickets would hold up other requests. */
export type ScanListPage = Awaited<ReturnType<typeof listScanCodes>>
