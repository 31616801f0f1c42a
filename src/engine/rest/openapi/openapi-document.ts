import type { FastifySchema } from 'fastify'
import { service } from '../../base/service.ts'
import { headerComponents } from './headers.ts'
import { createSchemas, type Schemas } from './json-schemas.ts'
import { type Operation, toOperation } from './operation.ts'
import { type Refusals, refusalsWith } from './refusals.ts'

export type DocumentedRoute = { method: string | string[]; url: string; schema?: FastifySchema }

/** Texts of the product about its interface, in the terms of OpenAPI. */
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
  /** Icon of the page, as SVG. */
  icon: string
  /** Keys that fill the page, by the names of their security schemes. */
  keysOf(examples: Examples): Record<string, string>
}

const toPath = (url: string) => url.replace(/:(\w+)/g, '{$1}')

function toPaths(routes: readonly DocumentedRoute[], toOne: (schema: FastifySchema) => Operation) {
  const paths: Record<string, Record<string, Operation>> = {}
  for (const { method, url, schema } of routes)
    if (schema) paths[toPath(url)] = { ...paths[toPath(url)], [String(method).toLowerCase()]: toOne(schema) }
  return paths
}

/** Builds the OpenAPI 3.1 document of these routes. `url` is the address of the service, without a slash at its end. */
export function toOpenApiDocument<Examples>(
  contract: RestContract<Examples>,
  routes: readonly DocumentedRoute[],
  url: string,
) {
  const { title, description, tags, securitySchemes } = contract
  const schemas = createSchemas()
  const refusalsOf = refusalsWith(contract.refusals, schemas)
  return {
    openapi: '3.1.0',
    info: {
      title,
      version: service.version,
      description,
      contact: { name: 'Operator of the service', url },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url, description: 'This service.' }],
    tags,
    paths: toPaths(routes, (schema) => toOperation(schema, schemas, refusalsOf)),
    ...contract.partsOf(schemas),
    components: {
      securitySchemes,
      headers: { ...headerComponents, Link: { ...headerComponents.Link, example: contract.link } },
      schemas: schemas.components() as Record<string, object>,
    },
  }
}

export type OpenApiDocument = ReturnType<typeof toOpenApiDocument>
