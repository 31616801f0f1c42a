import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getNamedType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import type { Loader, PromiseOrValue } from '../data/loader.ts'
import type { Context } from '../request/context.ts'
import type { LoaderDefinition } from '../request/loaders.ts'
import { isFast } from '../shared/fast.ts'

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** Loads the field's values for all parents of a level at once, and returns them. */
    preload?: (parents: _TSource[], ctx: _TContext) => PromiseOrValue<unknown[]>
    /** True if the key that it loads by is the identifier of what it loads. */
    isRow?: true
  }
}

const onlyIdOf = new WeakMap<FieldNode, boolean>()

/** Reports whether nothing but the identifier of an object is asked for. */
function asksOnlyId([node, another]: readonly FieldNode[]): boolean {
  if (!node || another) return false
  const known = onlyIdOf.get(node)
  if (known !== undefined) return known
  const isId = (selection: SelectionNode): boolean =>
    selection.kind === Kind.FIELD
      ? ['id', '__typename'].includes(selection.name.value)
      : selection.kind === Kind.INLINE_FRAGMENT && selection.selectionSet.selections.every(isId)
  const onlyId = node.selectionSet?.selections.every(isId) === true
  onlyIdOf.set(node, onlyId)
  return onlyId
}

/** Defines a field that is resolved from a loader by a key of its parent, with its lookahead. */
export const viaLoader = <Parent, Value>(
  definition: LoaderDefinition<Loader<Value>>,
  keyOf: (parent: Parent) => string,
) => ({
  extensions: {
    preload: (parents: Parent[], { loaders }: Context) => loaders.get(definition).loadAll(parents.map(keyOf)),
  },
  resolve: (parent: Parent, _args: object, { loaders }: Context) =>
    loaders.get(definition).get(keyOf(parent)),
})

/** Resolves an edge: by `load`, or without it where nothing but the row's identifier is asked for. */
export const toRow = <Row>(
  id: string,
  { fieldNodes }: GraphQLResolveInfo,
  load: () => PromiseOrValue<Row>,
): PromiseOrValue<Row> => (asksOnlyId(fieldNodes) ? ({ id } as Row) : load())

/** Defines an edge to a row by its identifier, which the parent has. The row is there whenever the parent is visible. */
export const viaId = <Parent, Row>(
  definition: LoaderDefinition<Loader<Row | null>>,
  idOf: (parent: Parent) => string,
) => {
  const { extensions, resolve } = viaLoader(definition, idOf)
  return {
    extensions: { ...extensions, isRow: true as const },
    resolve: (parent: Parent, args: object, ctx: Context, info: GraphQLResolveInfo) =>
      toRow(idOf(parent), info, () => resolve(parent, args, ctx) as PromiseOrValue<Row>),
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
  const byName = new Map<string, FieldNode[]>()
  for (const { selectionSet } of nodes)
    for (const field of selectionSet ? fieldsOf(type, selectionSet, fragments) : [])
      byName.set(field.name.value, [...(byName.get(field.name.value) ?? []), field])
  return [...byName].flatMap(([name, below]) => {
    const field = type.getFields()[name]
    const { preload, isRow } = field?.extensions ?? {}
    if (isRow && asksOnlyId(below)) return []
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
