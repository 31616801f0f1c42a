import type { GraphQLError } from 'graphql'
import type { Authenticated } from '../../auth/caller.ts'
import { isUnavailable } from '../../database/database.ts'
import { contextOf, type Services } from '../../request/context.ts'
import { sha256 } from '../../shared/ids.ts'
import { FairTurns } from '../fair-turns.ts'
import { completeEvent, type EventStream, nextEvent } from './event-stream.ts'
import { Audience, FanOut } from './fan-out.ts'
import {
  failureToJson,
  isShared,
  type LiveOperation,
  type Origin,
  openSource,
  type Source,
  toEvent,
} from './live-operation.ts'

/** A subscription of a caller. */
export type Subscription = { operation: LiveOperation; origin: Origin; authenticated: Authenticated }

/** A stream that joins a source. `authenticated` is that of the last authentication. */
type Joining = { stream: EventStream; authenticated(): Authenticated }

/** Way into a source of events, or the errors that it is refused with. `join` adds a stream to it, and returns
 *  how that leaves; `drop` ends a source that nobody has joined. */
export type Opened =
  | { join(joining: Joining): () => void; drop(): void }
  | { refused: readonly GraphQLError[] }

/** The bytes of an event, and its identifier if it has one. */
type Executed = { id: string | undefined; bytes: Buffer }

type OpenSource = Exclude<Source, { refused: unknown }>

/** Writes the last events of a stream that ends with an error. */
export const finalEvents = (json: string): string => nextEvent(json) + completeEvent

// Time for which the bytes of an event are kept for other streams of the same operation and caller.
const keptMs = 1_000

/** Sources of the events of subscriptions. Subscriptions of the same operation whose callers see the same share
 *  one execution: all of it if only latest states are sent; else that on each event, because each stream goes
 *  through its events by itself. */
export class LiveSources {
  readonly #services: Services
  readonly #fanOut = new FanOut()
  readonly #turns = new FairTurns()
  readonly #executed = new WeakMap<object, Map<string, Promise<Executed>>>()
  readonly #shared = new Map<string, Promise<Opened>>()

  constructor(services: Services) {
    this.#services = services
  }

  /** Opens the source of a subscription, after the event that its client has received last. */
  open(subscription: Subscription, lastEventId: string | undefined): Promise<Opened> {
    const { operation, authenticated } = subscription
    const open = () => {
      const ctx = { ...contextOf(this.#services, authenticated), lastEventId }
      return openSource(operation, ctx)
    }
    const { document, operationName, variables } = operation
    const asked = [document.loc?.source.body, operationName, variables, authenticated.caller]
    const key = sha256(JSON.stringify(asked))
    if (!isShared(operation))
      return open().then((source) => ('refused' in source ? source : this.#own(source, subscription, key)))
    const found = this.#shared.get(key)
    if (found) return found
    const forget = () => {
      if (this.#shared.get(key) === opened) this.#shared.delete(key)
    }
    const opened = open().then((source) =>
      'refused' in source ? source : this.#audience(source, subscription, forget),
    )
    this.#shared.set(key, opened)
    // A refusal is not kept.
    opened.then((result) => 'refused' in result && forget(), forget)
    return opened
  }

  #audience(
    { events, live }: OpenSource,
    { operation, origin, authenticated }: Subscription,
    forget: () => void,
  ): Opened {
    const audience = new Audience()
    const run = async () => {
      for (;;) {
        const { done, value } = await events.next()
        if (done) return
        const ctx = contextOf(this.#services, authenticated)
        const bytes = await toEvent(operation, { event: value, id: undefined }, ctx, origin)
        audience.set(live.latestBy?.(value) ?? '', bytes)
        this.#fanOut.publish(audience)
      }
    }
    lastEvents(run, origin).then((last) => {
      forget()
      for (const stream of audience.streams) stream.end(last)
    })
    const drop = () => {
      if (audience.streams.size > 0) return
      forget()
      void events.return?.()
    }
    return {
      drop,
      join: ({ stream }) => {
        audience.streams.add(stream)
        this.#fanOut.deliver(stream, audience)
        return () => {
          audience.streams.delete(stream)
          drop()
        }
      },
    }
  }

  #own({ events, live }: OpenSource, { operation, origin, ...opening }: Subscription, key: string): Opened {
    const owner = JSON.stringify(opening.authenticated.caller)
    const drop = () => void events.return?.()
    return {
      drop,
      join: ({ stream, authenticated }) => {
        let hasLeft = false
        const run = async () => {
          for (;;) {
            await this.#fanOut.whenWritable(stream)
            const { done, value } = await events.next()
            if (done || hasLeft) return
            const execute = async () => {
              const id = live.eventIdOf?.(value)
              const ctx = contextOf(this.#services, authenticated())
              return { id, bytes: await toEvent(operation, { event: value, id }, ctx, origin) }
            }
            await this.#turns.run(owner, async () => {
              const { id, bytes } = await this.#once(value, key, execute)
              if (hasLeft) return
              stream.write(bytes)
              stream.lastEventId = id
            })
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

  // Readers of the same feed or log get the same objects.
  #once(event: unknown, key: string, execute: () => Promise<Executed>): Promise<Executed> {
    if (typeof event !== 'object' || event === null) return execute()
    const known = this.#executed.get(event) ?? new Map<string, Promise<Executed>>()
    const executed = known.get(key) ?? execute()
    if (known.size === 0) setTimeout(() => this.#executed.delete(event), keptMs).unref()
    this.#executed.set(event, known.set(key, executed))
    return executed
  }
}

// Without a complete event the client connects again, as it should where the source ended by itself, or the
// database is away.
const lastEvents = (run: () => Promise<void>, origin: Origin): Promise<string> =>
  run().then(
    () => '',
    (error) => (isUnavailable(error) ? '' : finalEvents(failureToJson(error, origin))),
  )
