import { setImmediate } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticated } from '../../base/caller.ts'
import { busy } from '../../base/errors.ts'
import { sha256 } from '../../base/ids.ts'
import type { HttpConfig } from '../../config/http.ts'
import { isUnavailable } from '../../database/database.ts'
import { clientAddress } from '../../http/connection-limits.ts'
import type { Services } from '../../request/context.ts'
import type { Origin } from '../errors.ts'
import { FairTurns } from '../fair-turns.ts'
import { completeEvent, EventStream, nextEvent, sendOneEvent } from './event-stream.ts'
import { Audience, FanOut } from './fan-out.ts'
import {
  type Events,
  executeOn,
  failureToJson,
  isRefused,
  type LiveOperation,
  openSource,
} from './live-operation.ts'
import { type Member, watchSessions } from './sessions.ts'
import { countStreams } from './stream-limits.ts'

/** A subscription of a caller. */
type Subscription = { operation: LiveOperation; origin: Origin; authenticated: Authenticated }

/** Way into a source of events. `join` adds a stream, and returns a function that takes it out again; `drop`
 *  ends a source that nobody has joined. */
type Opened = { join(member: Pick<Member, 'stream' | 'session'>): () => void; drop(): void }

/** The bytes of an event, and its identifier if it has one. */
type Executed = { id: string | undefined; bytes: Buffer }

/** Writes the last events of a stream that ends with an error. */
const finalEvents = (error: unknown, origin: Origin): string =>
  nextEvent(failureToJson(error, origin)) + completeEvent

// Time for which the bytes of an event are kept for other streams of the same operation and caller.
const keptMs = 1_000

/** Opens sources of the events of subscriptions. Subscriptions of the same operation whose callers see the same share
 *  one execution: all of it if only latest states are sent; else that on each event, because each stream goes
 *  through its events by itself. */
function liveSources(services: Services) {
  const contextOf = ({ authenticated }: { authenticated: Authenticated }) =>
    services.access.contextOf(services, authenticated)
  const fanOut = new FanOut()
  const turns = new FairTurns()
  const executedOn = new WeakMap<object, Map<string, Promise<Executed>>>()
  const shared = new Map<string, Promise<Opened>>()

  function forAudience(events: Events, subscription: Subscription, forget: () => void): Opened {
    const { operation, origin } = subscription
    const audience = new Audience()
    const run = async () => {
      for await (const event of events) {
        const ctx = contextOf(subscription)
        const result = await executeOn(event, operation, ctx, origin)
        audience.set(operation.stream.latestBy?.(event) ?? '', Buffer.from(nextEvent(result)))
        fanOut.publish(audience)
      }
    }
    lastEvents(run, origin).then((last) => {
      forget()
      for (const stream of audience.streams) stream.end(last)
    })
    // Ends later, because another stream may be about to join.
    const drop = () =>
      queueMicrotask(() => {
        if (audience.streams.size > 0) return
        forget()
        void events.return?.()
      })
    return {
      drop,
      join: ({ stream }) => {
        audience.streams.add(stream)
        fanOut.deliver(stream, audience)
        return () => {
          audience.streams.delete(stream)
          drop()
        }
      },
    }
  }

  // Readers of the same feed or log get the same objects.
  function once(event: object, key: string, execute: () => Promise<Executed>): Promise<Executed> {
    const known = executedOn.get(event) ?? new Map<string, Promise<Executed>>()
    const executed = known.get(key) ?? execute()
    if (known.size === 0) setTimeout(() => executedOn.delete(event), keptMs).unref()
    executedOn.set(event, known.set(key, executed))
    return executed
  }

  function forItself(events: Events, subscription: Subscription, key: string): Opened {
    const { operation, origin, authenticated } = subscription
    const owner = JSON.stringify(authenticated.caller)
    const drop = () => void events.return?.()
    return {
      drop,
      join: ({ stream, session }) => {
        let hasLeft = false
        stream.lastEventId ??= events.startId
        const run = async () => {
          await fanOut.whenWritable(stream)
          for await (const event of events) {
            const execute = async () => {
              const id = operation.stream.eventIdOf?.(event)
              const ctx = contextOf(session)
              const result = await executeOn(event, operation, ctx, origin)
              return { id, bytes: Buffer.from(nextEvent(result, id)) }
            }
            await turns.run(owner, async () => {
              const { id, bytes } = await once(event, key, execute)
              if (hasLeft) return
              stream.write(bytes)
              stream.lastEventId = id
            })
            await fanOut.whenWritable(stream)
          }
        }
        lastEvents(run, origin).then((last) => hasLeft || stream.end(last))
        return () => {
          hasLeft = true
          drop()
        }
      },
    }
  }

  /** Opens the source of a subscription, after the event that its client has received last. */
  return function openFor(subscription: Subscription, lastEventId: string | undefined): Promise<Opened> {
    const { operation, authenticated } = subscription
    const open = () => openSource(operation, { ...contextOf(subscription), lastEventId })
    const { compiled, operationName, variables, stream } = operation
    const asked = [compiled.document.loc?.source.body, operationName, variables, authenticated.caller]
    const key = sha256(JSON.stringify(asked))
    if (!stream.latestBy) return open().then((events) => forItself(events, subscription, key))
    const found = shared.get(key)
    if (found) return found
    const forget = () => {
      if (shared.get(key) === opened) shared.delete(key)
    }
    const opened = open().then((events) => forAudience(events, subscription, forget))
    shared.set(key, opened)
    // A refusal is not kept.
    opened.catch(forget)
    return opened
  }
}

