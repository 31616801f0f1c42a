import {
  defaultTypeResolver,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getArgumentValues,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  print,
} from 'graphql'
import { collectFields, collectSubfields } from 'graphql/execution/collectFields.js'
import { toLiteral } from '../../json/encoded-literal.ts'
import { json } from '../../json/json-writer.ts'
import { refuse, type Write, writeLeaf, writeList, writeNonNull } from './complete-value.ts'
import { writeAgain } from './repeat-object.ts'
import { type AskedOperation, type Field, fieldOf, infoOf } from './resolve-info.ts'
import { isPromise, type Run, type Variables } from './response-buffer.ts'

// An operation becomes functions made for it: one for each object that it selects, which writes the names between the
// values, with the properties read and the resolvers called in place. They know how a value is answered, and nothing of
// errors: where anything is not as it must be they throw, and whoever runs them takes the standard way, which tells it
// in full.

/** One field at the root: calls its resolver, and writes what that gave. */
export type RootField = { key: string; resolve(run: Run): unknown; write: Write }

type Operation = AskedOperation & {
  /** By their types and selections. */
  objects: Map<string, ObjectWriter>
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
      byName.get(name) ?? (found ? writeObject(found, field.nodes, of).write : refuse('an impossible type'))
    byName.set(name, write)
    write(value, run)
  }
}

function writeOf(type: GraphQLOutputType, field: Field, of: Operation): Write {
  if (isNonNullType(type)) return writeNonNull(writeOf(type.ofType, field, of))
  if (isListType(type)) return writeList(writeOf(type.ofType, field, of))
  if (isLeafType(type)) return writeLeaf(type)
  if (isAbstractType(type)) return writeAbstract(type, field, of)
  const writer = writeObject(type, field.nodes, of)
  // A field that leads to one row, through a loader, may lead many parents to the same.
  const { extensions, type: declared } = field.parentType.getFields()[field.name] ?? {}
  if (extensions?.preload && !isListType(getNullableType(declared))) writer.comeAgain = true
  return writer.write
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
      calls: { [`name${index}`]: toLiteral(before + JSON.stringify(parentType.name)) },
    }
  const [node] = nodes
  const defined = parentType.getFields()[name]
  if (!node || !defined) return refuse('a field of the schema itself')
  const calls = { [`name${index}`]: toLiteral(before), [`write${index}`]: writeOf(defined.type, field, of) }
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

/** What writes the objects of a type in one selection, and whether some may come again. */
type ObjectWriter = { write: Write; comeAgain: boolean }

// Made when there first is such an object. By then its query was found not to be too complex: what is made before would
// be as many functions as fragments can multiply.
function objectWriter(type: GraphQLObjectType, nodes: readonly FieldNode[], of: Operation): ObjectWriter {
  let made: Write | undefined
  const writer: ObjectWriter = {
    comeAgain: false,
    write(value, run) {
      if (value === null || value === undefined) return json.null()
      if (!made) {
        const write = makeObject(type, nodes, of)
        made = writer.comeAgain ? writeAgain(write) : write
      }
      made(value, run)
    },
  }
  return writer
}

function writeObject(type: GraphQLObjectType, nodes: readonly FieldNode[], of: Operation): ObjectWriter {
  const selection = nodes.map(({ selectionSet }) => selectionSet && print(selectionSet))
  const key = [type.name, ...selection].join(' ')
  const writer = of.objects.get(key) ?? objectWriter(type, nodes, of)
  of.objects.set(key, writer)
  return writer
}

function makeObject(type: GraphQLObjectType, nodes: readonly FieldNode[], of: Operation): Write {
  if (type.isTypeOf) return refuse('a type that knows its own')
  const fields = [...collectSubfields(of.schema, of.fragments, of.variables, type, nodes)]
  const parts = fields.map(([key, nodes], index) => partOf(fieldOf(key, type, nodes), index, of))
  const end = toLiteral(parts.length > 0 ? '}' : '{}')
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
export function compileOperation(asked: AskedOperation): RootField[] {
  const of: Operation = { ...asked, objects: new Map() }
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
