import type { InjectOptions } from 'fastify'
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import type { Needs } from '../../../src/request/context.ts'
import type { Route } from '../openapi/document.ts'
import type { Sale } from '../sale.ts'
import type { JsonSchema } from './from-json-schema.ts'

/** A place of a request that takes a text of a client, and the request with a text there; null where HTTP can't carry
 *  the text. */
export type TextPlace = {
  name: string
  /** True of a place before the body, where Node takes no long text. */
  isShort?: boolean
  send(text: string): InjectOptions | null
}

type Headers = Record<string, string>
type Values = Record<string, unknown>
/** A value with a hole: what it is with a text in the hole. */
type Hole = { at: string; fill(text: string): unknown }

// The least value of a type: nothing that a client may leave out.
function leastOf(type: GraphQLInputType): unknown {
  if (!isNonNullType(type)) return undefined
  const inner = type.ofType
  if (isListType(inner)) return [leastOf(inner.ofType)]
  if (isEnumType(inner)) return inner.getValues()[0]?.name
  if (isInputObjectType(inner)) {
    const given = Object.values(inner.getFields()).map(({ name, type }) => [name, leastOf(type)])
    return Object.fromEntries(given)
  }
  return { Int: 1, Float: 1, Boolean: true, JSON: {}, DateTime: '2026-01-01T00:00:00Z' }[inner.name] ?? '1'
}

function holesIn(type: GraphQLInputType, above: string[] = []): Hole[] {
  const inner = getNullableType(type)
  if (isListType(inner))
    return holesIn(inner.ofType, above).map(({ at, fill }) => ({
      at: `[]${at}`,
      fill: (text) => [fill(text)],
    }))
  if (isInputObjectType(inner)) {
    if (above.includes(inner.name)) return []
    const fields = Object.values(inner.getFields())
    const least = inner.isOneOf
      ? {}
      : Object.fromEntries(fields.map(({ name, type }) => [name, leastOf(type)]))
    return fields.flatMap(({ name, type }) =>
      holesIn(type, [...above, inner.name]).map(({ at, fill }) => ({
        at: `.${name}${at}`,
        fill: (text) => ({ ...least, [name]: fill(text) }),
      })),
    )
  }
  const whole = { at: '', fill: (text: string) => text }
  return inner.name === 'JSON' ? [{ at: '{}', fill: (text) => ({ a: text }) }] : [whole]
}

/** How a field below the root is reached: the operation around it. */
export type Above = Record<string, (field: string) => string>

const callerOf = ({ extensions }: GraphQLField<unknown, unknown>, sale: Sale): Headers => {
  const { caller } = (extensions.needs ?? { caller: 'integration' }) as Needs
  return caller === 'integration' ? sale.integration.v2 : sale.channel
}

/** Lists the places of all arguments of a schema. Throws if a field below the root takes arguments that `above` does not
 *  lead to. */
export function placesOfSchema(schema: GraphQLSchema, above: Above, sale: Sale): TextPlace[] {
  const roots = new Map([
    [schema.getQueryType(), 'query'],
    [schema.getMutationType(), 'mutation'],
    [schema.getSubscriptionType(), 'subscription'],
  ])
  return Object.values(schema.getTypeMap()).flatMap((type) => {
    if (!isObjectType(type) || type.name.startsWith('__')) return []
    return Object.values(type.getFields()).flatMap((field) => {
      if (field.args.length === 0) return []
      const kind = roots.get(type)
      const around = above[type.name]
      if (!kind && !around) throw new Error(`add how to reach ${type.name}.${field.name}`)
      const below = isLeafType(getNamedType(field.type)) ? '' : ' { __typename }'
      const selected = `${field.name}(${field.args.map(({ name }) => `${name}: $${name}`).join(', ')})${below}`
      const declared = field.args.map(({ name, type }) => `$${name}: ${type}`).join(', ')
      const query = kind ? `{ ${selected} }` : (around?.(selected) ?? '')
      const least = Object.fromEntries(
        field.args.map(({ name, type, defaultValue }) => [
          name,
          defaultValue === undefined ? leastOf(type) : undefined,
        ]),
      )
      const send = (arg: GraphQLArgument, fill: Hole['fill']) => (text: string) => ({
        method: 'POST' as const,
        url: '/graphql',
        headers: {
          accept: kind === 'subscription' ? 'text/event-stream' : 'application/json',
          ...callerOf(field, sale),
        },
        payload: {
          query: `${kind ?? 'query'} (${declared}) ${query}`,
          variables: { ...least, [arg.name]: fill(text) },
        },
      })
      return field.args.flatMap((arg) =>
        holesIn(arg.type).map(({ at, fill }) => ({
          name: `${type.name}.${field.name}(${arg.name}${at})`,
          send: send(arg, fill),
        })),
      )
    })
  })
}

