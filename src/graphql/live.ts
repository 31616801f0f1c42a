/** Facts of a subscription field that decide how its events are sent: its extension `live`. */
export type Live<Event> = {
  /** Names what an event is the latest state of. Subscribers of the same operation then share its events, and
   *  a state that comes late replaces those before it. Without it each subscriber has a stream of its own, and
   *  gets every event. */
  latestBy?(event: Event): string
  /** Returns the identifier of an event in the stream, which a client sends as `Last-Event-ID` to go on. */
  eventIdOf?(event: Event): string
}

declare global {
  namespace PothosSchemaTypes {
    interface SubscriptionFieldExtensions {
      live?: Live<never>
    }
  }
}
