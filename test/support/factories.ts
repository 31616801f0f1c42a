import { issueChannelKey, issueIntegrationKey } from '../../src/domain/caller/issue-key.ts'
import { newId } from '../../src/domain/contract/ids.ts'
import type { CatalogueFile } from '../../src/domain/import/catalogue-file.ts'
import type { Database } from '../../src/engine/database/database.ts'

// Builders of catalogue files whose rates are on sale by default. Each part has an `_id` for tests to refer
// to:
//   const rate = aRate({ availability: { sold: 0, available: 2 } })
//   await importCatalogue(db, aCatalogue({ events: [anEvent({ ticket_rates: [rate] })] }))
//   … ticket_rate_id: rate._id

type Listed<List> = NonNullable<List> extends (infer Item)[] ? Item : never
export type OrganizationFile = Listed<CatalogueFile['organizations']>
export type LocationFile = Listed<CatalogueFile['locations']>
export type EventFile = Listed<CatalogueFile['events']>
export type RateFile = Listed<EventFile['ticket_rates']>
export type PriceFile = Listed<RateFile['prices']>
export type SupplementFile = Listed<RateFile['supplements']>
export type QuestionFile = Listed<RateFile['questions']>

// Keeps `_id` a string even if a caller overrides it.
export type Given<File> = Partial<File> & { _id?: string }

/** ISO timestamp that many days from now. */
export const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

export const anOrganization = (given: Given<OrganizationFile> = {}) => ({
  _id: 'org_1',
  name: 'Sala Ñ',
  currency: 'EUR',
  platform_fee_percentage: 5,
  ...given,
})

export const aLocation = (given: Given<LocationFile> = {}) => ({
  _id: 'loc_1',
  organization_id: 'org_1',
  name: 'Sala Ñ',
  city: 'Madrid',
  country_code: 'ES',
  latitude: 40.4168,
  longitude: -3.7038,
  timezone: 'Europe/Madrid',
  ...given,
})

export const aPrice = (given: Given<PriceFile> = {}) => ({
  _id: newId('price'),
  name: 'General',
  price: 20,
  fee_type: 'percentage' as const,
  fee_quantity: 10,
  ...given,
})

export const aSupplement = (given: Given<SupplementFile> = {}) => ({
  _id: newId('sup'),
  label: 'Cloakroom',
  price: 2.5,
  ...given,
})

export const aQuestion = (given: Given<QuestionFile> = {}) => ({
  _id: newId('que'),
  label: 'How did you hear of us?',
  type: 'dropdown',
  required: false,
  items: ['A friend', 'The radio'],
  ...given,
})

/** 100 places, one price, no supplements and no questions. */
export const aRate = (given: Given<RateFile> = {}) => ({
  _id: newId('rate'),
  name: 'Entrance',
  availability: { sold: 0, available: 100 },
  prices: [aPrice()],
  supplements: [],
  questions: [],
  ...given,
})

/** A rate and its one price, named after it: `rate_table` at `price_table`. */
export const aRateNamed = (
  name: string | number,
  given: Given<RateFile> = {},
  price: Given<PriceFile> = {},
) => aRate({ _id: `rate_${name}`, prices: [aPrice({ _id: `price_${name}`, ...price })], ...given })

/** `rate_1` with the given availability and one price, `price_1`. */
export const aRateOf = (available: number, sold = 0) =>
  aRate({ _id: 'rate_1', prices: [aPrice({ _id: 'price_1' })], availability: { sold, available } })

/** An event in thirty days, with one rate. */
export const anEvent = (given: Given<EventFile> = {}) => ({
  _id: newId('evt'),
  name: 'Noche de Ñandú',
  organization_id: 'org_1',
  location_id: 'loc_1',
  start_date: inDays(30),
  end_date: inDays(30.25),
  ticket_rates: [aRate()],
  ...given,
})

/** One organization, one location, one event. */
export const aCatalogue = (given: CatalogueFile = {}) => ({
  organizations: [anOrganization()],
  locations: [aLocation()],
  events: [anEvent()],
  ...given,
})

/** Two organizations, each with an event and one rate: `rate_1` at `price_1`, `rate_2` at `price_2`. */
export const aCatalogueOfTwo = (available: number) =>
  aCatalogue({
    organizations: [anOrganization(), anOrganization({ _id: 'org_2', name: 'Other' })],
    events: [1, 2].map((number) =>
      anEvent({
        organization_id: `org_${number}`,
        location_id: undefined,
        ticket_rates: [
          aRate({
            _id: `rate_${number}`,
            prices: [aPrice({ _id: `price_${number}` })],
            availability: { sold: 0, available },
          }),
        ],
      }),
    ),
  })

/** Issues a key for a new channel with grants of these organizations. Returns its headers. */
export async function channelHeaders(db: Database, ...organizationIds: string[]) {
  const granted = organizationIds.length > 0 ? organizationIds : ['org_1']
  const { key } = await issueChannelKey(db, { name: 'Shop', organizationIds: granted, mode: 'live' })
  return { 'x-api-key': key }
}

/** Issues keys for a new integration. Returns the headers of both authentication methods. */
export async function integrationHeaders(db: Database, organizationId = 'org_1') {
  const issued = await issueIntegrationKey(db, { name: 'Door', organizationId, mode: 'live' })
  return {
    v1: { integration_id: issued.integrationId, secret: issued.secret ?? '' },
    v2: { 'x-api-key': issued.key },
  }
}
