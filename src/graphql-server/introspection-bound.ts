import {
  type ASTVisitor,
  type GraphQLArgument,
  type GraphQLDirective,
  type GraphQLEnumValue,
  GraphQLError,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  type GraphQLType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isSchema,
  isType,
  isWrappingType,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql'

/** A value that introspection can describe. */
type Described =
  | GraphQLSchema
  | GraphQLType
  | GraphQLDirective
  | GraphQLField<unknown, unknown>
  | GraphQLInputField
  | GraphQLArgument
  | GraphQLEnumValue

const toList = <Value>(value: Value | null | undefined): Value[] => (value ? [value] : [])

function childrenOfSchema(schema: GraphQLSchema, name: string): readonly Described[] {
  if (name === 'types') return Object.values(schema.getTypeMap())
  if (name === 'directives') return schema.getDirectives()
  if (name === 'queryType') return toList(schema.getQueryType())
  return name === 'mutationType' ? toList(schema.getMutationType()) : []
}

function childrenOfType(type: GraphQLType, name: string, schema: GraphQLSchema): readonly Described[] {
  if (isWrappingType(type)) return name === 'ofType' ? [type.ofType] : []
  if (name === 'possibleTypes') return isAbstractType(type) ? schema.getPossibleTypes(type) : []
  if (isEnumType(type)) return name === 'enumValues' ? type.getValues() : []
  if (isInputObjectType(type)) return name === 'inputFields' ? Object.values(type.getFields()) : []
  if (!isObjectType(type) && !isInterfaceType(type)) return []
  if (name === 'fields') return Object.values(type.getFields())
  return name === 'interfaces' ? type.getInterfaces() : []
}

// Follows a field as the introspection resolvers do, deprecated members included.
function childrenOf(described: Described, name: string, schema: GraphQLSchema): readonly Described[] {
  if (isSchema(described)) return childrenOfSchema(described, name)
  if (isType(described)) return childrenOfType(described, name, schema)
  if (name === 'args') return 'args' in described ? described.args : []
  return name === 'type' && 'type' in described ? [described.type] : []
}

const exceeded = Symbol('too many values')

/** Validation rule that limits the number of values in an introspection response. The complexity limit does
 *  not apply to introspection, and the whole schema under several aliases is megabytes. Walks the response
 *  that would be sent, and stops at the limit. */
export const introspectionBound =
  (maxValues: number) =>
  (context: ValidationContext): ASTVisitor => {
    const schema = context.getSchema()
    // Assumed for `__type` whose name is a variable.
    const largest = schema.getQueryType()
    let values = 0

    // Calls `visit` for each field, fragments included. Skips fragment cycles, which another rule refuses.
    function eachField(
      { selections }: SelectionSetNode,
      spread: readonly string[],
      visit: (name: string, selectionSet: SelectionSetNode | undefined, argument: string | null) => void,
    ): void {
      for (const selection of selections) {
        if (++values > maxValues) throw exceeded
        if (selection.kind === Kind.FIELD) {
          const value = selection.arguments?.[0]?.value
          const argument = value?.kind === Kind.STRING ? value.value : null
          visit(selection.name.value, selection.selectionSet, argument)
        } else if (selection.kind === Kind.INLINE_FRAGMENT) eachField(selection.selectionSet, spread, visit)
        else {
          const name = selection.name.value
          const fragment = spread.includes(name) ? null : context.getFragment(name)
          if (fragment) eachField(fragment.selectionSet, [...spread, name], visit)
        }
      }
    }

    function describe(selectionSet: SelectionSetNode | undefined, described: Described): void {
      if (selectionSet)
        eachField(selectionSet, [], (name, inside) => {
          if (inside) for (const child of childrenOf(described, name, schema)) describe(inside, child)
        })
    }

    return {
      OperationDefinition({ selectionSet }) {
        values = 0
        try {
          eachField(selectionSet, [], (name, inside, argument) => {
            if (name === '__schema') describe(inside, schema)
            const type = name === '__type' && (argument === null ? largest : schema.getType(argument))
            if (type) describe(inside, type)
          })
        } catch (error) {
          if (error !== exceeded) throw error
          const message = `The query is too complex: introspection may answer with at most ${maxValues} values.`
          context.reportError(new GraphQLError(message, { extensions: { code: 'QUERY_TOO_COMPLEX' } }))
        }
        return false
      },
    }
  }
