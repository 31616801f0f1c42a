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
    'generated/possible-types.ts': {
      plugins: ['fragment-matcher'],
      config: { apolloClientVersion: 3, useExplicitTyping: true },
    },
  },
} satisfies CodegenConfig
