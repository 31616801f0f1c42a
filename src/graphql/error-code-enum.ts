import { type Code, problemCodes } from '../shared/problem-codes.ts'
import { builder, type DescribedValues } from './builder.ts'

const values = Object.fromEntries(
  Object.entries(problemCodes).map(([value, { text }]) => [value, { value, description: text }]),
) as DescribedValues<Code>

export const ErrorCodeRef = builder.enumType('ErrorCode', {
  description: 'Machine-readable error code, the same in GraphQL and REST.',
  values,
})
