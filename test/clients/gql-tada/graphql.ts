import { initGraphQLTada } from 'gql.tada'
import type { introspection } from './generated/graphql-env.d.ts'

export const graphql = initGraphQLTada<{
  introspection: introspection
  scalars: { Date: string; DateTime: string; Decimal: string; CurrencyCode: string; JSON: unknown }
}>()
