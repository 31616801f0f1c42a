import { PullStream } from '../../data/pull-stream.ts'
import { isUnavailable } from '../../database/database.ts'
import { type Context, requireIntegration } from '../../request/context.ts'
import { problem, Refusal } from '../../shared/errors.ts'
import { eventById } from '../event/loaders.ts'
import { checkInLogs } from './check-in-log.ts'
import { keyOf, type LoggedCheckIn, pageSize, placeBefore, readCheckIns } from './find-check-ins.ts'

// Until a database that is away is read again.
const retryMs = 1_000
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())

const digits = /^\d{1,15}$/

/** Identifier of a check-in in a stream: when its transaction began, in milliseconds. */
export const eventIdOf = ({ createdAt }: LoggedCheckIn): string => String(createdAt.getTime())

function readEventId(id: string): Date {
  const time = new Date(Number(id))
  if (digits.test(id) && !Number.isNaN(time.getTime())) return time
  throw new Refusal(
    problem('CURSOR_UNKNOWN', 'Last-Event-ID is not the id of an event of this stream.', ['last-event-id']),
  )
}

/** Streams the check-ins of tickets of an event and of the caller's mode, as they are made; after
 *  `lastEventId`, those since that event as well, of which some may come again: commits come in another order
 *  than they began. A reader that is slow reads them from the table, and nothing is left out.
 *  Refuses: UNAUTHENTICATED, FORBIDDEN for a channel, NOT_FOUND for an event of others, CURSOR_UNKNOWN. */
export async function watchCheckIns(
  eventId: string,
  lastEventId: string | undefined,
  ctx: Context,
): Promise<PullStream<LoggedCheckIn>> {
  requireIntegration(ctx)
  const event = await ctx.loaders.load(eventById, eventId)
  if (!event) throw new Refusal(problem('NOT_FOUND', 'There is no such event.', ['eventId']))
  /** Place in the table, while what was missed is read; null while the log is. */
  let place = lastEventId ? placeBefore(readEventId(lastEventId)) : null
  let page: LoggedCheckIn[] = []
  const sent = new Set<string>()
  const wake = () => stream.wake()
  const log = await checkInLogs(ctx.db).open(event, ctx.now, wake)
  let next = log.end
  let isOver = false
  const { id, organizationId } = event
  const watched = { id, organizationId }

  async function fromTable(): Promise<LoggedCheckIn | undefined> {
    if (page.length === 0 && place) {
      const found = await readCheckIns(ctx.db, watched, place).catch((error) => {
        if (isUnavailable(error)) return null
        throw error
      })
      if (!found) {
        await pause(retryMs)
        return undefined
      }
      page = found.filter(({ mode }) => mode === ctx.mode)
      place = found.length === pageSize ? (found.at(-1) ?? null) : null
    }
    const checkIn = page.shift()
    if (checkIn) sent.add(keyOf(checkIn))
    return checkIn
  }

  const stream = new PullStream<LoggedCheckIn>(
    async () => {
      while (!isOver) {
        if (place || page.length > 0) {
          const missed = await fromTable()
          if (missed) return missed
          continue
        }
        const checkIn = log.at(next)
        if (checkIn === undefined) {
          sent.clear()
          return undefined
        }
        if (checkIn === null) {
          // Everything from here on is read from the table, as after a reconnection.
          place = placeBefore(lastRead)
          next = log.end
          continue
        }
        next++
        lastRead = checkIn.createdAt
        if (checkIn.mode === ctx.mode && !sent.has(keyOf(checkIn))) return checkIn
      }
      return undefined
    },
    () => {
      isOver = true
      checkInLogs(ctx.db).close(log, wake)
    },
  )
  let lastRead = ctx.now
  return stream
}
