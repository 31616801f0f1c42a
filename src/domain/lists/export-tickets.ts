import { Readable } from 'node:stream'
import { stringify } from 'csv-stringify/sync'
import { createBulkhead } from '../../engine/base/turns.ts'
import { ownerOf, perDatabase } from '../../engine/database/database.ts'
import { type Context, requireConfidential } from '../caller/context.ts'
import { listedTicketBody } from '../ticket/body.ts'
import type { LookupTicket } from '../ticket/table.ts'
import { listTickets, type TicketFilter } from './list-tickets.ts'
import type { ListPage, PageRequest } from './request.ts'

export type ExportFormat = 'csv' | 'ndjson'

const pageSize = 100
// Maximum number of exports in a process: each holds one page in memory, and no connection while its reader reads.
const maxExports = 20
// Maximum number of exports for one caller, so that its slow readers leave some to others.
const maxOfCaller = 4
// Time for a reader to take a page, and for a whole export.
const maxPauseMs = 30_000
const maxDurationMs = 30 * 60_000

const words = 'Too many exports at once. Try again.'

const limitsOf = perDatabase(() => ({
  /** Runs exports to their ends. */
  run: createBulkhead({ maxAtOnce: maxExports, maxOfOwner: maxOfCaller, maxWaiting: 0, words }),
  /** Reads a page of one. */
  read: createBulkhead({ maxAtOnce: 2, maxOfOwner: 1, maxWaiting: maxExports }),
}))

const columns = Object.keys(listedTicketBody.schema.shape).filter((name) => name !== 'price_info')

// Escapes what begins like a formula, because spreadsheets would run it: at the begin of a cell, and behind
// what another program may take for the end of one. Control characters and line breaks are spaces.
const toText = (text: string) =>
  text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').replace(/(^|[;,|])(\s*)(?=[=+\-@＝＋－＠])/g, "$1$2'")

// Objects and lists are JSON.
const cast = { string: toText, object: (value: object) => toText(JSON.stringify(value)) }
const quoting = { quoted: true, quoted_empty: true, record_delimiter: 'windows' } as const
const toCsv = (bodies: object[], header: boolean, bom: boolean): string =>
  stringify(bodies, { columns, header, bom, cast, ...quoting })
const toNdjson = (bodies: object[]): string => bodies.map((body) => `${JSON.stringify(body)}\n`).join('')

/** Reads a list to its end, a page at a time, as CSV or as a JSON object a line. Reads the first page before
 *  it resolves, so that a refusal comes before the answer. Each later one is read when the reader has taken
 *  the one before: no connection is held meanwhile. With `bom` CSV begins with U+FEFF. The stream is destroyed if
 *  a page can't be read, or if the reader takes too long. Refuses: BUSY with too many exports, and as
 *  `listTickets` does. */
export function exportTickets(
  format: ExportFormat,
  filter: TicketFilter,
  { orderBy, after, bom }: Pick<PageRequest, 'orderBy' | 'after'> & { bom: boolean },
  ctx: Context,
): Promise<Readable> {
  const caller = requireConfidential(ctx)
  const owner = caller.kind === 'channel' ? caller.channelId : caller.integrationId
  const { run, read } = limitsOf(ctx.db)
  const asked = { orderBy, afterName: 'cursor', size: pageSize, isBackward: false }
  const readAfter = (after: PageRequest['after']) =>
    read(ownerOf(ctx.db), () => listTickets(filter, { ...asked, after }, ctx))
  const toLines = (page: ListPage<LookupTicket>, isFirst: boolean) =>
    format === 'csv'
      ? toCsv(page.rows.map(listedTicketBody.of), isFirst, isFirst && bom)
      : toNdjson(page.rows.map(listedTicketBody.of))
  async function open(): Promise<Readable> {
    let page = await readAfter(after)
    const end = performance.now() + maxDurationMs
    const pages = async function* () {
      yield toLines(page, true)
      while (page.hasNextPage && page.endCursor) {
        if (performance.now() > end) throw new Error('an export took too long')
        page = await readAfter(page.endCursor)
        timer.refresh()
        if (page.rows.length > 0) yield toLines(page, false)
      }
    }
    const stream = Readable.from(pages(), { objectMode: true, highWaterMark: 1 })
    const tooLong = new Error('the reader of an export paused for too long')
    const timer = setTimeout(() => stream.destroy(tooLong), maxPauseMs).unref()
    return stream.once('close', () => clearTimeout(timer))
  }
  return new Promise((resolve, reject) => {
    run(owner, async () => {
      const stream = await open()
      resolve(stream)
      await new Promise((end) => stream.once('close', end))
    }).catch(reject)
  })
}
