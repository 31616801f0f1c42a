import type { DocumentNode } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { PreparedDocument, PreparedDocuments } from './prepared-document.ts'

/** Plugin that takes documents from the cache of prepared ones, and validates each once. Only valid results
 *  are cached: an invalid document is validated again. */
export function reuseDocuments(documents: PreparedDocuments): Plugin {
  const preparedOf = new WeakMap<DocumentNode, PreparedDocument>()
  return {
    onParse({ params, setParsedDocument }) {
      const prepared = documents.prepare(String(params.source))
      if (!prepared.document) return
      preparedOf.set(prepared.document, prepared)
      setParsedDocument(prepared.document)
    },
    onValidate({ params: { documentAST }, setResult }) {
      const prepared = preparedOf.get(documentAST)
      if (prepared?.isValid) return setResult([])
      return ({ valid }) => {
        if (valid && prepared) prepared.isValid = true
      }
    },
  }
}