function leastJson({ type, anyOf, enum: values, properties, required = [], items }: JsonSchema): unknown {
  if (values) return values[0]
  if (anyOf) return leastJson(anyOf[0] ?? {})
  const [only] = [type].flat()
  if (properties) return Object.fromEntries(required.map((name) => [name, leastJson(properties[name] ?? {})]))
  if (items) return [leastJson(items)]
  return { integer: 1, number: 1, boolean: true, object: {} }[only ?? ''] ?? '1'
}

function holesInJson(schema: JsonSchema): Hole[] {
  const { anyOf, properties, items, type } = schema
  if (anyOf) return anyOf.flatMap(holesInJson)
  if (items)
    return holesInJson(items).map(({ at, fill }) => ({ at: `[]${at}`, fill: (text) => [fill(text)] }))
  if (properties)
    return Object.entries(properties).flatMap(([name, inner]) =>
      holesInJson(inner).map(({ at, fill }) => ({
        at: `.${name}${at}`,
        fill: (text) => ({ ...(leastJson(schema) as Values), [name]: fill(text) }),
      })),
    )
  return [type].flat().includes('object')
    ? [{ at: '{}', fill: (text) => ({ a: text }) }]
    : [{ at: '', fill: (text) => text }]
}

// As much as Node takes of a request before its body.
const maxHeadCharacters = 15_000

/** A text in a URL, as much of it as Node takes. */
export const encoded = (text: string) =>
  encodeURIComponent(text.slice(0, maxHeadCharacters / 3).toWellFormed())
    .slice(0, maxHeadCharacters)
    .replace(/%.?$/, '')
const isHeader = (text: string) => /^[\x20-\x7e\xa0-\xff]*$/.test(text)

/** Makes a place of a header of a request. */
export const headerPlace = (name: string, request: InjectOptions): TextPlace => ({
  name: `${request.method} ${request.url} with ${name}`,
  isShort: true,
  send: (text) =>
    isHeader(text)
      ? { ...request, headers: { ...request.headers, [name]: text.slice(0, maxHeadCharacters) } }
      : null,
})

/** Lists the places of the path, the query, the headers and the body of a documented route. */
export function placesOfRoute({ method, path, operation }: Route, sale: Sale): TextPlace[] {
  const headers = path.includes('/integrations/') ? sale.integration.v2 : sale.channel
  const { parameters = [], requestBody } = operation
  const schema = requestBody?.content['application/json']?.schema
  const payload = schema && (leastJson(schema) as Values)
  const url = path.replace(/\{\w+\}/g, 'x')
  const request = { method: method as 'GET', url, headers, payload }
  const route = `${method} ${path}`
  const inParameters = parameters.map((parameter): TextPlace => {
    if (parameter.in === 'header') return headerPlace(parameter.name, request)
    const withText = (text: string) =>
      parameter.in === 'query'
        ? `${url}?${parameter.name}=${encoded(text)}`
        : path.replace(`{${parameter.name}}`, encoded(text)).replace(/\{\w+\}/g, 'x')
    return {
      name: `${route} ${parameter.in} ${parameter.name}`,
      isShort: true,
      send: (text) => ({ ...request, url: withText(text) }),
    }
  })
  const inBody = (schema ? holesInJson(schema) : []).map(
    ({ at, fill }): TextPlace => ({
      name: `${route} body${at}`,
      send: (text) => ({ ...request, payload: fill(text) as Values }),
    }),
  )
  return [...inParameters, ...inBody]
}
