import type { CodegenConfig } from '@graphql-codegen/cli'

const shop = '../../../examples/shop'

export default {
  schema: '../../../schema.graphql',
  documents: `${shop}/shop.graphql`,
  generates: {
    [`${shop}/src/browser/documents.ts`]: {
      plugins: ['typescript-operations', 'typed-document-node'],
      config: {
        documentMode: 'string',
        useTypeImports: true,
        skipTypename: true,
        disableDescriptions: true,
        scalars: {
          CurrencyCode: 'string',
          Date: 'string',
          DateTime: 'string',
          Decimal: 'string',
          JSON: 'unknown',
        },
      },
    },
  },
} satisfies CodegenConfig
