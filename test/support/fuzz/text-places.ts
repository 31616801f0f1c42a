import type { InjectOptions } from 'fastify'
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLObjectType,
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
import type { Needs } from '../../../src/domain/caller/context.ts'
import type { Route } from '../openapi/document.ts'
import type { Sale } from '../sale.ts'
import type { JsonSchema } from './from-json-schema.ts'
import { literal } from './graphql-operation.ts'

/** A place of a request that takes a text of a client, and the request with a text there; null where HTTP can't carry
 *  the text. */
export type TextPlace = {
  name: string
  /** True of a place before the body, where Node takes no long text. */
  isShort?: boolean
  send(text: string): InjectOptions | null
}

/** A place of the arguments of a GraphQL field, with the name of its scalar or enum: the operation with a value there, in
 *  its variables or in its document. */
export type ArgumentPlace = {
  name: string
  type: string
  send(value: unknown): InjectOptions
  sendLiteral(value: unknown): InjectOptions
}

type Headers = Record<string, string>
type Values = Record<string, unknown>
/** A value with a hole, and what it is with something in the hole. */
type Hole = { at: string; type: string; fill(value: unknown): unknown }

const valid: Values = {
  ...{ Int: 1, Float: 1, Boolean: true, JSON: {}, CurrencyCode: 'EUR' },
  ...{ Date: '1990-01-02', DateTime: '2026-01-01T00:00:00Z' },
}

// The least value of a type that is accepted: nothing that a client may leave out.
function leastOf(type: GraphQLInputType, isNeeded = isNonNullType(type)): unknown {
  if (!isNeeded) return undefined
  const inner = getNullableType(type)
  if (isListType(inner)) return [leastOf(inner.ofType)]
  if (isEnumType(inner)) return inner.getValues()[0]?.name
  return isInputObjectType(inner) ? leastObject(inner) : (valid[inner.name] ?? '1')
}

const leastObject = (type: GraphQLInputObjectType): Values =>
  Object.fromEntries(
    Object.values(type.getFields())
      .filter((field, index) => (type.isOneOf ? index === 0 : isNonNullType(field.type)))
      .map((field) => [field.name, leastOf(field.type, true)]),
  )

function holesIn(type: GraphQLInputType, above: string[] = []): Hole[] {
  const inner = getNullableType(type)
  if (isListType(inner))
    return holesIn(inner.ofType, above).map((hole) => ({
      ...hole,
      at: `[]${hole.at}`,
      fill: (value) => [hole.fill(value)],
    }))
  if (!isInputObjectType(inner)) return [{ at: '', type: inner.name, fill: (value) => value }]
  if (above.includes(inner.name)) return []
  const least = inner.isOneOf ? {} : leastObject(inner)
  return Object.values(inner.getFields()).flatMap(({ name, type }) =>
    holesIn(type, [...above, inner.name]).map((hole) => ({
      ...hole,
      at: `.${name}${hole.at}`,
      fill: (value) => ({ ...least, [name]: hole.fill(value) }),
    })),
  )
}

// Operations around the fields below the root that take arguments, for a catalogue with these rows.
const aroundFieldsOf: Record<string, (field: string) => string> = {
  Organization: (field) => `{ organization(by: { id: "org_1" }) { ${field} } }`,
  Event: (field) => `{ event(by: { id: "event_1" }) { ${field} } }`,
  Ticket: (field) => `{ ticket(id: "tkt_1") { ${field} } }`,
  Webhook: (field) => `{ webhooks { ${field} } }`,
}

const callerOf = ({ extensions }: GraphQLField<unknown, unknown>, sale: Sale): Headers => {
  const { caller } = (extensions.needs ?? { caller: 'integration' }) as Needs
  return caller === 'integration' ? sale.integration.v2 : sale.channel
}

/** Lists the places of all arguments of a schema. Throws if a field below the root takes some that no operation
 *  above leads to. */
