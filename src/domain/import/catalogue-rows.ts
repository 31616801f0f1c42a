import type { z } from 'zod'
import { decimalsOf, toMinor } from '../../engine/base/money.ts'
import { derivedId } from '../contract/ids.ts'
import { refusal } from '../contract/problem-codes.ts'
import type { ListedDiscount } from '../discount/table.ts'
import { searchWords, toVector } from '../event/search-words.ts'
import type { events } from '../event/table.ts'
import type { Location } from '../location/table.ts'
import type { Organization } from '../organization/table.ts'
import type { ListedPrice, ListedRate, Question, QuestionOption, Supplement } from '../ticket-rate/table.ts'
import * as file from './catalogue-file.ts'
import { rateTypeOf } from './fields.ts'
import type { Catalogue, Path } from './read-catalogue.ts'

// Maps objects of the file to database rows.

/** Row of an object of the file. In it, undefined stays as it is, and null is the default of its column. */
export type Patch<Row> = { [Column in keyof Row]: Row[Column] | null | undefined }

type Input<Kind extends Exclude<keyof Catalogue, 'named' | 'problems'>> = Catalogue[Kind][number]

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name
type InColumns<Fields> = { [Name in keyof Fields & string as Camel<Name>]: Fields[Name] }

/** Gives the fields of an object of the file the names of their columns: most are the same. A field that is absent is
 *  undefined. */
const columnsOf = <Shape extends z.ZodRawShape>(
  { shape }: z.ZodObject<Shape>,
  input: z.output<z.ZodObject<Shape>> & Record<string, unknown>,
) =>
  Object.fromEntries(
    Object.keys(shape).map((field) => [
      field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      input[field],
    ]),
  ) as InColumns<z.output<z.ZodObject<Shape>>>

// Field of a nested object: absent with it, and cleared with it.
const within = <Part extends object, Field extends keyof Part>(
  part: Part | null | undefined,
  field: Field,
) => (part == null ? part : part[field])

/** Slug of an object of the file: the given one, else the one that is kept, else one that is derived from its name.
 *  Composed: the words of a name are decomposed for searching. */
export const slugOf = (
  { slug }: { slug?: string | null | undefined },
  key: string,
  kept?: { slug: string },
) => (slug === undefined && kept ? kept.slug : key).normalize('NFC').slice(0, 200)

// Refuses a field that what is kept of the row contradicts.
function mustAgree(agrees: boolean, path: Path, field: string, message: string): void {
  if (!agrees) throw refusal('INVALID', `${field} ${message}`, [...path, field])
}

export const organizationRow = (
  { id, key, input }: Input<'organizations'>,
  kept?: Organization,
): Patch<Omit<Organization, 'number'>> => ({
  ...columnsOf(file.organizationFile, input),
  id,
  slug: slugOf(input, key, kept),
  // Equal to the number that is stored already, because a file with another one is refused.
  decimals: decimalsOf(input.currency),
})

export function discountRow(
  { id, path, parentId, position, input }: Input<'discounts'>,
  kept: ListedDiscount | undefined,
  currency: string,
): Patch<ListedDiscount> {
  const { valid_from: from = kept?.validFrom, valid_until: until = kept?.validUntil } = input
  mustAgree(!(from && until && until <= from), path, 'valid_until', 'must be after valid_from.')
  return {
    ...columnsOf(file.discountFile, input),
    id,
    organizationId: parentId,
    position,
    name: input.name === undefined ? (kept?.name ?? input.code) : (input.name ?? input.code),
    // One of the two is given.
    percentage: input.percentage ?? null,
    amount: input.amount == null ? null : toMinor(input.amount, currency),
    currency,
    removed: false,
  }
}

/** Channel that an organization sells through at its door, and gives tickets away. It has the organization's
 *  id, and no key. */
export const ownChannelRow = ({ id, input }: Input<'organizations'>) => ({ id, name: input.name })

export const locationRow = ({ id, input }: Input<'locations'>): Patch<Location> => ({
  ...columnsOf(file.locationFile, input),
  id,
  // Both or none, so that null clears both.
  latitude: input.longitude === null ? null : input.latitude,
  longitude: input.latitude === null ? null : input.longitude,
})

type EventRow = Omit<typeof events.$inferSelect, 'revision' | 'calendarSequence' | 'scanSalt' | 'movedFrom'>

export const eventRow = ({ id, key, input }: Input<'events'>, kept?: EventRow): Patch<EventRow> => ({
  ...columnsOf(file.eventFile, input),
  id,
  slug: slugOf(input, key, kept),
  artists:
    input.artists === null
      ? null
      : input.artists?.map(({ name, image_url }) => ({ name, imageUrl: image_url ?? null })),
  iframeTagUrl: within(input.iframe, 'tag_url'),
  iframeScriptUrl: within(input.iframe, 'script_url'),
  searchWords: toVector(
    searchWords(input.name),
    (input.music_genres === undefined ? kept?.musicGenres : input.music_genres) ?? [],
  ),
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
    ...columnsOf(file.ticketRateFile, input),
    id,
    organizationId,
    eventId: parentId,
    position,
    slug: slugOf(input, key, kept),
    type,
    warrantyEnabled: within(input.warranty, 'enabled'),
    warrantyPercentage: within(input.warranty, 'percentage'),
    warrantyHours: within(input.warranty, 'hours'),
    removed: false,
  }
}

// Columns of what is listed under a rate.
const listed = ({ id, parentId, position }: Pick<Input<'prices'>, 'id' | 'parentId' | 'position'>) => ({
  id,
  ticketRateId: parentId,
  position,
  removed: false,
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
    ...columnsOf(file.priceFile, input),
    ...listed(entry),
    name: input.name === undefined ? (kept?.name ?? key) : key,
    amount: toMinor(input.price, currency),
    currency,
    feeQuantity: fee_quantity && type === 'fixed' ? toMinor(fee_quantity, currency) : fee_quantity,
  }
}

export const supplementRow = (
  { input, ...entry }: Input<'supplements'>,
  _kept: unknown,
  currency: string,
): Patch<Supplement> => ({
  ...columnsOf(file.supplementFile, input),
  ...listed(entry),
  amount: toMinor(input.price, currency),
  currency,
  fakeAmount: input.fake_price && toMinor(input.fake_price, currency),
})

export function questionRow({ input, path, ...entry }: Input<'questions'>, kept?: Question): Patch<Question> {
  const known = input.type ?? (input.items === undefined && input.type === undefined ? kept?.type : null)
  const type = known ?? (input.items?.length ? 'dropdown' : 'text')
  // A text is the choice that has this label already.
  const options = input.items?.map((item): QuestionOption => {
    const { id, label } = typeof item === 'string' ? { id: item, label: item } : item
    const same = typeof item === 'string' && kept?.options.find((option) => option.label === label)
    return same || { id: derivedId('opt', entry.id, id), label }
  })
  const isUnique = new Set(options?.map(({ id }) => id)).size === (options?.length ?? 0)
  mustAgree(isUnique, path, 'items', 'must be different choices.')
  return {
    ...columnsOf(file.questionFile, input),
    ...listed(entry),
    type,
    options: type === 'dropdown' ? input.items && options : [],
  }
}
