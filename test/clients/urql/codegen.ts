import type { CodegenConfig } from '@graphql-codegen/cli'

export default {
  schema: '../../../schema.graphql',
  documents: 'shop.graphql',
  generates: {
    'generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        enumsAsTypes: true,
        useTypeImports: true,
        scalars: {
          Date: 'string',
          DateTime: 'string',
          Decimal: 'string',
          CurrencyCode: 'string',
          JSON: 'unknown',
        },
      },
    },
    'generated/introspection.ts': { plugins: ['urql-introspection'], config: { useTypeImports: true } },
  },
} satisfies CodegenConfig
