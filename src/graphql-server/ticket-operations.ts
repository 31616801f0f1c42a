import {
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type ValueNode,
} from 'graphql'
import type { Parameters } from './params.ts'
import { decideOnce } from './prepared-operation.ts'

type Named = { variable: string } | { id: string }

// Of operations for one thing and nothing else, as a door and a shop ask.
function onlyField({ selectionSet: { selections } }: OperationDefinitionNode): FieldNode | null {
  const [field] = selections
  return selections.length === 1 && field?.kind === Kind.FIELD ? field : null
}

const argumentOf = (field: FieldNode, argument: string) =>
  field.arguments?.find(({ name }) => name.value === argument)?.value

function named(value: ValueNode | undefined): Named | null {
  if (value?.kind === Kind.VARIABLE) return { variable: value.name.value }
  return value?.kind === Kind.STRING ? { id: value.value } : null
}

const ticketIn = decideOnce((operation): Named | null => {
  const field = onlyField(operation)
  if (operation.operation !== OperationTypeNode.QUERY || field?.name.value !== 'ticket') return null
  return named(argumentOf(field, 'id'))
})

const checkouts = new Set(['checkout', 'quoteCheckout'])

// The rate itself, or the variable whose field it is.
const rateIn = decideOnce((operation): Named | { input: string } | null => {
  const field = onlyField(operation)
  if (!field || !checkouts.has(field.name.value)) return null
  const input = argumentOf(field, 'input')
  if (input?.kind === Kind.VARIABLE) return { input: input.name.value }
  if (input?.kind !== Kind.OBJECT) return null
  return named(input.fields.find(({ name }) => name.value === 'ticketRateId')?.value)
})

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null && field in value
    ? (value as Record<string, unknown>)[field]
    : undefined
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const idOf = (named: Named, { variables }: Parameters) =>
  'id' in named ? named.id : text(variables?.[named.variable])

/** The ticket that an operation is going to ask for, as far as can be told before it is run; else null. */
export function ticketAskedFor(parameters: Parameters): string | null {
  const ticket = ticketIn(parameters)
  return ticket && idOf(ticket, parameters)
}

/** The rate that an operation is going to check out, or to quote, as far as can be told before it is run; else null. */
export function rateAskedFor(parameters: Parameters): string | null {
  const rate = rateIn(parameters)
  if (!rate) return null
  if ('input' in rate) return text(fieldOf(parameters.variables?.[rate.input], 'ticketRateId'))
  return idOf(rate, parameters)
}