// Without a complete event the client connects again, as it should where the source ended by itself, or the
// database is away.
const lastEvents = (run: () => Promise<void>, origin: Origin): Promise<string> =>
  run().then(
    () => '',
    (error) => (isUnavailable(error) ? '' : finalEvents(error, origin)),
  )

const tickMs = 1_000
// Each quiet stream is sent a comment once in so many ticks.
const heartbeatTicks = 15
const endedPerTurn = 200

// In turns of the event loop: ten thousand at once would keep requests waiting.
async function endAll(members: Iterable<Member>, eventsFor: (member: Member) => string = () => '') {
  let ended = 0
  for (const member of [...members]) {
    member.stream.end(eventsFor(member))
    if (++ended % endedPerTurn === 0) await setImmediate()
  }
}

/** Keeps the open event streams of this process, from their requests to their ends. */
export function liveStreams(
  services: Services,
  log: FastifyBaseLogger,
  config: HttpConfig,
  isLeaving: () => boolean,
) {
  const count = countStreams(config)
  const openSourceFor = liveSources(services)
  const sessions = watchSessions(services, {
    onRevoked: (members, refusal) => void endAll(members, ({ origin }) => finalEvents(refusal, origin)),
    onChanged: (member) => void reopen(member),
  })
  // Members that get their heartbeats at the same time.
  const beats = Array.from({ length: heartbeatTicks }, () => new Set<Member>())
  let ticks = 0
  let opened = 0
  const all = () => beats.flatMap((members) => [...members])
  const timer = setInterval(() => {
    if (isLeaving()) return void endAll(all())
    for (const { stream } of beats[ticks++ % heartbeatTicks] ?? []) stream.beat()
    void sessions.check()
  }, tickMs).unref()

  // The caller sees more or less than before.
  async function reopen(member: Member): Promise<void> {
    const { operation, origin, stream, session } = member
    member.leave()
    member.leave = () => {}
    const { authenticated } = session
    try {
      const source = await openSourceFor({ operation, origin, authenticated }, stream.lastEventId)
      if (stream.isOver) return source.drop()
      stream.seen = 0
      member.leave = source.join(member)
    } catch (error) {
      // After anything but a refusal the client connects again.
      stream.end(isRefused(error) ? finalEvents(error, origin) : '')
    }
  }

  return {
    /** Answers a subscription with an event stream. Resolves once it is open, or was refused in it.
     *  Refuses: RATE_LIMITED, BUSY, BAD_REQUEST. */
    async open(
      request: FastifyRequest,
      reply: FastifyReply,
      operation: LiveOperation,
      authenticated: Authenticated,
    ): Promise<void> {
      if (isLeaving()) throw busy('The service is shutting down. Try again.')
      const { credentials } = request
      // A request's own logger would keep the whole request in memory.
      const origin = { requestId: request.id, log: log.child({ request_id: request.id }) }
      const release = count(credentials.hash, clientAddress(request), !operation.stream.latestBy)
      let source: Opened | undefined
      try {
        const lastEventId = [request.headers['last-event-id']].flat()[0]
        source = await openSourceFor({ operation, origin, authenticated }, lastEventId)
        const stream = new EventStream(reply)
        stream.lastEventId = lastEventId
        const leave = () => {}
        const member = sessions.add(credentials, authenticated, { operation, origin, stream, leave })
        const others = beats[opened++ % heartbeatTicks]
        others?.add(member)
        stream.onClose = () => {
          release()
          others?.delete(member)
          sessions.remove(member)
          member.leave()
        }
        member.leave = source.join(member)
      } catch (error) {
        release()
        source?.drop()
        if (!isRefused(error)) throw error
        sendOneEvent(reply, failureToJson(error, origin))
      }
    },
    /** Cuts all streams without completing them, so that their clients connect to another process. */
    async close(): Promise<void> {
      clearInterval(timer)
      await endAll(all())
    },
  }
}
