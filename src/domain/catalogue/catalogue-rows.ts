import { toMinor } from '../../shared/money.ts'
import type { ListedDiscount } from '../discount/table.ts'
import { searchWords, toVector } from '../event/search-words.ts'
import type { events } from '../event/table.ts'
import type { Location } from '../location/table.ts'
import type { Organization } from '../organization/table.ts'
import type { ListedPrice, Question } from '../ticket-rate/table.ts'
import { rateTypeOf } from './fields.ts'
import type { Catalogue } from './read-catalogue.ts'

// Maps objects of the file to database rows, with defaults for absent fields.

type Input<Kind extends Exclude<keyof Catalogue, 'named' | 'problems' | 'rateOrganizations'>> =
  Catalogue[Kind][number]

export const organizationRow = ({ id, key, input }: Input<'organizations'>): Organization => ({
  id,
  name: input.name,
  slug: key,
  currency: input.currency,
  language: input.language ?? 'en',
  platformFeePercentage: input.platform_fee_percentage ?? 0,
})

export const discountRow = (
  { id, parentId, position, input }: Input<'discounts'>,
  currency: string,
): ListedDiscount => ({
  id,
  organizationId: parentId,
  position,
  code: input.code,
  name: input.name ?? input.code,
  percentage: input.percentage ?? null,
  amount: input.amount == null ? null : toMinor(input.amount, currency),
  currency,
  ticketRateIds: input.ticket_rate_ids ?? [],
  validFrom: input.valid_from ?? null,
  validUntil: input.valid_until ?? null,
  maxPerCheckout: input.max_per_checkout || null,
  removed: false,
})

/** Channel that an organization sells through at its door, and gives tickets away. It has the organization's
 *  id, and no key. */
export const ownChannelRow = ({
  id,
  input: { name },
}: Input<'organizations'>): { id: string; name: string } => ({
  id,
  name,
})

export const locationRow = ({ id, input }: Input<'locations'>): Location => ({
  id,
  organizationId: input.organization_id,
  name: input.name,
  address: input.address,
  city: input.city,
  countryCode: input.country_code,
  latitude: input.latitude ?? null,
  longitude: input.longitude ?? null,
  timezone: input.timezone ?? 'UTC',
})

type EventRow = Omit<typeof events.$inferSelect, 'revision' | 'calendarSequence' | 'scanSalt' | 'movedFrom'>

export const eventRow = ({ id, key, input }: Input<'events'>): EventRow => ({
  id,
  organizationId: input.organization_id,
  locationId: input.location_id ?? null,
  name: input.name,
  slug: key,
  description: input.description,
  age: input.age,
  outfit: input.outfit,
  ambiences: input.ambiences ?? [],
  musicGenres: input.music_genres ?? [],
  artists: (input.artists ?? []).map(({ name, image_url }) => ({ name, imageUrl: image_url })),
  displayDate: input.display_date ?? null,
  startDate: input.start_date,
  endDate: input.end_date,
  imageUrl: input.image_url,
  iframeTagUrl: input.iframe?.tag_url ?? null,
  iframeScriptUrl: input.iframe?.script_url ?? null,
  searchWords: toVector(searchWords(input.name)),
})

export const ticketRateRow = ({ input, key, ...rate }: Input<'ticketRates'>) => ({
  id: rate.id,
  organizationId: rate.organizationId,
  eventId: rate.parentId,
  position: rate.position,
  name: input.name,
  slug: key,
  validFrom: input.valid_from ?? null,
  complete: input.complete ?? false,
  type: rateTypeOf(input.availability),
  min: input.min || null,
  max: input.max || null,
  admits: input.admits ?? null,
  transferable: input.transferable ?? null,
  showAllPrices: input.show_all_prices ?? true,
  warrantyEnabled: input.warranty?.enabled ?? false,
  warrantyPercentage: input.warranty?.percentage ?? 0,
  warrantyHours: input.warranty?.hours ?? 0,
  removed: false,
})

export const priceRow = (
  { id, key, parentId, position, input }: Input<'prices'>,
  currency: string,
): ListedPrice => ({
  id,
  ticketRateId: parentId,
  position,
  name: key,
  amount: toMinor(input.price, currency),
  currency,
  validUntil: input.valid_until ?? null,
  includes: input.includes,
  additionalInfo: input.additional_info,
  feeType: input.fee_type ?? 'percentage',
  feeQuantity:
    input.fee_type === 'fixed' ? toMinor(input.fee_quantity ?? 0, currency) : (input.fee_quantity ?? 0),
  removed: false,
})

export const supplementRow = ({ id, parentId, position, input }: Input<'supplements'>, currency: string) => ({
  id,
  ticketRateId: parentId,
  position,
  label: input.label,
  description: input.description,
  productQuantity: input.product_quantity ?? null,
  amount: toMinor(input.price, currency),
  currency,
  hasFakePrice: input.has_fake_price ?? false,
  fakeAmount: input.fake_price == null ? null : toMinor(input.fake_price, currency),
  removed: false,
})

export const questionRow = ({ id, parentId, position, input }: Input<'questions'>): Question => ({
  id,
  ticketRateId: parentId,
  position,
  label: input.label,
  type: input.type ?? (input.items?.length ? 'dropdown' : 'text'),
  required: input.required ?? false,
  items: input.items ?? [],
  removed: false,
})
