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
import { json, toBytes } from './json-writer.ts'
import { isPromise, type Run, type Variables } from './run.ts'
import { refuse, type Write, writeLeaf, writeList, writeNonNull } from './write-value.ts'

// An operation becomes functions made for it: one for each object that it selects, which writes the names between the
// values, with the properties read and the resolvers called in place. They know how a value is answered, and nothing of
// errors: where anything is not as it must be they throw, and whoever runs them takes the standard way, which tells it in
// full.

/** One field at the root: calls its resolver, and writes what that gave. */
export type RootField = { key: string; resolve(run: Run): unknown; write: Write }

type Operation = {
  schema: GraphQLSchema
  operation: OperationDefinitionNode
  fragments: Record<string, FragmentDefinitionNode>
  /** Those that decide what is included. */
  variables: Variables
}

function writeAbstract(type: GraphQLAbstractType, field: Field, of: Operation): Write {
  const byName = new Map<string, Write>()
  const info = infoOf(field, type, of)
  return (value, run) => {
    if (value === null || value === undefined) return json.null()
    const name = (type.resolveType ?? defaultTypeResolver)(value, run.context, info, type)
    if (typeof name !== 'string') return refuse('a type that is no name')
    const found = of.schema.getPossibleTypes(type).find((possible) => possible.name === name)
    const write =
      byName.get(name) ?? (found ? writeObject(found, field.nodes, of) : refuse('an impossible type'))
    byName.set(name, write)
    write(value, run)
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

function writeOf(type: GraphQLOutputType, field: Field, of: Operation): Write {
  if (isNonNullType(type)) return writeNonNull(writeOf(type.ofType, field, of))
  if (isListType(type)) return writeList(writeOf(type.ofType, field, of))
  if (isLeafType(type)) return writeLeaf(type)
  return isAbstractType(type) ? writeAbstract(type, field, of) : writeObject(type, field.nodes, of)
}

function argumentsOf(field: GraphQLField<unknown, unknown>, node: FieldNode): (run: Run) => Variables {
  const none = {}
  return field.args.length === 0 ? () => none : (run) => getArgumentValues(field, node, run.variables)
}

/** What the code of an object's answer is made of: its text, and what it calls. */
type Part = { text: string; calls: Record<string, unknown> }

function partOf(field: Field, index: number, of: Operation): Part {
  const { key, name, parentType, nodes } = field
  const before = `${index === 0 ? '{' : ','}${JSON.stringify(key)}:`
  if (name === '__typename')
    return {
      text: `json.raw(name${index})`,
      calls: { [`name${index}`]: toBytes(before + JSON.stringify(parentType.name)) },
    }
  const [node] = nodes
  const defined = parentType.getFields()[name]
  if (!node || !defined) return refuse('a field of the schema itself')
  const calls = { [`name${index}`]: toBytes(before), [`write${index}`]: writeOf(defined.type, field, of) }
  if (!defined.resolve)
    // Names are checked by the parser, and quoted all the same.
    return { text: `json.raw(name${index}); write${index}(source[${JSON.stringify(name)}], run)`, calls }
  return {
    text: `json.raw(name${index})
      const value${index} = resolve${index}(source, arguments${index}(run), run.context, info${index})
      if (isPromise(value${index})) run.later(value${index}, (value) => write${index}(value, run))
      else write${index}(value${index}, run)`,
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
function writeObject(type: GraphQLObjectType, nodes: readonly FieldNode[], of: Operation): Write {
  let made: Write | undefined
  return (value, run) => {
    if (value === null || value === undefined) return json.null()
    made ??= makeObject(type, nodes, of)
    made(value, run)
  }
}

function makeObject(type: GraphQLObjectType, nodes: readonly FieldNode[], of: Operation): Write {
  if (type.isTypeOf) return refuse('a type that knows its own')
  const fields = [...collectSubfields(of.schema, of.fragments, of.variables, type, nodes)]
  const parts = fields.map(([key, nodes], index) => partOf(fieldOf(key, type, nodes), index, of))
  const end = toBytes(parts.length > 0 ? '}' : '{}')
  const calls: Record<string, unknown> = Object.assign(
    { isPromise, refuse, json, end },
    ...parts.map(({ calls }) => calls),
  )
  const body = `return (source, run) => {
    if (typeof source !== 'object' || source instanceof Error) refuse('an object that is none')
    ${parts.map(({ text }) => text).join('\n')}
    json.raw(end)
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
    if (field.name === '__typename')
      return { key, resolve: () => type.name, write: (value) => void json.value(value) }
    const [node] = nodes
    const defined = type.getFields()[field.name]
    const { resolve } = defined ?? {}
    if (!node || !defined || !resolve) return refuse('a field of the schema itself')
    const info = infoOf(field, defined.type, of)
    const read = argumentsOf(defined, node)
    return {
      key,
      resolve: (run) => resolve({}, read(run), run.context, { ...info, variableValues: run.variables }),
      write: writeOf(defined.type, field, of),
    }
  })
}
