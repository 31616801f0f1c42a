import {
  defaultTypeResolver,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  type OperationDefinitionNode,
} from 'graphql'
import { collectFields, collectSubfields } from 'graphql/execution/collectFields.js'
import {
  type Complete,
  completeLeaf,
  completeList,
  completeNonNull,
  isPromise,
  type Run,
  refuse,
  type Variables,
} from './complete-value.ts'

// An operation becomes functions made for it: an object literal for each object that it selects, with the properties read
// and the resolvers called in place. They know how a value is answered, and nothing of errors: where anything is not as
// it must be they throw, and whoever runs them takes the standard way, which tells it in full.

/** One field at the root: calls its resolver, and answers what that gave. */
export type RootField = { key: string; resolve(run: Run): unknown; complete: Complete }

type Operation = {
  schema: GraphQLSchema
  operation: OperationDefinitionNode
  fragments: Record<string, FragmentDefinitionNode>
  /** Those that decide what is included. */
  variables: Variables
}

function completeAbstract(type: GraphQLAbstractType, field: Field, of: Operation): Complete {
  const byName = new Map<string, Complete>()
  const info = infoOf(field, type, of)
  return (value, run) => {
    if (value === null || value === undefined) return null
    const name = (type.resolveType ?? defaultTypeResolver)(value, run.context, info, type)
    if (typeof name !== 'string') return refuse('a type that is no name')
    const found = of.schema.getPossibleTypes(type).find((possible) => possible.name === name)
    const complete =
      byName.get(name) ?? (found ? completeObject(found, field.nodes, of) : refuse('an impossible type'))
    byName.set(name, complete)
    return complete(value, run)
  }
}

type Field = { key: string; name: string; parentType: GraphQLObjectType; nodes: readonly FieldNode[] }

// What a resolver is told. Below the root that is neither the variables nor the whole path, which differ each time.
function infoOf(
  { key, name, parentType, nodes }: Field,
  returnType: GraphQLOutputType,
  of: Operation,
): GraphQLResolveInfo {
  const { schema, operation, fragments } = of
  const path = { prev: undefined, key, typename: parentType.name }
  const told = {
    fieldName: name,
    fieldNodes: nodes,
    parentType,
    returnType,
    schema,
    operation,
    fragments,
    path,
  }
  return { ...told, rootValue: undefined, variableValues: {} }
}

function complete(type: GraphQLOutputType, field: Field, of: Operation): Complete {
  if (isNonNullType(type)) return completeNonNull(complete(type.ofType, field, of))
  if (isListType(type)) return completeList(complete(type.ofType, field, of))
  if (isLeafType(type)) return completeLeaf(type)
  return isAbstractType(type) ? completeAbstract(type, field, of) : completeObject(type, field.nodes, of)
}

function argumentsOf(field: GraphQLField<unknown, unknown>, node: FieldNode): (run: Run) => Variables {
  const none = {}
  return field.args.length === 0 ? () => none : (run) => getArgumentValues(field, node, run.variables)
}

/** What the code of an object's answer is made of: its text, and what it calls. */
type Part = { value: string; after?: string; calls: Record<string, unknown> }

function partOf(field: Field, index: number, of: Operation): Part {
  const { key, name, parentType, nodes } = field
  const place = `answer[${JSON.stringify(key)}]`
  if (name === '__typename') return { value: JSON.stringify(parentType.name), calls: {} }
  const [node] = nodes
  const defined = parentType.getFields()[name]
  if (!node || !defined) return refuse('a field of the schema itself')
  const calls = { [`complete${index}`]: complete(defined.type, field, of) }
  if (!defined.resolve) return { value: `complete${index}(source[${JSON.stringify(name)}], run)`, calls }
  return {
    value: 'null',
    after: `const value${index} = resolve${index}(source, arguments${index}(run), run.context, info${index})
      if (isPromise(value${index}))
        run.waiting.push(value${index}.then((value) => { ${place} = complete${index}(value, run) }))
      else ${place} = complete${index}(value${index}, run)`,
    calls: {
      ...calls,
      [`resolve${index}`]: defined.resolve,
      [`arguments${index}`]: argumentsOf(defined, node),
      [`info${index}`]: infoOf(field, defined.type, of),
    },
  }
}

const fieldOf = (key: string, parentType: GraphQLObjectType, nodes: readonly FieldNode[]): Field =>
  // In an object literal this name would be no property.
  key === '__proto__'
    ? refuse('a name that means something else')
    : { key, name: nodes[0]?.name.value ?? '', parentType, nodes }

// Made when there first is such an object. By then its query was found not to be too complex: what is made before would
// be as many functions as fragments can multiply.
function completeObject(type: GraphQLObjectType, nodes: readonly FieldNode[], of: Operation): Complete {
  let made: Complete | undefined
  return (value, run) => {
    if (value === null || value === undefined) return null
    made ??= makeObject(type, nodes, of)
    return made(value, run)
  }
}

function makeObject(type: GraphQLObjectType, nodes: readonly FieldNode[], of: Operation): Complete {
  if (type.isTypeOf) return refuse('a type that knows its own')
  const fields = [...collectSubfields(of.schema, of.fragments, of.variables, type, nodes)]
  const parts = fields.map(([key, nodes], index) => ({
    key,
    ...partOf(fieldOf(key, type, nodes), index, of),
  }))
  const calls: Record<string, unknown> = Object.assign(
    { isPromise, refuse },
    ...parts.map(({ calls }) => calls),
  )
  // Names are checked by the parser, and quoted all the same.
  const body = `return (source, run) => {
    if (typeof source !== 'object' || source instanceof Error) refuse('an object that is none')
    const answer = { ${parts.map(({ key, value }) => `${JSON.stringify(key)}: ${value}`).join(', ')} }
    ${parts.map(({ after = '' }) => after).join('\n')}
    return answer
  }`
  return new Function(...Object.keys(calls), body)(...Object.values(calls))
}

/** Makes the functions of an operation, for these values of the variables that decide what is included. Throws
 *  NotCompiled for what it is not made for: introspection, subscriptions. */
export function compileOperation(of: Operation): RootField[] {
  const { schema, operation, fragments, variables } = of
  const type = operation.operation === 'subscription' ? undefined : schema.getRootType(operation.operation)
  if (!type) return refuse('another kind of operation')
  const fields = [...collectFields(schema, fragments, variables, type, operation.selectionSet)]
  return fields.map(([key, nodes]): RootField => {
    const field = fieldOf(key, type, nodes)
    if (field.name === '__typename') return { key, resolve: () => type.name, complete: (value) => value }
    const [node] = nodes
    const defined = type.getFields()[field.name]
    const { resolve } = defined ?? {}
    if (!node || !defined || !resolve) return refuse('a field of the schema itself')
    const info = infoOf(field, defined.type, of)
    const read = argumentsOf(defined, node)
    return {
      key,
      resolve: (run) => resolve({}, read(run), run.context, { ...info, variableValues: run.variables }),
      complete: complete(defined.type, field, of),
    }
  })
}
