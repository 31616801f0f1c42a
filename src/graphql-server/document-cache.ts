import { type DocumentNode, type Token, TokenKind } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { TrialCache } from '../cache/trial-cache.ts'

/** Documents that were parsed, by their texts. */
export type Documents = TrialCache<DocumentNode>

const maxBytes = 32 * 2 ** 20
// Measured: a token with the nodes that are made of it and their places, and a comment.
const bytesOfToken = 600
const bytesOfComment = 100

/** How many bytes a document holds, about: a thousand times its text where that is one field behind the other. */
export function bytesOf({ loc }: DocumentNode): number {
  let bytes = 2 * (loc?.source.body.length ?? 0)
  for (let token: Token | null | undefined = loc?.startToken; token; token = token.next)
    bytes += token.kind === TokenKind.COMMENT ? bytesOfComment : bytesOfToken
  return bytes
}

/** At most 32 MB of them. */
export const createDocuments = (): Documents => new TrialCache({ maxBytes, bytesOf })

/** Parses and validates a document once, as long as it is among the documents. What is wrong with one is not kept. */
export function reuseDocuments(documents: Documents): Plugin {
  const valid = new WeakSet<DocumentNode>()
  return {
    onParse({ params, setParsedDocument }) {
      const text = String(params.source)
      const known = documents.get(text)
      if (known) return setParsedDocument(known)
      return ({ result }) => {
        if (result && !(result instanceof Error)) documents.set(text, result)
      }
    },
    onValidate({ params: { documentAST }, setResult }) {
      if (valid.has(documentAST)) return setResult([])
      return ({ valid: isValid }) => {
        if (isValid) valid.add(documentAST)
      }
    },
  }
}
