// Breaking changes between two OpenAPI documents, as a client of the first sees the second.

type Json = { [name: string]: unknown }
type Schema = Json & {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}
type Content = { content?: Record<string, { schema?: Schema }>; required?: boolean; $ref?: string }
type Parameter = { name: string; in: string; required?: boolean; schema?: Schema; $ref?: string }
type Operation = { parameters?: Parameter[]; requestBody?: Content; responses?: Record<string, Content> }
export type Openapi = Json & { paths?: Record<string, Record<string, unknown>> }

/** Direction of a value: a client writes it in a request, the service in a response. */
type Direction = 'request' | 'response'

const methods = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options']

function resolved<T extends { $ref?: string }>(document: Openapi, value: T): T {
  if (!value.$ref) return value
  const parts = value.$ref.replace(/^#\//, '').split('/')
  const found = parts.reduce<unknown>(
    (at, part) => (at as Json | undefined)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  )
  if (!found) throw new Error(`${value.$ref} leads nowhere`)
  return resolved(document, found as T)
}

function variantsOf(document: Openapi, given: Schema): Schema[] {
  const schema = resolved(document, given)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return choices.flatMap((choice) => variantsOf(document, choice))
  if (!schema.allOf) return [schema]
  const parts = schema.allOf.flatMap((part) => variantsOf(document, part))
  const properties = Object.assign({}, schema.properties, ...parts.map((part) => part.properties))
  const required = [...(schema.required ?? []), ...parts.flatMap((part) => part.required ?? [])]
  return [Object.assign({}, ...parts, schema, { allOf: undefined, properties, required })]
}

const jsonType = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

// Null stands for any type.
function typesOf(variants: Schema[]): Set<string> | null {
  const types = new Set<string>()
  for (const { type, enum: values, const: only, properties, items } of variants) {
    if (type) for (const name of [type].flat()) types.add(name)
    else if (values) for (const value of values) types.add(jsonType(value))
    else if (only !== undefined) types.add(jsonType(only))
    else if (properties && Object.keys(properties).length > 0) types.add('object')
    else if (items) types.add('array')
    else return null
  }
  // A whole number is a number.
  if (types.has('number')) types.add('integer')
  return types
}

// Null stands for any value.
function valuesOf(variants: Schema[]): Set<unknown> | null {
  const values = new Set<unknown>()
  for (const { type, enum: list, const: only } of variants) {
    if (list) for (const value of list) values.add(value)
    else if (only !== undefined) values.add(only)
    else if (type !== 'null') return null
  }
  return values
}

const missing = <Value>(of: Set<Value> | null, among: Set<Value> | null): Value[] =>
  among === null ? [] : of === null ? [...among].slice(0, 1) : [...of].filter((value) => !among.has(value))

function propertiesOf(variants: Schema[]) {
  const objects = variants.filter(({ properties }) => properties)
  const names = new Set(objects.flatMap(({ properties }) => Object.keys(properties ?? {})))
  return new Map(
    [...names].map((name) => [
      name,
      {
        schema: { anyOf: objects.flatMap(({ properties }) => properties?.[name] ?? []) } as Schema,
        isRequired: objects.every(({ required }) => required?.includes(name)),
      },
    ]),
  )
}

const maxDepth = 12

/** Compares what two OpenAPI documents take and give. Lists each change that breaks a client, in words that
 *  stay the same from run to run. */
export function breakingOpenapiChanges(before: Openapi, after: Openapi): string[] {
  const changes: string[] = []

  function compare(one: Schema, other: Schema, at: string, direction: Direction, depth = 0): void {
    if (depth > maxDepth) return
    const [earlier, later] = [variantsOf(before, one), variantsOf(after, other)]
    const [from, to] = direction === 'request' ? [earlier, later] : [later, earlier]
    const [types, allowed] = [typesOf(from), typesOf(to)]
    const wrong = missing(types, allowed)
    if (wrong.length > 0)
      changes.push(`${at} ${direction === 'request' ? 'refuses' : 'may be'} ${wrong.sort()}`)
    // A new value of a response is what clients have to expect; a value that is no longer taken breaks them.
    if (direction === 'request')
      for (const value of missing(valuesOf(earlier), valuesOf(later)))
        changes.push(`${at} refuses ${JSON.stringify(value)}`)
    const [old, now] = [propertiesOf(earlier), propertiesOf(later)]
    for (const [name, { schema, isRequired }] of old) {
      const found = now.get(name)
      if (!found) changes.push(`${at}.${name} was removed`)
      else {
        if (direction === 'response' && isRequired && !found.isRequired)
          changes.push(`${at}.${name} may be absent`)
        if (direction === 'request' && !isRequired && found.isRequired)
          changes.push(`${at}.${name} became required`)
        compare(schema, found.schema, `${at}.${name}`, direction, depth + 1)
      }
    }
    if (direction === 'request')
      for (const [name, { isRequired }] of now)
        if (isRequired && !old.has(name) && old.size > 0) changes.push(`${at}.${name} became required`)
    const itemsOf = (variants: Schema[]): Schema[] => variants.flatMap(({ items }) => (items ? [items] : []))
    const [items, newItems] = [itemsOf(earlier), itemsOf(later)]
    if (items.length > 0 && newItems.length > 0)
      compare({ anyOf: items }, { anyOf: newItems }, `${at}[]`, direction, depth + 1)
  }

  function compareContent(one: Content, other: Content, at: string, direction: Direction): void {
    const [old, now] = [resolved(before, one).content ?? {}, resolved(after, other).content ?? {}]
    for (const [type, { schema }] of Object.entries(old)) {
      const found = now[type]
      if (!found) changes.push(`${at} is no longer ${type}`)
      else if (schema && found.schema) compare(schema, found.schema, at, direction)
    }
  }

  function compareParameters(one: Operation, other: Operation, at: string): void {
    const named = (document: Openapi, { parameters = [] }: Operation) =>
      new Map(
        parameters.map((given) => {
          const parameter = resolved(document, given)
          return [`${parameter.in} ${parameter.name}`, parameter]
        }),
      )
    const [old, now] = [named(before, one), named(after, other)]
    for (const [name, { schema, required }] of old) {
      const found = now.get(name)
      if (!found) changes.push(`${at} ${name} was removed`)
      else {
        if (found.required && !required) changes.push(`${at} ${name} became required`)
        if (schema && found.schema) compare(schema, found.schema, `${at} ${name}`, 'request')
      }
    }
    for (const [name, { required }] of now)
      if (required && !old.has(name)) changes.push(`${at} ${name} became required`)
  }

  for (const [path, item] of Object.entries(before.paths ?? {}))
    for (const method of methods) {
      const one = item[method] as Operation | undefined
      if (!one) continue
      const at = `${method.toUpperCase()} ${path}`
      const other = after.paths?.[path]?.[method] as Operation | undefined
      if (!other) {
        changes.push(`${at} was removed`)
        continue
      }
      compareParameters(one, other, at)
      if (other.requestBody && resolved(after, other.requestBody).required && !one.requestBody)
        changes.push(`${at} body became required`)
      if (one.requestBody && other.requestBody)
        compareContent(one.requestBody, other.requestBody, `${at} body`, 'request')
      for (const [status, response] of Object.entries(one.responses ?? {})) {
        if (!status.startsWith('2')) continue
        const found = other.responses?.[status]
        if (!found) changes.push(`${at} ${status} was removed`)
        else compareContent(response, found, `${at} ${status}`, 'response')
      }
    }
  return [...new Set(changes)]
}
