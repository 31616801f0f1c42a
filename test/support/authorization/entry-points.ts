import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql'
import type { JsonSchema } from '../fuzz/from-json-schema.ts'
import type { Document } from '../openapi/document.ts'

// Every place where a client names an object or is led to one, under its name in the matrix.

// A QR code identifies a ticket like its ID does, a code a discount, and a slug an organization or, with one, an event.
// A referral is a name of the client's own.
const codes = ['qrCode', 'discountCode', 'slug']
// A cursor names the object that it stands on.
const cursors = ['after', 'before']
type IdPath = { path: string; isRequired: boolean }

function idPathsOf(
  given: GraphQLArgument | GraphQLInputField,
  isRequired: boolean,
  above: string[] = [],
): IdPath[] {
  const type = getNamedType(given.type)
  const path = [...above, given.name]
  if (type.name === 'ID' || codes.includes(given.name) || cursors.includes(given.name))
    return [{ path: path.join('.'), isRequired }]
  if (!isInputObjectType(type)) return []
  const paths = Object.values(type.getFields()).map((field) =>
    idPathsOf(field, isRequired && (type.isOneOf || isRequiredInputField(field)), path),
  )
  // One of its fields alone is given, which may be another.
  const isOptional = type.isOneOf && paths.some(({ length }) => length === 0)
  return paths.flat().map((found) => ({ ...found, isRequired: found.isRequired && !isOptional }))
}

function entriesOfField(root: string, field: GraphQLField<unknown, unknown>, schema: GraphQLSchema) {
  const type = getNamedType(field.type)
  const ids = field.args
    .filter(({ name }) => type.name.endsWith('Connection') || !cursors.includes(name))
    .flatMap((arg) => idPathsOf(arg, isRequiredArgument(arg)))
  const at = `${root}.${field.name}`
  const kinds = isInterfaceType(type) ? schema.getPossibleTypes(type).map(({ name }) => ` ${name}`) : ['']
  const entries = ids.flatMap(({ path }) => kinds.map((kind) => `${at}(${path})${kind}`))
  return ids.some(({ isRequired }) => isRequired) ? entries : [at, ...entries]
}

/** Each root field that needs no identifier, by name; each identifier that a root field takes, by path:
 *  `Mutation.checkout(input.tickets.priceId)`. A field of an interface is listed once for each of its types.
 *  */
export const graphqlEntryPoints = (schema: GraphQLSchema): string[] =>
  [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((root) =>
    Object.values(root?.getFields() ?? {}).flatMap((field) =>
      entriesOfField(root?.name ?? '', field, schema),
    ),
  )

/** Each field from one object type to another: `Ticket.event`. */
export function edgesOf(schema: GraphQLSchema): string[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  return Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__') && !roots.includes(type))
    .flatMap((type) =>
      isObjectType(type)
        ? Object.values(type.getFields())
            .filter((field) => isCompositeType(getNamedType(field.type)))
            .map((field) => `${type.name}.${field.name}`)
        : [],
    )
}

/** Records the routes of each application that is created while `work` runs; `also` may add routes to it. */
export async function watchRoutes<T>(
  work: () => Promise<T>,
  also: (app: FastifyInstance) => void = () => {},
): Promise<{ result: T; routes: string[] }> {
  const routes: string[] = []
  let apps = 0
  const onApp = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    // The documentation page is an application of its own, whose files the gateway serves below `/docs`.
    const isInner = apps++ > 0
    fastify.addHook('onRoute', ({ method, url }: RouteOptions) => {
      if (isInner && /^\/docs(\/|$)/.test(url)) return
      for (const verb of [method].flat()) routes.push(`${verb} ${url}`)
    })
    also(fastify)
  }
  subscribe('fastify.initialization', onApp)
  try {
    return { result: await work(), routes: [...new Set(routes)] }
  } finally {
    unsubscribe('fastify.initialization', onApp)
  }
}

const namesId = (name: string) => name !== 'referral_id' && /(^|_)id$|Id$|^(qr|discount)_code$/.test(name)

function idFieldsIn({ properties = {}, items, anyOf = [] }: JsonSchema, above: string[] = []): string[] {
  const below = Object.entries(properties).flatMap(([name, field]) => [
    ...(namesId(name) ? [[...above, name].join('.')] : []),
    ...idFieldsIn(field, [...above, name]),
  ])
  return [...below, ...[...anyOf, ...(items ? [items] : [])].flatMap((schema) => idFieldsIn(schema, above))]
}

/** Each documented operation and each identifier that it takes: `GET /events organization_id`. */
export const openApiEntryPoints = ({ paths }: Document): string[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [], requestBody }]) => {
      const at = `${method.toUpperCase()} ${path}`
      const ids = parameters.map(({ name }) => name).filter(namesId)
      const inBody = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => idFieldsIn(schema))
      return [at, ...[...ids, ...inBody].map((name) => `${at} ${name}`)]
    }),
  )
