import type { CatalogueFile } from '../../src/domain/import/catalogue-file.ts'
import { importCatalogue } from '../../src/domain/import/import-catalogue.ts'
import {
  aLocation,
  anEvent,
  anOrganization,
  aRateOf,
  channelHeaders,
  inDays,
  integrationHeaders,
  type RateFile,
} from './factories.ts'
import { type Gateway, type GatewayOptions, shared, startGateway } from './harness.ts'

type Headers = Record<string, string>

/** A gateway with a catalogue, a channel with grants of all its organizations, and an integration of the
 *  first. */
export type Sale = Gateway & { channel: Headers; integration: { v1: Headers; v2: Headers } }

/** Catalogue of a sale, and options of its gateway. By default it has one organization, one location, and one event
 *  whose doors are open, at which `rates` are sold, by default 100 places of `rate_1` at `price_1`. */
export type SaleFile = CatalogueFile & { rates?: RateFile[] } & GatewayOptions

/** Starts a gateway, imports the catalogue and issues the keys. */
export async function openSale(given: SaleFile = {}, more: GatewayOptions = {}): Promise<Sale> {
  const { rates = [aRateOf(100)], organizations, locations, events, ...options } = given
  const night = { _id: 'evt_1', start_date: inDays(0.1), end_date: inDays(0.35), ticket_rates: rates }
  const catalogue = {
    organizations: organizations ?? [anOrganization()],
    locations: locations ?? [aLocation()],
    events: events ?? [anEvent(night)],
  }
  const gateway = await startGateway({ ...options, ...more })
  const { db, statements } = gateway
  await importCatalogue(db, catalogue)
  const organizationIds = catalogue.organizations.map(({ _id }) => _id)
  const channel = await channelHeaders(db, ...organizationIds)
  const integration = await integrationHeaders(db, organizationIds[0])
  statements.reset()
  return { ...gateway, channel, integration }
}

/** Sale of all tests of a file, opened as `shared` does. */
export const sharedSale = (...given: Parameters<typeof openSale>): Sale => shared(() => openSale(...given))

/** Code and path of each problem in a REST response. */
export const restProblems = (answer: { json(): { errors: { code: string; path?: string }[] } }): string[] =>
  answer.json().errors.map(({ code, path }) => (path === undefined ? code : `${code} ${path}`))
