import {
  defaultFieldResolver,
  defaultTypeResolver,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getArgumentValues,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  print,
  TypeNameMetaFieldDef,
} from 'graphql'
import { collectFields, collectSubfields } from 'graphql/execution/collectFields.js'
import { json } from '../../json/json-writer.ts'
import {
  type CompleteValue,
  completeLeaf,
  completeList,
  completeNonNull,
  fallBack,
} from './complete-value.ts'
import { repeatObject } from './repeat-object.ts'
import {
  type FieldGroup,
  infoBelowRoot,
  type OperationSource,
  rootInfo,
  toFieldGroups,
} from './resolve-info.ts'
import { isPromise, type ResponseBuffer, type Variables } from './response-buffer.ts'

// Compiles an operation into one generated function per selected object type. Each writes its response keys
// as encoded literals, reads properties and calls resolvers inline, and completes the values. The functions
// handle valid values only: on anything else they throw, and graphql-js executes the operation instead.

function compileArguments({ definition, nodes }: FieldGroup): (response: ResponseBuffer) => Variables {
  const none = {}
  return definition.args.length === 0
    ? () => none
    : (response) => getArgumentValues(definition, nodes[0], response.variables)
}

/** Source text of one field, and the values that it refers to by name. */
type FieldCode = { text: string; scope: Record<string, unknown> }

/** Completion of the objects of a type in one selection. `mayRepeat`: the same object may occur again. */
type CompiledObject = { completeValue: CompleteValue; mayRepeat: boolean }

/** One root field: its resolver, and the completion of what that returns. */
export type RootField = {
  responseKey: string
  resolve(response: ResponseBuffer): unknown
  completeValue: CompleteValue
}

/** Compiles an operation for these values of the variables that @skip and @include read. Throws NotCompiled
 *  for introspection and subscriptions. */
export function compileOperation(source: OperationSource): RootField[] {
  const { schema, operation, fragments, variables } = source
  // By type and selection.
  const objects = new Map<string, CompiledObject>()

  function completeAbstract(type: GraphQLAbstractType, field: FieldGroup): CompleteValue {
    const byTypename = new Map<unknown, CompiledObject>(
      schema.getPossibleTypes(type).map((possible) => [possible.name, compiledObject(possible, field.nodes)]),
    )
    const resolveType = type.resolveType ?? defaultTypeResolver
    const info = infoBelowRoot(field, source)
    return (value, response) => {
      if (value === null || value === undefined) return json.null()
      const object = byTypename.get(resolveType(value, response.context, info, type))
      if (!object) return fallBack('resolveType returned no possible type')
      object.completeValue(value, response)
    }
  }

  // Compiles the completion of the values of a field.
  function compileCompletion(type: GraphQLOutputType, field: FieldGroup): CompleteValue {
    if (isNonNullType(type)) return completeNonNull(compileCompletion(type.ofType, field))
    if (isListType(type)) return completeList(compileCompletion(type.ofType, field))
    if (isLeafType(type)) return completeLeaf(type)
    if (isAbstractType(type)) return completeAbstract(type, field)
    const object = compiledObject(type, field.nodes)
    // A to-one field that reads through a loader may return the same row for many parents.
    const { extensions, type: declaredType } = field.definition
    if (extensions.preload && !isListType(getNullableType(declaredType))) object.mayRepeat = true
    return object.completeValue
  }

  function generateField(field: FieldGroup, index: number): FieldCode {
    const { responseKey, parentType, definition } = field
    const prefix = `${index === 0 ? '{' : ','}${JSON.stringify(responseKey)}:`
    if (definition === TypeNameMetaFieldDef)
      return {
        text: `json.raw(key${index})`,
        scope: { [`key${index}`]: Buffer.from(prefix + JSON.stringify(parentType.name)) },
      }
    const scope = {
      [`key${index}`]: Buffer.from(prefix),
      [`completeValue${index}`]: compileCompletion(definition.type, field),
    }
    if (!definition.resolve)
      // The parser allows only safe names; quoting them is defence in depth.
      return {
        text: `json.raw(key${index}); completeValue${index}(source[${JSON.stringify(definition.name)}], response)`,
        scope,
      }
    return {
      text: `json.raw(key${index})
        const value${index} = resolve${index}(source, arguments${index}(response), response.context, info${index})
        if (isPromise(value${index})) response.defer(value${index}, (value) => completeValue${index}(value, response))
        else completeValue${index}(value${index}, response)`,
      scope: {
        ...scope,
        [`resolve${index}`]: definition.resolve,
        [`arguments${index}`]: compileArguments(field),
        [`info${index}`]: infoBelowRoot(field, source),
      },
    }
  }

  // Compiled when the first such object is completed. By then the complexity limit has accepted the query;
  // compiling earlier would make as many functions as nested fragments can multiply.
  function compiledObject(type: GraphQLObjectType, nodes: readonly FieldNode[]): CompiledObject {
    const selection = nodes.map(({ selectionSet }) => selectionSet && print(selectionSet))
    const key = [type.name, ...selection].join(' ')
    const known = objects.get(key)
    if (known) return known
    let compiled: CompleteValue | undefined
    const object: CompiledObject = {
      mayRepeat: false,
      completeValue(value, response) {
        if (value === null || value === undefined) return json.null()
        if (!compiled) {
          const completeValue = compileObject(type, nodes)
          compiled = object.mayRepeat ? repeatObject(completeValue) : completeValue
        }
        compiled(value, response)
      },
    }
    objects.set(key, object)
    return object
  }

  function compileObject(type: GraphQLObjectType, nodes: readonly FieldNode[]): CompleteValue {
    if (type.isTypeOf) return fallBack('a type with isTypeOf')
    const collected = collectSubfields(schema, fragments, variables, type, nodes)
    const fields = toFieldGroups(collected, type).map(generateField)
    const end = Buffer.from(fields.length > 0 ? '}' : '{}')
    const scope: Record<string, unknown> = Object.assign(
      { isPromise, fallBack, json, end },
      ...fields.map(({ scope }) => scope),
    )
    const body = `return (source, response) => {
      if (typeof source !== 'object' || source instanceof Error) fallBack('an object type resolved to something else')
      ${fields.map(({ text }) => text).join('\n')}
      json.raw(end)
    }`
    return new Function(...Object.keys(scope), body)(...Object.values(scope))
  }

  const type = operation.operation === 'subscription' ? undefined : schema.getRootType(operation.operation)
  if (!type) return fallBack('an operation other than a query or mutation')
  const collected = collectFields(schema, fragments, variables, type, operation.selectionSet)
  return toFieldGroups(collected, type).map((field): RootField => {
    const { resolve = defaultFieldResolver, type: returnType } = field.definition
    const info = rootInfo(field, source)
    const readArguments = compileArguments(field)
    return {
      responseKey: field.responseKey,
      resolve: (response) =>
        resolve({}, readArguments(response), response.context, {
          ...info,
          variableValues: response.variables,
        }),
      completeValue: compileCompletion(returnType, field),
    }
  })
}
