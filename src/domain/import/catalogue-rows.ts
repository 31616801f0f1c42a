import { Refusal } from '../../shared/errors.ts'
import { decimalsOf, toMinor } from '../../shared/money.ts'
import type { ListedDiscount } from '../discount/table.ts'
import { searchWords, toVector } from '../event/search-words.ts'
import type { events } from '../event/table.ts'
import type { Location } from '../location/table.ts'
import type { Organization } from '../organization/table.ts'
import type { ListedPrice, ListedRate, Question, Supplement } from '../ticket-rate/table.ts'
import { rateTypeOf } from './fields.ts'
import type { Catalogue, Path } from './read-catalogue.ts'

// Maps objects of the file to database rows.

/** Row of an object of the file. In it, undefined stays as it is, and null is the default of its column. */
export type Patch<Row> = { [Column in keyof Row]: Row[Column] | null | undefined }

type Input<Kind extends Exclude<keyof Catalogue, 'named' | 'problems'>> = Catalogue[Kind][number]

// Field of a nested object: absent with it, and cleared with it.
const within = <Part extends object, Field extends keyof Part>(
  part: Part | null | undefined,
  field: Field,
): Part[Field] | null | undefined => (part == null ? part : part[field])

// Composed, also one that was derived from a name, whose words are decomposed for searching.
const slugOf = ({ slug }: { slug?: string | null | undefined }, key: string, kept?: { slug: string }) =>
  (slug === undefined && kept ? kept.slug : key).normalize('NFC').slice(0, 200)

// Refuses a field that what is kept of the row contradicts.
function mustAgree(agrees: boolean, path: Path, field: string, message: string): void {
  if (!agrees) throw new Refusal({ code: 'INVALID', message: `${field} ${message}`, path: [...path, field] })
}

export const organizationRow = (
  { id, key, input }: Input<'organizations'>,
  kept?: Organization,
): Patch<Organization> => ({
  id,
  name: input.name,
  slug: slugOf(input, key, kept),
  currency: input.currency,
  // The same as what is written already, else the file is refused.
  decimals: decimalsOf(input.currency),
  language: input.language,
  platformFeePercentage: input.platform_fee_percentage,
})

export function discountRow(
  { id, path, parentId, position, input }: Input<'discounts'>,
  kept: ListedDiscount | undefined,
  currency: string,
): Patch<ListedDiscount> {
  const { valid_from: from = kept?.validFrom, valid_until: until = kept?.validUntil } = input
  mustAgree(!(from && until && until <= from), path, 'valid_until', 'must be after valid_from.')
  return {
    id,
    organizationId: parentId,
    position,
    code: input.code,
    name: input.name === undefined ? (kept?.name ?? input.code) : (input.name ?? input.code),
    // One of the two is given.
    percentage: input.percentage ?? null,
    amount: input.amount == null ? null : toMinor(input.amount, currency),
    currency,
    ticketRateIds: input.ticket_rate_ids,
    validFrom: input.valid_from,
    validUntil: input.valid_until,
    maxPerCheckout: input.max_per_checkout,
    removed: false,
  }
}

/** Channel that an organization sells through at its door, and gives tickets away. It has the organization's
 *  id, and no key. */
export const ownChannelRow = ({ id, input }: Input<'organizations'>) => ({ id, name: input.name })

export const locationRow = ({ id, input }: Input<'locations'>): Patch<Location> => ({
  id,
  organizationId: input.organization_id,
  name: input.name,
  address: input.address,
  city: input.city,
  countryCode: input.country_code,
  // Both or none, so that null clears both.
  latitude: input.longitude === null ? null : input.latitude,
  longitude: input.latitude === null ? null : input.longitude,
  timezone: input.timezone,
})

type EventRow = Omit<typeof events.$inferSelect, 'revision' | 'calendarSequence' | 'scanSalt' | 'movedFrom'>

