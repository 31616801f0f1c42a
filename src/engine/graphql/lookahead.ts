import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getNamedType,
  type InlineFragmentNode,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql'
import { isFast } from '../base/fast.ts'
import { groupBy } from '../base/group-by.ts'
import { type Loader, type PromiseOrValue, whenKnown } from '../data/loader.ts'
import type { Context } from '../request/context.ts'
import type { LoaderDefinition } from '../request/loaders.ts'

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** Loads the field's values for all parents of a level at once, and returns them. */
    preload?: (parents: _TSource[], ctx: _TContext) => PromiseOrValue<unknown[]>
    /** Fields of what it loads that its parent can answer, beside the identifier. */
    knownFields?: readonly string[]
  }
}

const askedOf = new WeakMap<FieldNode, string[] | null>()

// Lists the fields that are asked of an object beside its identifier; null if they are not a plain selection.
function asked([node, another]: readonly FieldNode[]): string[] | null {
  if (!node || another) return null
  const known = askedOf.get(node)
  if (known !== undefined) return known
  const namesIn = ({ selectionSet }: FieldNode | InlineFragmentNode): (string | null)[] =>
    (selectionSet?.selections ?? []).flatMap((selection) => {
      if (selection.kind === Kind.FRAGMENT_SPREAD) return null
      return selection.kind === Kind.FIELD ? selection.name.value : namesIn(selection)
    })
  const names = namesIn(node).filter((name) => name !== 'id' && name !== '__typename')
  const plain = names.every((name) => name !== null) ? names : null
  askedOf.set(node, plain)
  return plain
}

const asksOnly = (fields: readonly string[], nodes: readonly FieldNode[]): boolean =>
  asked(nodes)?.every((name) => fields.includes(name)) === true

/** Makes the value of a field of what was loaded for its parent. */
type Read<Parent, Value, Result> = (value: Value, parent: Parent, ctx: Context) => PromiseOrValue<Result>

/** Defines a field that is resolved from a loader by a key of its parent, with its lookahead; null without a key. */
export const viaLoader = <Parent, Value, Key extends string | null, Result = Value>(
  definition: LoaderDefinition<Loader<Value>>,
  keyOf: (parent: Parent) => Key,
  read?: Read<Parent, Value, Result>,
) => ({
  extensions: {
    preload: (parents: Parent[], { loaders }: Context) =>
      loaders.get(definition).loadAll(parents.map(keyOf).filter((key) => key !== null)),
  },
  resolve(parent: Parent, _args: object, ctx: Context) {
    const key = keyOf(parent)
    if (key === null) return null as Key & null
    const value = ctx.loaders.get(definition).get(key)
    return (read ? whenKnown(value, read, parent, ctx) : value) as PromiseOrValue<Result>
  },
})

/** Resolves an edge: by `load`, or without it where nothing is asked for but the row's identifier. */
export const toRow = <Row>(
  id: string,
  { fieldNodes }: GraphQLResolveInfo,
  load: () => PromiseOrValue<Row>,
): PromiseOrValue<Row> => (asksOnly([], fieldNodes) ? ({ id } as Row) : load())

/** Fields of a row that its parent was read with, and the columns that they resolve from; null if it was read without.
 *  `read` makes the row that is shown of the one that is loaded. */
type Known<Parent, Row> = {
  fields: readonly string[]
  rowOf: (parent: Parent) => Partial<Row> | null
  read?: Read<Parent, Row | null, Row | null>
}

/** Defines an edge to a row by its identifier, which the parent has, or null. The row is there whenever the parent is
 *  visible. It is not loaded where nothing is asked for but its identifier and `known` fields. */
export const viaId = <Parent, Row, Id extends string | null>(
  definition: LoaderDefinition<Loader<Row | null>>,
  idOf: (parent: Parent) => Id,
  { fields, rowOf, read }: Known<Parent, Row> = { fields: [], rowOf: () => null },
) => {
  const { extensions, resolve } = viaLoader(definition, idOf, read)
  return {
    extensions: { ...extensions, knownFields: fields },
    resolve(parent: Parent, args: object, ctx: Context, info: GraphQLResolveInfo) {
      const id = idOf(parent)
      const known = rowOf(parent)
      const isKnown = id !== null && asksOnly(known ? fields : [], info.fieldNodes)
      const row = isKnown ? ({ ...known, id } as Row) : resolve(parent, args, ctx)
      return row as PromiseOrValue<Row | (Id & null)>
    },
  }
}

type Step = { preload: (parents: unknown[], ctx: Context) => PromiseOrValue<unknown[]>; steps: Step[] }

type Fragments = GraphQLResolveInfo['fragments']

function* fieldsOf(
  type: GraphQLObjectType,
  { selections }: SelectionSetNode,
  fragments: Fragments,
): Generator<FieldNode> {
  for (const selection of selections) {
    // Conditional selections are loaded only when they are resolved.
    if (selection.directives?.length) continue
    if (selection.kind === Kind.FIELD) yield selection
    else {
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments[selection.name.value] : selection
      const on = fragment?.typeCondition?.name.value ?? type.name
      if (fragment && (on === type.name || type.getInterfaces().some(({ name }) => name === on)))
        yield* fieldsOf(type, fragment.selectionSet, fragments)
    }
  }
}

function stepsOf(type: unknown, nodes: readonly FieldNode[], fragments: Fragments): Step[] {
  if (!isObjectType(type)) return []
  const selected = nodes.flatMap(({ selectionSet }) =>
    selectionSet ? [...fieldsOf(type, selectionSet, fragments)] : [],
  )
  return [...groupBy(selected, (field) => field.name.value)].flatMap(([name, below]) => {
    const field = type.getFields()[name]
    const { preload, knownFields } = field?.extensions ?? {}
    if (knownFields && asksOnly(knownFields, below)) return []
    return field && preload ? [{ preload, steps: stepsOf(getNamedType(field.type), below, fragments) }] : []
  })
}

// Flattens rows and lists of rows. Drops null, which stands for rows that the caller may not see.
function childrenOf(found: unknown[]): unknown[] {
  const children: unknown[] = []
  for (const value of found)
    if (Array.isArray(value)) for (const child of value) children.push(child)
    else if (value !== null) children.push(value)
  return children
}

async function runSteps(parents: unknown[], steps: Step[], ctx: Context): Promise<void> {
  await Promise.all(
    steps.map(async ({ preload, steps }) => {
      const found = await preload(parents, ctx)
      const children = steps.length > 0 ? childrenOf(found) : []
      if (children.length > 0) await runSteps(children, steps, ctx)
    }),
  )
}

const stepsByNode = new WeakMap<FieldNode, Step[]>()

/** Looks ahead at the selection below a field and loads it level by level, for all parents of a level at
 *  once. The resolvers then find their values in the loaders, without a promise each.
 *  Slow form: not called. */
export async function preload(parents: unknown[], info: GraphQLResolveInfo, ctx: Context): Promise<void> {
  if (!isFast('lookahead')) return
  const { fieldNodes, fragments, returnType } = info
  const [first] = fieldNodes
  if (!first) return
  const steps = stepsByNode.get(first) ?? stepsOf(getNamedType(returnType), fieldNodes, fragments)
  stepsByNode.set(first, steps)
  await runSteps(parents, steps, ctx)
}
