import { errorDescriptions } from '../shared/error-descriptions.ts'
import type { Code } from '../shared/errors.ts'
import { builder, type DescribedValues } from './builder.ts'

const values = Object.fromEntries(
  Object.entries(errorDescriptions).map(([value, description]) => [value, { value, description }]),
) as DescribedValues<Code>

export const ErrorCodeRef = builder.enumType('ErrorCode', {
  description: 'Machine-readable error code, the same in GraphQL and REST.',
  values,
})