export function argumentPlaces(schema: GraphQLSchema, sale: Sale): ArgumentPlace[] {
  const roots = new Map([
    [schema.getQueryType(), 'query'],
    [schema.getMutationType(), 'mutation'],
    [schema.getSubscriptionType(), 'subscription'],
  ])
  const placesOf = (type: GraphQLObjectType, field: GraphQLField<unknown, unknown>) => {
    if (field.args.length === 0) return []
    const kind = roots.get(type)
    const around = kind ? (selected: string) => `{ ${selected} }` : aroundFieldsOf[type.name]
    if (!around) throw new Error(`add how to reach ${type.name}.${field.name}`)
    const accept = kind === 'subscription' ? 'text/event-stream' : 'application/graphql-response+json'
    const below = isLeafType(getNamedType(field.type)) ? '' : ' { __typename }'
    const least = Object.fromEntries(
      field.args.map(({ name, type, defaultValue }) => [
        name,
        defaultValue === undefined ? leastOf(type) : undefined,
      ]),
    )
    // A request with these values of arguments, each written in this way.
    const ask = (
      values: Values,
      written: (arg: GraphQLArgument) => string,
      declared = '',
      variables: Values = {},
    ) => {
      const args = field.args.filter(({ name }) => values[name] !== undefined)
      const named = args.map((arg) => `${arg.name}: ${written(arg)}`).join(', ')
      const query = `${kind ?? 'query'} ${declared} ${around(`${field.name}(${named})${below}`)}`
      const headers = { accept, ...callerOf(field, sale) }
      return { method: 'POST' as const, url: '/graphql', headers, payload: { query, variables } }
    }
    return field.args.flatMap((place) =>
      holesIn(place.type).map((hole): ArgumentPlace => {
        const withValue = (value: unknown): Values => ({ ...least, [place.name]: hole.fill(value) })
        return {
          name: `${type.name}.${field.name}(${place.name}${hole.at})`,
          type: hole.type,
          send(value) {
            const values = withValue(value)
            const args = field.args.filter(({ name }) => values[name] !== undefined)
            const declared = args.map(({ name, type }) => `$${name}: ${type}`).join(', ')
            return ask(values, ({ name }) => `$${name}`, `(${declared})`, values)
          },
          sendLiteral(value) {
            const values = withValue(value)
            return ask(values, ({ name, type }) => literal(values[name], type))
          },
        }
      }),
    )
  }
  return Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) && !type.name.startsWith('__')
      ? Object.values(type.getFields()).flatMap((field) => placesOf(type, field))
      : [],
  )
}

/** Lists those places as places of texts. */
export const textPlacesOf = (places: ArgumentPlace[]): TextPlace[] =>
  places.map(({ name, type, send }) => ({ name, send: (text) => send(type === 'JSON' ? { a: text } : text) }))

function leastJson({ type, anyOf, enum: values, properties, required = [], items }: JsonSchema): unknown {
  if (values) return values[0]
  if (anyOf) return leastJson(anyOf[0] ?? {})
  const [only] = [type].flat()
  if (properties) return Object.fromEntries(required.map((name) => [name, leastJson(properties[name] ?? {})]))
  if (items) return [leastJson(items)]
  return { integer: 1, number: 1, boolean: true, object: {} }[only ?? ''] ?? '1'
}

function holesInJson(schema: JsonSchema): Omit<Hole, 'type'>[] {
  const { anyOf, properties, items, type } = schema
  if (anyOf) return anyOf.flatMap(holesInJson)
  if (items)
    return holesInJson(items).map(({ at, fill }) => ({ at: `[]${at}`, fill: (value) => [fill(value)] }))
  if (properties)
    return Object.entries(properties).flatMap(([name, inner]) =>
      holesInJson(inner).map(({ at, fill }) => ({
        at: `.${name}${at}`,
        fill: (value: unknown) => ({ ...(leastJson(schema) as Values), [name]: fill(value) }),
      })),
    )
  return [type].flat().includes('object')
    ? [{ at: '{}', fill: (value: unknown) => ({ a: value }) }]
    : [{ at: '', fill: (value: unknown) => value }]
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
