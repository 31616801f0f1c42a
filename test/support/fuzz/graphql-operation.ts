import fc from 'fast-check'
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql'
import type { Pool } from './from-json-schema.ts'
import { alignWithRate } from './requests.ts'
import { anything } from './values.ts'

// Random operations of a schema. Every choice is drawn from fast-check, which can therefore shrink and replay
// them.

type Draw = fc.GeneratorValue
type Kind = 'query' | 'mutation'
export type GraphqlRequest = { query: string; variables: Record<string, unknown> }

class Operations {
  readonly #draw: Draw
  readonly #schema: GraphQLSchema
  readonly #pool: Pool
  readonly #declared: string[] = []
  readonly #variables: Record<string, unknown> = {}
  readonly #fragments: string[] = []
  #names = 0

  constructor(draw: Draw, schema: GraphQLSchema, pool: Pool) {
    this.#draw = draw
    this.#schema = schema
    this.#pool = pool
  }

  #once(outOf: number): boolean {
    return this.#draw(fc.integer, { min: 1, max: outOf }) === 1
  }

  #one<T>(items: readonly T[]): T {
    return items[this.#draw(fc.nat, { max: items.length - 1 })] as T
  }

  #name(prefix: string): string {
    return `${prefix}${++this.#names}`
  }

  #leaf(type: GraphQLInputType, name: string): unknown {
    const known = this.#pool(name)
    if (known.length > 0 && !this.#once(12)) return this.#one(known)
    const named = getNamedType(type)
    if (isEnumType(named)) return this.#one(named.getValues()).name
    if (named.name === 'Int') return this.#draw(fc.integer, { min: -5, max: 60 })
    if (named.name === 'Float') return this.#draw(fc.double, { min: -200, max: 200, noNaN: true })
    if (named.name === 'Boolean') return this.#draw(fc.boolean)
    if (named.name === 'Decimal') return this.#one(['0.50', '1.00', '22', '-1', '0.001', 3])
    if (named.name === 'CurrencyCode') return this.#one(['EUR', 'EUR', 'EUR', 'JPY', 'eur', 'XXX'])
    if (named.name === 'DateTime') return this.#one(['2026-01-01T00:00:00+02:00', '2030-05-06T07:08:09Z'])
    if (named.name === 'JSON')
      return this.#draw(fc.dictionary, fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }))
    return this.#draw(fc.string, { minLength: 1, maxLength: 12 })
  }

  #value(type: GraphQLInputType, name: string): unknown {
    if (this.#once(40)) return this.#draw(() => anything)
    if (isNonNullType(type)) return this.#value(type.ofType, name)
    if (this.#once(15)) return null
    if (isListType(type)) {
      const count = this.#draw(fc.integer, { min: 1, max: 3 })
      return Array.from({ length: count }, () => this.#value(type.ofType, name))
    }
    if (!isInputObjectType(type)) return this.#leaf(type, name)
    const fields = Object.values(type.getFields())
    if (type.isOneOf && !this.#once(12)) {
      const field = this.#one(fields)
      return { [field.name]: this.#value(new GraphQLNonNull(getNullableType(field.type)), field.name) }
    }
    return this.#given(fields, isRequiredInputField)
  }

  // Every required field, and a quarter of the others.
  #given<Field extends GraphQLArgument | GraphQLInputField>(
    fields: Field[],
    isRequired: (field: Field) => boolean,
  ): Record<string, unknown> {
    const chosen = fields.filter((field) => isRequired(field) || this.#once(4))
    return Object.fromEntries(chosen.map((field) => [field.name, this.#value(field.type, field.name)]))
  }

  #arguments(field: GraphQLField<unknown, unknown>): string {
    const given = this.#given([...field.args], isRequiredArgument)
    const values = this.#once(5) ? given : (alignWithRate(given) as Record<string, unknown>)
    const args = field.args.filter(({ name }) => name in values)
    if (args.length === 0) return ''
    return `(${args.map((arg) => `${arg.name}: ${this.#written(arg, values[arg.name])}`).join(', ')})`
  }

  #written(arg: GraphQLArgument, value: unknown): string {
    if (this.#once(3)) return literal(value, arg.type)
    const name = this.#name('v')
    this.#declared.push(`$${name}: ${arg.type}`)
    this.#variables[name] = value
    return `$${name}`
  }

  #directive(): string {
    if (!this.#once(12)) return ''
    const name = this.#name('c')
    this.#declared.push(`$${name}: Boolean!`)
    this.#variables[name] = this.#draw(fc.boolean)
    return ` @${this.#one(['include', 'skip'])}(if: $${name})`
  }

  #field(field: GraphQLField<unknown, unknown>, depth: number): string {
    const named = getNamedType(field.type)
    const alias = this.#once(4) ? `${this.#name('a')}: ` : ''
    const below = isLeafType(named) ? '' : ` { ${this.#selection(named, depth - 1)} }`
    return `${alias}${field.name}${this.#arguments(field)}${this.#directive()}${below}`
  }

  #selection(type: GraphQLNamedType, depth: number): string {
    if (isAbstractType(type)) {
      const kinds = this.#schema.getPossibleTypes(type).filter(() => !this.#once(5))
      const parts = kinds.map((kind) => `... on ${kind.name} { ${this.#selection(kind, depth)} }`)
      return ['__typename', ...parts].join(' ')
    }
    if (!isObjectType(type)) return '__typename'
    const fields = Object.values(type.getFields()).filter(
      (field) => this.#once(3) && (depth > 0 || isLeafType(getNamedType(field.type))),
    )
    const selection = ['__typename', ...fields.map((field) => this.#field(field, depth))].join(' ')
    if (!this.#once(10)) return selection
    const name = this.#name('F')
    this.#fragments.push(`fragment ${name} on ${type.name} { ${selection} }`)
    return `__typename ...${name}`
  }

  request(kind: Kind, name: string): GraphqlRequest {
    const root = kind === 'query' ? this.#schema.getQueryType() : this.#schema.getMutationType()
    const roots = Object.values(root?.getFields() ?? {})
    const asked = roots.filter((field) => field.name === name)
    const all = this.#once(4) ? [...asked, this.#one(roots)] : asked
    const fields = all.map((field) => `${this.#name('r')}: ${this.#field(field, 4)}`)
    const declared = this.#declared.length > 0 ? ` (${this.#declared.join(', ')})` : ''
    const query = [`${kind}${declared} { ${fields.join(' ')} }`, ...this.#fragments].join(' ')
    return { query, variables: this.#variables }
  }
}

/** Prints a value as a GraphQL literal. */
export function literal(value: unknown, type: GraphQLInputType): string {
  const nullable = isNonNullType(type) ? type.ofType : type
  if (Array.isArray(value)) {
    const itemType = isListType(nullable) ? nullable.ofType : nullable
    return `[${value.map((item) => literal(item, itemType)).join(', ')}]`
  }
  if (typeof value === 'object' && value !== null) {
    const fields = isInputObjectType(nullable) ? nullable.getFields() : {}
    const pairs = Object.entries(value).filter(([name]) => /^[_a-zA-Z]\w*$/.test(name))
    return `{${pairs.map(([name, field]) => `${name}: ${literal(field, fields[name]?.type ?? nullable)}`).join(', ')}}`
  }
  if (isEnumType(nullable) && /^[_a-zA-Z]\w*$/.test(String(value))) return String(value)
  return JSON.stringify(value) ?? 'null'
}

/** Draws an operation that selects a root field, sometimes with a second one, and the variables it needs. */
export const drawOperation = (
  draw: Draw,
  { schema, pool }: { schema: GraphQLSchema; pool: Pool },
  [kind, name]: [Kind, string],
): GraphqlRequest => new Operations(draw, schema, pool).request(kind, name)
