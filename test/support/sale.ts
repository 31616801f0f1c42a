import type { CatalogueFile } from '../../src/domain/import/catalogue-file.ts'
import { importCatalogue } from '../../src/domain/import/import-catalogue.ts'
import { channelHeaders, integrationHeaders } from './factories.ts'
import { type Gateway, type GatewayOptions, startGateway } from './harness.ts'

type Headers = Record<string, string>

/** A gateway with a catalogue, a channel with grants of all its organizations, and an integration of the
 *  first. */
export type Sale = Gateway & { channel: Headers; integration: { v1: Headers; v2: Headers } }

/** Starts a gateway, imports the catalogue and issues the keys. */
export async function openSale(catalogue: CatalogueFile, options: GatewayOptions = {}): Promise<Sale> {
  const gateway = await startGateway(options)
  const { db, statements } = gateway
  await importCatalogue(db, catalogue)
  const organizationIds = (catalogue.organizations ?? []).map(({ _id }) => _id)
  const channel = await channelHeaders(db, ...organizationIds)
  const integration = await integrationHeaders(db, organizationIds[0])
  statements.reset()
  return { ...gateway, channel, integration }
}

/** Code and path of each problem in a REST response. */
export const restProblems = (answer: { json(): { errors: { code: string; path?: string }[] } }): string[] =>
  answer.json().errors.map(({ code, path }) => (path === undefined ? code : `${code} ${path}`))
