import { setImmediate } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticated } from '../../auth/caller.ts'
import { clientAddress } from '../../http/client-address.ts'
import type { Log } from '../../http/mask-error.ts'
import type { Services } from '../../request/context.ts'
import { busy } from '../../shared/errors.ts'
import { EventStream, sendOneEvent } from './event-stream.ts'
import { errorsToJson, failureToJson, isShared, type LiveOperation, type Origin } from './live-operation.ts'
import { type Session, Sessions } from './sessions.ts'
import { finalEvents, LiveSources, type Opened } from './sources.ts'
import { StreamCounts, type StreamLimits } from './stream-limits.ts'

/** A stream with its operation. */
class Member {
  readonly operation: LiveOperation
  readonly origin: Origin
  readonly stream: EventStream
  readonly session: Session<Member>
  /** Takes the stream from its source. */
  leave: () => void = () => {}

  constructor(
    { operation, origin, stream }: Pick<Member, 'operation' | 'origin' | 'stream'>,
    sessionOf: (member: Member) => Session<Member>,
  ) {
    this.operation = operation
    this.origin = origin
    this.stream = stream
    this.session = sessionOf(this)
  }

  join(opened: Exclude<Opened, { refused: unknown }>): void {
    this.leave = opened.join({ stream: this.stream, authenticated: () => this.session.authenticated })
  }
}

const tickMs = 1_000
// Each quiet stream is sent a comment once in so many ticks.
const heartbeatTicks = 15
const endedPerTurn = 200

/** Open event streams of this process, from their requests to their ends. */
export class LiveStreams {
  readonly #log: Log
  readonly #isLeaving: () => boolean
  readonly #counts: StreamCounts
  readonly #sources: LiveSources
  readonly #sessions: Sessions<Member>
  /** Members that get their heartbeats at the same time. */
  readonly #beats = Array.from({ length: heartbeatTicks }, () => new Set<Member>())
  readonly #timer: NodeJS.Timeout
  #ticks = 0
  #opened = 0

  constructor(services: Services, log: Log, limits: StreamLimits, isLeaving: () => boolean) {
    this.#log = log
    this.#isLeaving = isLeaving
    this.#counts = new StreamCounts(limits)
    this.#sources = new LiveSources(services)
    this.#sessions = new Sessions(services.db, {
      onRevoked: ({ members }, refusal) =>
        void this.#endAll(members, ({ origin }) => finalEvents(failureToJson(refusal, origin))),
      onChanged: ({ members }) => {
        for (const member of members) void this.#reopen(member)
      },
    })
    this.#timer = setInterval(() => this.#tick(), tickMs).unref()
  }

  /** Answers a subscription with an event stream. Resolves once it is open, or was refused in it.
   *  Refuses: RATE_LIMITED, BUSY, BAD_REQUEST. */
  async open(
    request: FastifyRequest,
    reply: FastifyReply,
    operation: LiveOperation,
    authenticated: Authenticated,
  ): Promise<void> {
    if (this.#isLeaving()) throw busy('The service is shutting down. Try again.')
    const { credentials } = request
    const origin = this.#originOf(request.id)
    const release = this.#counts.add(credentials.hash, clientAddress(request), !isShared(operation))
    let opened: Opened | null = null
    try {
      const lastEventId = [request.headers['last-event-id']].flat()[0]
      opened = await this.#sources.open({ operation, origin, authenticated }, lastEventId)
      if ('refused' in opened) {
        release()
        return void sendOneEvent(reply, errorsToJson(opened.refused, origin))
      }
      const stream = new EventStream(reply)
      stream.lastEventId = lastEventId
      const member = new Member({ operation, origin, stream }, (member) =>
        this.#sessions.add(credentials, authenticated, member),
      )
      const beats = this.#beats[this.#opened++ % heartbeatTicks]
      beats?.add(member)
      stream.onClose = () => {
        release()
        beats?.delete(member)
        this.#sessions.remove(member.session, member)
        member.leave()
      }
      member.join(opened)
    } catch (error) {
      release()
      if (opened && 'drop' in opened) opened.drop()
      throw error
    }
  }

  /** Cuts all streams without completing them, so that their clients connect to another process. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#endAll(this.#all(), () => '')
  }

  #all(): Member[] {
    return this.#beats.flatMap((members) => [...members])
  }

  // A request's own logger would keep the whole request in memory.
  #originOf(requestId: string): Origin {
    const log = this.#log
    return {
      requestId,
      log: { error: (facts, message) => log.error({ request_id: requestId, ...facts }, message) },
    }
  }

  #tick(): void {
    if (this.#isLeaving()) return void this.#endAll(this.#all(), () => '')
    for (const { stream } of this.#beats[this.#ticks++ % heartbeatTicks] ?? []) stream.beat()
    void this.#sessions.check()
  }

  // In turns of the event loop: ten thousand at once would keep requests waiting.
  async #endAll(members: Iterable<Member>, eventsFor: (member: Member) => string): Promise<void> {
    let ended = 0
    for (const member of [...members]) {
      member.stream.end(eventsFor(member))
      if (++ended % endedPerTurn === 0) await setImmediate()
    }
  }

  // The caller sees more or less than before.
  async #reopen(member: Member): Promise<void> {
    const { operation, origin, stream, session } = member
    member.leave()
    member.leave = () => {}
    const { authenticated } = session
    try {
      const opened = await this.#sources.open({ operation, origin, authenticated }, stream.lastEventId)
      if ('refused' in opened) return stream.end(finalEvents(errorsToJson(opened.refused, origin)))
      if (stream.isOver) return opened.drop()
      stream.seen = 0
      member.join(opened)
    } catch {
      // The client connects again.
      stream.end()
    }
  }
}