export const eventRow = ({ id, key, input }: Input<'events'>, kept?: EventRow): Patch<EventRow> => ({
  id,
  organizationId: input.organization_id,
  locationId: input.location_id,
  name: input.name,
  slug: slugOf(input, key, kept),
  description: input.description,
  age: input.age,
  minimumAge: input.minimum_age,
  outfit: input.outfit,
  ambiences: input.ambiences,
  musicGenres: input.music_genres,
  artists:
    input.artists === null
      ? null
      : input.artists?.map(({ name, image_url }) => ({ name, imageUrl: image_url ?? null })),
  displayDate: input.display_date,
  startDate: input.start_date,
  endDate: input.end_date,
  imageUrl: input.image_url,
  iframeTagUrl: within(input.iframe, 'tag_url'),
  iframeScriptUrl: within(input.iframe, 'script_url'),
  searchWords: toVector(searchWords(input.name)),
})

export function ticketRateRow(
  { id, key, path, parentId, organizationId, position, input }: Input<'ticketRates'>,
  kept?: ListedRate,
): Patch<ListedRate> {
  const { min = kept?.min, max = kept?.max } = input
  mustAgree(!(min && max && min > max), path, 'max', 'must be at least min.')
  const type = rateTypeOf(input.availability) ?? kept?.type ?? 'unlimited'
  mustAgree((input.type ?? type) === type, path, 'type', `must be ${type}, as the capacity of the rate says.`)
  return {
    id,
    organizationId,
    eventId: parentId,
    position,
    name: input.name,
    slug: slugOf(input, key, kept),
    validFrom: input.valid_from,
    complete: input.complete,
    type,
    min: input.min,
    max: input.max,
    admits: input.admits,
    transferable: input.transferable,
    showAllPrices: input.show_all_prices,
    warrantyEnabled: within(input.warranty, 'enabled'),
    warrantyPercentage: within(input.warranty, 'percentage'),
    warrantyHours: within(input.warranty, 'hours'),
    removed: false,
  }
}

// Columns of what is listed under a rate.
const listed = ({ id, parentId, position }: Pick<Input<'prices'>, 'id' | 'parentId' | 'position'>) => ({
  ...{ id, ticketRateId: parentId, position, removed: false },
})

export function priceRow(
  { key, path, input, ...entry }: Input<'prices'>,
  kept: ListedPrice | undefined,
  currency: string,
): Patch<ListedPrice> {
  const { fee_type, fee_quantity } = input
  const type = (fee_type === undefined ? kept?.feeType : fee_type) ?? 'percentage'
  // A quantity means another thing under another type.
  const isWhole = (fee_type === undefined) === (fee_quantity === undefined)
  const isSame = !kept || (type === kept.feeType && (type === 'percentage' || fee_type !== undefined))
  mustAgree(isWhole || isSame, path, 'fee_quantity', 'must be given where fee_type is, and only there.')
  return {
    ...listed(entry),
    name: input.name === undefined ? (kept?.name ?? key) : key,
    amount: toMinor(input.price, currency),
    currency,
    validUntil: input.valid_until,
    includes: input.includes,
    additionalInfo: input.additional_info,
    feeType: fee_type,
    feeQuantity: fee_quantity && type === 'fixed' ? toMinor(fee_quantity, currency) : fee_quantity,
  }
}

export const supplementRow = (
  { input, ...entry }: Input<'supplements'>,
  _kept: unknown,
  currency: string,
): Patch<Supplement> => ({
  ...listed(entry),
  label: input.label,
  description: input.description,
  productQuantity: input.product_quantity,
  amount: toMinor(input.price, currency),
  currency,
  hasFakePrice: input.has_fake_price,
  fakeAmount: input.fake_price && toMinor(input.fake_price, currency),
})

export function questionRow({ input, ...entry }: Input<'questions'>, kept?: Question): Patch<Question> {
  const known = input.type ?? (input.items === undefined && input.type === undefined ? kept?.type : null)
  const type = known ?? (input.items?.length ? 'dropdown' : 'text')
  return {
    ...listed(entry),
    label: input.label,
    type,
    required: input.required,
    items: type === 'dropdown' ? input.items : [],
  }
}
