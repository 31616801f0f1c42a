import { LRUCache } from 'lru-cache'

// Bytes of an entry besides its key and value, so that many small entries count too.
const overhead = 512

/** Segmented LRU cache, bounded by bytes, for keys that anybody may send. A new entry is on trial in a
 *  quarter of the space until an authenticated caller has used it. Anonymous requests can therefore evict
 *  only each other's entries. */
export class TrialCache<Value extends object> {
  readonly #trial: LRUCache<string, Value>
  readonly #protected: LRUCache<string, Value>

  /** `bytesOf` is the size of a value without its key. */
  constructor({ maxBytes, bytesOf }: { maxBytes: number; bytesOf: (value: Value) => number }) {
    const part = (maxSize: number) =>
      new LRUCache<string, Value>({
        maxSize,
        sizeCalculation: (value, text) => bytesOf(value) + 2 * text.length + overhead,
      })
    this.#trial = part(maxBytes / 4)
    this.#protected = part((maxBytes * 3) / 4)
  }

  get(text: string): Value | undefined {
    return this.#protected.get(text) ?? this.#trial.get(text)
  }

  set(text: string, value: Value): void {
    this.#trial.set(text, value)
  }

  /** Moves an entry to the protected segment, or measures its size again if it is there already. */
  keep(text: string): void {
    const value = this.get(text)
    if (!value) return
    this.#trial.delete(text)
    this.#protected.delete(text)
    this.#protected.set(text, value)
  }
}
