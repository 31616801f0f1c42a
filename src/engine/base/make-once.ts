/** Makes a value on the first call, for all callers. A failure does not last: the next call makes it again. */
export function makeOnce<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}

/** Creates one value per object, on first use, and keeps it as long as the object is in use. */
export function perInstance<Instance extends object, Value>(
  create: (instance: Instance) => Value,
): (instance: Instance) => Value {
  const created = new WeakMap<Instance, Value>()
  return (instance) => {
    if (!created.has(instance)) created.set(instance, create(instance))
    return created.get(instance) as Value
  }
}
