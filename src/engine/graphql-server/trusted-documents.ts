import { readFile } from 'node:fs/promises'
import { type GraphQLError, parse } from 'graphql'
import { z } from 'zod'
import { tryParse } from '../base/parse.ts'
import { requestLimits } from '../base/request-limits.ts'
import { documentId, documentText } from './params.ts'

// Relay's compiler and the client preset of GraphQL Code Generator write texts by identifier, Apollo's
// manifest a list.
const manifest = z.union([
  z
    .object({
      format: z.literal('apollo-persisted-query-manifest'),
      version: z.literal(1),
      operations: z.array(z.object({ id: documentId, body: documentText })),
    })
    .transform(({ operations }) => operations.map(({ id, body }): [string, string] => [id, body])),
  z.record(documentId, documentText).transform((texts) => Object.entries(texts)),
])

const wrong = (reason: string) => new Error(`Settings are wrong:\n  TRUSTED_DOCUMENTS: ${reason}`)

function requireParsable(id: string, text: string): void {
  try {
    parse(text, { maxTokens: requestLimits.maxDocumentTokens, noLocation: true })
  } catch (error) {
    throw wrong(`document ${JSON.stringify(id)}: ${(error as GraphQLError).message}`)
  }
}

function entriesOf(text: string): [string, string][] {
  const json: unknown = tryParse(() => JSON.parse(text))
  if (json === undefined) throw wrong('the manifest is not JSON')
  const parsed = manifest.safeParse(json)
  if (!parsed.success)
    throw wrong(
      'the manifest must map identifiers to documents, as Relay and GraphQL Code Generator write it, or be one of Apollo',
    )
  return parsed.data
}

/** Reads the manifest of trusted documents, by identifier; there are none without it. Throws an error that names the
 *  setting if it can't be read, is in no known form, or holds a document that could never be executed. */
export async function readTrustedDocuments(path: string | undefined): Promise<Map<string, string>> {
  const byId = new Map<string, string>()
  if (path === undefined) return byId
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw wrong(`the manifest can't be read (${error.code ?? 'unknown error'})`)
  })
  const entries = entriesOf(text)
  if (entries.length === 0) throw wrong('the manifest holds no documents')
  for (const [id, text] of entries) {
    requireParsable(id, text)
    if (byId.has(id) && byId.get(id) !== text)
      throw wrong(`two documents have the identifier ${JSON.stringify(id)}`)
    byId.set(id, text)
  }
  return byId
}
