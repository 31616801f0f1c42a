import type { SchemaTypes } from '@pothos/core'
import {
  defaultFieldResolver,
  type GraphQLSchema,
  getNullableType,
  isInterfaceType,
  isObjectType,
  OperationTypeNode,
} from 'graphql'
import type { Loader } from '../../engine/data/loader.ts'
import type { FieldNeeds } from '../../engine/graphql/needs.ts'
import type { LoaderDefinition } from '../../engine/request/loaders.ts'
import type { IntegrationScope } from './api-key.ts'
import { type Context, hasScope, kindsOf, reaches, requireNeeds } from './context.ts'

/** Needs of a type: its extension `needs`. Fields but those of `except` are nullable, and null for integrations whose
 *  key has none of the scopes, whichever edge leads to the object. */
export type TypeNeeds = { oneOf: IntegrationScope[]; except: ReadonlySet<string> }

type Row = { id: string } | null

/** How `node` finds objects of a type: its extension `node`. */
export type NodeLookup = {
  /** Prefix of the identifiers, if the service alone makes them. Imported ones have any shape. */
  prefix?: string
  scope: IntegrationScope
  /** Loader of the objects, which are null where there is none that the caller may see; or what finds them. */
  load?: LoaderDefinition<Loader<Row>>
  /** Organization of a row that its loader finds for any caller. */
  organizationOf?(row: never): string
  find?(ids: string[], ctx: Context): Promise<Row[]>
}

declare global {
  namespace PothosSchemaTypes {
    interface ObjectTypeOptions<Types extends SchemaTypes = SchemaTypes, Shape = unknown> {
      extensions?: { node?: NodeLookup; needs?: TypeNeeds }
    }
  }
}

type Lookup = NodeLookup & { typename: string }

/** Lists how `node` finds objects, for each of its types. */
export function lookupsIn(schema: GraphQLSchema): Lookup[] {
  const node = schema.getType('Node')
  const types = isInterfaceType(node) ? schema.getPossibleTypes(node) : []
  return types.map(({ name, extensions }) => ({ typename: name, ...(extensions.node as NodeLookup) }))
}

/** Number of lookups that one identifier may cost: those of imported objects, whose identifiers have any shape, and one
 *  by its prefix. */
export const costOf = (lookups: readonly Lookup[]): number =>
  lookups.filter(({ prefix }) => prefix === undefined).length + 1

type Node = { id: string; __typename: string }

/** Finds objects of any type by their identifiers, in the order of these; null for one that does not exist or
 *  that the caller may not see. If imported objects have the same identifier, it finds the one whose type
 *  comes first by name. The number of statements does not depend on the number of identifiers. */
export async function findNodes(ids: readonly string[], lookups: readonly Lookup[], ctx: Context) {
  const nodes = new Map<string, Node>()
  const found = await Promise.all(
    lookups.map(async ({ typename, prefix, scope, load, find, organizationOf }) => {
      const asked = ids.filter((id) => prefix === undefined || id.startsWith(`${prefix}_`))
      if (asked.length === 0 || !hasScope(ctx, scope)) return []
      // One by one, so that the loaders of all types share a statement.
      const loaded = load && Promise.all(asked.map((id) => ctx.loaders.load(load, id)))
      const rows = (await (loaded ?? find?.(asked, ctx))) ?? []
      const isHidden = (row: object) => organizationOf && !reaches(ctx, organizationOf(row as never))
      return rows.map((row) => (row && !isHidden(row) ? { ...row, __typename: typename } : null))
    }),
  )
  for (const node of found.flat()) if (node && !nodes.has(node.id)) nodes.set(node.id, node)
  return ids.map((id) => nodes.get(id) ?? null)
}

const plurals = { channel: 'channels', publishable: 'publishable keys', integration: 'integrations' }

/** Names those who may call a field, with the scope that integrations need. */
function describeCallers({ caller, scope }: FieldNeeds): string {
  const named = scope === 'none' ? '' : ` with \`${scope.replace(':', '_').toUpperCase()}\``
  const callers = kindsOf[caller].map((kind) => plurals[kind]).join(', ')
  return `Callers: ${callers.replace('integrations', `integrations${named}`)}.`
}

/** Makes each root field refuse callers that it is not for, before it does anything, and says at the end of its
 *  description whom it is for. */
export function requireAtRoots(schema: GraphQLSchema): void {
  for (const operation of Object.values(OperationTypeNode))
    for (const field of Object.values(schema.getRootType(operation)?.getFields() ?? {})) {
      const needs = field.extensions.needs as FieldNeeds
      field.description = `${field.description} ${describeCallers(needs)}`
      const name = operation === OperationTypeNode.SUBSCRIPTION ? 'subscribe' : 'resolve'
      const run = field[name]
      field[name] = (source: unknown, args: unknown, ctx: Context, info) => {
        requireNeeds(ctx, needs)
        return run?.(source, args, ctx, info)
      }
    }
}

/** Makes the fields of types that need a scope nullable, and null for integrations without it (DECISIONS 143). */
export function hideFields(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    const needs = type.extensions.needs as TypeNeeds | undefined
    if (!needs || !isObjectType(type)) continue
    for (const field of Object.values(type.getFields())) {
      if (needs.except.has(field.name)) continue
      const resolve = field.resolve ?? defaultFieldResolver
      field.type = getNullableType(field.type)
      field.resolve = (source, args, ctx: Context, info) =>
        needs.oneOf.some((scope) => hasScope(ctx, scope)) ? resolve(source, args, ctx, info) : null
    }
  }
}
