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

/** Creates one value per owner, on first use, and keeps it as long as the owner is in use. */
export function perOwner<Owner extends object, Value>(
  create: (owner: Owner) => Value,
): (owner: Owner) => Value {
  const created = new WeakMap<Owner, Value>()
  return (owner) => {
    if (!created.has(owner)) created.set(owner, create(owner))
    return created.get(owner) as Value
  }
}
