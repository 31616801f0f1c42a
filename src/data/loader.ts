import DataLoader from 'dataloader'

/** A value, or a promise of it. */
export type PromiseOrValue<Value> = Value | Promise<Value>

/** Applies `use` to a value: synchronously if the value is known, else once its promise resolves. */
export const whenKnown = <Value, Result>(
  value: PromiseOrValue<Value>,
  use: (value: Value) => PromiseOrValue<Result>,
): PromiseOrValue<Result> => (value instanceof Promise ? value.then(use) : use(value))

/** Cache entry of a key. `value` is set once `loading` has resolved. */
type Entry<Value> = { value?: Value; loading: Promise<unknown> }

const loaded = Promise.resolve()

type Entries<Value> = Map<string, Entry<Value>>

/** Adds keys whose values are loaded together, in the same order. */
function addLoading<Value>(
  entries: Entries<Value>,
  keys: readonly string[],
  values: Promise<readonly Value[]>,
): void {
  const added: Entry<Value>[] = []
  const loading = values.then((values) => {
    for (const [index, entry] of added.entries()) entry.value = values[index]
  })
  for (const key of keys) {
    const entry = { loading }
    added.push(entry)
    entries.set(key, entry)
  }
  // A failed load is not cached: the next request for the key tries again.
  loading.catch(() => {
    for (const [index, key] of keys.entries()) if (entries.get(key) === added[index]) entries.delete(key)
  })
}

// The cache map of a DataLoader, which normally holds promises. This one holds values, and creates a promise
// only on request.
const cacheMapOf = <Value>(entries: Entries<Value>) => ({
  get(key: string): Promise<Value> | undefined {
    const entry = entries.get(key)
    return entry?.loading.then(() => entry.value as Value)
  },
  set(key: string, value: Promise<Value>) {
    const values = value.then((value) => [value])
    addLoading(entries, [key], values)
  },
  delete: (key: string) => entries.delete(key),
  clear: () => entries.clear(),
})

/** A DataLoader that returns loaded values synchronously, and loads a whole level of a query without one
 *  promise per key: a page has thousands of children. */
export class Loader<Value> extends DataLoader<string, Value> {
  readonly #entries: Entries<Value>
  readonly #load: (keys: readonly string[]) => Promise<Value[]>

  constructor(load: (keys: readonly string[]) => Promise<Value[]>) {
    const entries: Entries<Value> = new Map()
    super(load, { cacheMap: cacheMapOf(entries) })
    this.#entries = entries
    this.#load = load
  }

  /** Returns the value of a key if it is loaded, else a promise of it. */
  get(key: string): PromiseOrValue<Value> {
    const known = this.#entries.get(key)?.value
    return known === undefined ? this.load(key) : known
  }

  /** Sets the value of a key, unless it is loaded or loading. */
  override prime(key: string, value: Value): this {
    if (!this.#entries.has(key)) this.#entries.set(key, { value, loading: loaded })
    return this
  }

  /** Loads the values of keys, in the same order. Reads those not yet loaded or loading in one statement. */
  async loadAll(keys: readonly string[]): Promise<Value[]> {
    const missing = new Set<string>()
    for (const key of keys) if (!this.#entries.has(key)) missing.add(key)
    const keysToLoad = [...missing]
    if (missing.size > 0) addLoading(this.#entries, keysToLoad, this.#load(keysToLoad))
    const entries: Entry<Value>[] = []
    const loading = new Set<Promise<unknown>>()
    for (const key of keys) {
      const entry = this.#entries.get(key)
      if (!entry) continue
      entries.push(entry)
      loading.add(entry.loading)
    }
    for (const batch of loading) await batch
    return entries.map(({ value }) => value as Value)
  }
}
