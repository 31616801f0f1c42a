import type { CodegenConfig } from '@graphql-codegen/cli'

export default {
  schema: '../../../schema.graphql',
  documents: 'shop.graphql',
  generates: {
    'generated/': {
      preset: 'client',
      presetConfig: { persistedDocuments: { hashAlgorithm: 'sha256' }, fragmentMasking: false },
      config: {
        documentMode: 'string',
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
  },
} satisfies CodegenConfig
