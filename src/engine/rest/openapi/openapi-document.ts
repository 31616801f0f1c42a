import type { FastifySchema } from 'fastify'
import { headerComponents } from './headers.ts'
import { createSchemas, type Schemas } from './json-schemas.ts'
import { type Operation, toOperation } from './operation.ts'
import { type Refusals, refusalsWith } from './refusals.ts'

export type DocumentedRoute = { method: string | string[]; url: string; schema?: FastifySchema }

/** What the product says of its interface, in the terms of OpenAPI. */
export type RestContract<Examples> = {
  title: string
  description: string
  tags: { name: string; description: string }[]
  /** Ways to authenticate, by which `security` of a route names them. */
  securitySchemes: Record<string, { type: 'apiKey'; in: string; name: string; description: string }>
  refusals: Refusals
  /** Example of a `Link` header. */
  link: string
  /** Further parts of the document, such as what the service sends. */
  partsOf(schemas: Schemas): Record<string, unknown>
  /** Replaces what is in the examples of the document by what works. */
  fill<Document>(document: Document, examples: Examples): Document
}

type DocumentOptions<Examples> = {
  routes: readonly DocumentedRoute[]
  contract: RestContract<Examples>
  /** Address of the service, without a slash at its end. */
  publicUrl: string
  version: string
  examples?: Examples
}

const toPath = (url: string) => url.replace(/:(\w+)/g, '{$1}')

function toPaths(routes: readonly DocumentedRoute[], toOne: (schema: FastifySchema) => Operation) {
  const paths: Record<string, Record<string, Operation>> = {}
  for (const { method, url, schema } of routes)
    if (schema) paths[toPath(url)] = { ...paths[toPath(url)], [String(method).toLowerCase()]: toOne(schema) }
  return paths
}

/** Builds the OpenAPI 3.1 document of these routes. */
export function toOpenApiDocument<Examples>({
  routes,
  contract,
  publicUrl,
  version,
  examples,
}: DocumentOptions<Examples>) {
  const { title, description, tags, securitySchemes } = contract
  const schemas = createSchemas()
  const refusalsOf = refusalsWith(contract.refusals, schemas)
  const document = {
    openapi: '3.1.0',
    info: {
      title,
      version,
      description,
      contact: { name: 'Operator of the service', url: publicUrl },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl, description: 'This service.' }],
    tags,
    paths: toPaths(routes, (schema) => toOperation(schema, schemas, refusalsOf)),
    ...contract.partsOf(schemas),
    components: {
      securitySchemes,
      headers: { ...headerComponents, Link: { ...headerComponents.Link, example: contract.link } },
      schemas: schemas.components() as Record<string, object>,
    },
  }
  return examples ? contract.fill(document, examples) : document
}

export type OpenApiDocument = ReturnType<typeof toOpenApiDocument>
