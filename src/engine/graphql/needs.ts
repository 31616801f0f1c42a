import type { Needs } from '../base/caller.ts'
import type { CreateContextWith } from '../request/context.ts'

/** Facts of a subscription that decide how its events are sent. */
export type Streaming<Event> = {
  /** Names what an event is the latest state of. Subscribers of the same operation then share its events, and
   *  a state that comes late replaces those before it. Without it each subscriber has a stream of its own, and
   *  gets every event. */
  latestBy?(event: Event): string
  /** Returns the identifier of an event in the stream, which a client sends as `Last-Event-ID` to go on. */
  eventIdOf?(event: Event): string
}

/** Needs of a root field: its extension `needs`, which the server enforces. */
export type FieldNeeds = Needs & {
  stream?: Streaming<never>
  /** Row to read together with the caller's key, where the field is alone in its operation: what reads it, and where
   *  the arguments have its identifier. They are not validated yet, so it is a guess. */
  prefetch?: { context: CreateContextWith; idAt: [argument: string, ...fields: (string | number)[]] }
}
