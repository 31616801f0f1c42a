import { toMinor } from '../../shared/money.ts'
import { searchWords, toVector } from '../event/search-words.ts'
import type { events } from '../event/table.ts'
import type { Location } from '../location/table.ts'
import type { Organization } from '../organization/table.ts'
import type { prices, Question, Supplement, ticketRates } from '../ticket-rate/table.ts'
import type { Catalogue } from './read-catalogue.ts'

// Maps objects of the file to database rows, with defaults for absent fields.

type Given<Kind extends Exclude<keyof Catalogue, 'named' | 'problems'>> = Catalogue[Kind][number]

export const organizationRow = ({ id, key, given }: Given<'organizations'>): Organization => ({
  id,
  name: given.name,
  slug: key,
  currency: given.currency,
  platformFeePercentage: given.platform_fee_percentage ?? 0,
})

export const locationRow = ({ id, given }: Given<'locations'>): Location => ({
  id,
  organizationId: given.organization_id,
  name: given.name,
  address: given.address,
  city: given.city,
  countryCode: given.country_code,
  latitude: given.latitude ?? null,
  longitude: given.longitude ?? null,
  timezone: given.timezone ?? 'UTC',
})

export const eventRow = ({
  id,
  key,
  given,
}: Given<'events'>): Omit<typeof events.$inferSelect, 'revision'> => ({
  id,
  organizationId: given.organization_id,
  locationId: given.location_id ?? null,
  name: given.name,
  slug: key,
  description: given.description,
  age: given.age,
  outfit: given.outfit,
  ambiences: given.ambiences ?? [],
  musicGenres: given.music_genres ?? [],
  artists: (given.artists ?? []).map(({ name, image_url }) => ({ name, imageUrl: image_url })),
  displayDate: given.display_date ?? null,
  startDate: given.start_date,
  endDate: given.end_date,
  imageUrl: given.image_url,
  iframeTagUrl: given.iframe?.tag_url ?? null,
  iframeScriptUrl: given.iframe?.script_url ?? null,
  searchWords: toVector(searchWords(given.name)),
})

export const ticketRateRow = ({
  id,
  key,
  parentId,
  organizationId,
  position,
  given,
}: Given<'ticketRates'>): typeof ticketRates.$inferSelect => ({
  id,
  organizationId,
  eventId: parentId,
  position,
  name: given.name,
  slug: key,
  validFrom: given.valid_from ?? null,
  complete: given.complete ?? false,
  type: given.type ?? (given.availability?.available == null ? 'unlimited' : 'limited'),
  min: given.min || null,
  max: given.max || null,
  showAllPrices: given.show_all_prices ?? true,
  warrantyEnabled: given.warranty?.enabled ?? false,
  warrantyPercentage: given.warranty?.percentage ?? 0,
  warrantyHours: given.warranty?.hours ?? 0,
  removed: false,
})

export const priceRow = (
  { id, key, parentId, position, given }: Given<'prices'>,
  currency: string,
): typeof prices.$inferSelect => ({
  id,
  ticketRateId: parentId,
  position,
  name: key,
  amount: toMinor(given.price, currency),
  currency,
  validUntil: given.valid_until ?? null,
  includes: given.includes,
  additionalInfo: given.additional_info,
  feeType: given.fee_type ?? 'percentage',
  feeQuantity:
    given.fee_type === 'fixed' ? toMinor(given.fee_quantity ?? 0, currency) : (given.fee_quantity ?? 0),
  removed: false,
})

export const supplementRow = (
  { id, parentId, position, given }: Given<'supplements'>,
  currency: string,
): Supplement => ({
  id,
  ticketRateId: parentId,
  position,
  label: given.label,
  amount: toMinor(given.price, currency),
  currency,
  hasFakePrice: given.has_fake_price ?? false,
  fakeAmount: given.fake_price == null ? null : toMinor(given.fake_price, currency),
  removed: false,
})

export const questionRow = ({ id, parentId, position, given }: Given<'questions'>): Question => ({
  id,
  ticketRateId: parentId,
  position,
  label: given.label,
  type: given.type ?? (given.items?.length ? 'dropdown' : 'text'),
  required: given.required ?? false,
  items: given.items ?? [],
  removed: false,
})
