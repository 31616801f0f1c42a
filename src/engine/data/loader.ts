import DataLoader from 'dataloader'

/** A value, or a promise of it. */
export type PromiseOrValue<Value> = Value | Promise<Value>

/** Applies `use` to a value and `more`: synchronously if the value is known, else once its promise resolves. */
export const whenKnown = <Value, More extends unknown[], Result>(
  value: PromiseOrValue<Value>,
  use: (value: Value, ...more: More) => PromiseOrValue<Result>,
  ...more: More
): PromiseOrValue<Result> =>
  value instanceof Promise ? value.then((value) => use(value, ...more)) : use(value, ...more)

/** Loads values by DataLoader, returns those that are loaded synchronously, and loads a whole level of a query at once:
 *  loaders that ask each other still share statements. */
export class Loader<Value> {
  readonly #known = new Map<string, Value>()
  readonly #loader: DataLoader<string, Value>
  #dispatch = () => {}

  constructor(load: (keys: readonly string[]) => Promise<Value[]>) {
    const loadKnown = async (keys: readonly string[]) => {
      const values = await load(keys)
      for (const [index, key] of keys.entries()) this.#known.set(key, values[index] as Value)
      return values
    }
    const batchScheduleFn = (dispatch: () => void) => {
      // DataLoader does not guard against a second dispatch.
      let isDue = true
      const once = () => {
        if (isDue) dispatch()
        isDue = false
      }
      this.#dispatch = once
      // When DataLoader would dispatch: after the promises that are settled now.
      void Promise.resolve().then(() => process.nextTick(once))
    }
    this.#loader = new DataLoader(loadKnown, { batchScheduleFn })
  }

  /** Returns the value of a key if it is loaded, else a promise of it. */
  get(key: string): PromiseOrValue<Value> {
    const known = this.#known.get(key)
    return known === undefined ? this.#loader.load(key) : known
  }

  load(key: string): Promise<Value> {
    return Promise.resolve(this.get(key))
  }

  /** Sets the value of a key, unless it is loaded. */
  prime(key: string, value: Value): void {
    if (!this.#known.has(key)) this.#known.set(key, value)
  }

  /** Loads the values of keys, in the same order. Reads those not yet loaded or loading in one statement. */
  async loadAll(keys: readonly string[]): Promise<Value[]> {
    const values = keys.map((key) => this.get(key))
    if (!values.some((value) => value instanceof Promise)) return values as Value[]
    this.#dispatch()
    return Promise.all(values)
  }
}
