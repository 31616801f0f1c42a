import { initGraphQLTada } from 'gql.tada'
import type { introspection } from './generated/graphql-env.d.ts'

export const graphql = initGraphQLTada<{
  introspection: introspection
  scalars: { DateTime: string; Decimal: string; CurrencyCode: string; JSON: unknown }
}>()
