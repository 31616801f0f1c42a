import { LRUCache } from 'lru-cache'

/** How many bytes a cache may hold, and how many an entry has beside its text. */
type Bounds<Value> = { maxBytes: number; bytesOf: (value: Value) => number }

// What an entry costs whatever it holds: else very many small ones would be very much.
const overhead = 512

/** A cache by texts that anybody may send, bounded by bytes. What is set is on trial, in a quarter of it, until it turns
 *  out to be of use to somebody who may be here: only then it is kept. So strangers push out what strangers sent. */
export class TrialCache<Value extends object> {
  readonly #trial: LRUCache<string, Value>
  readonly #kept: LRUCache<string, Value>

  constructor({ maxBytes, bytesOf }: Bounds<Value>) {
    const part = (maxSize: number) =>
      new LRUCache<string, Value>({
        maxSize,
        sizeCalculation: (value, text) => bytesOf(value) + 2 * text.length + overhead,
      })
    this.#trial = part(maxBytes / 4)
    this.#kept = part((maxBytes * 3) / 4)
  }

  get(text: string): Value | undefined {
    return this.#kept.get(text) ?? this.#trial.get(text)
  }

  set(text: string, value: Value): void {
    this.#trial.set(text, value)
  }

  /** Ends the trial of a value, and weighs it again. */
  keep(text: string): void {
    const value = this.get(text)
    if (!value) return
    this.#trial.delete(text)
    this.#kept.delete(text)
    this.#kept.set(text, value)
  }
}
