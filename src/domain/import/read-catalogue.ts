import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import type { Problem } from '../../engine/base/errors.ts'
import { isStorableDate } from '../../engine/base/input-types.ts'
import { instruments } from '../../engine/base/instruments.ts'
import { parseOptions, problemsIn } from '../../engine/base/parse.ts'
import { hourMs } from '../../engine/base/timers.ts'
import { derivedId } from '../contract/ids.ts'
import { searchWords } from '../event/search-words.ts'
import * as file from './catalogue-file.ts'

// Made once for each zone, which takes long.
const formats = new Map<string, Intl.DateTimeFormat>()

// Moment that the clocks of a time zone show, as if it were in UTC. Swedish writes 2027-06-01 20:00:00.
function clockAt(moment: number, timeZone: string): number {
  const options = { timeZone, dateStyle: 'short', timeStyle: 'medium' } as const
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', options)
  formats.set(timeZone, format)
  return Date.parse(`${format.format(moment).replace(' ', 'T')}Z`)
}

// First moment of a day; on a day that has no midnight, the one after the gap.
function startOfDay(utc: number, timeZone: string): number {
  const offsetAt = (moment: number) => clockAt(moment, timeZone) - moment
  const guess = utc - offsetAt(utc)
  return Math.max(guess, utc - offsetAt(guess))
}

const begins = ['start_date', 'display_date', 'valid_from']
const ends = ['end_date', 'valid_until']

/** Replaces the plain dates of an object of the file, and of those in it, by moments at its venue: the first of the
 *  day, and of an end the last (DECISIONS 83). Leaves anything that is no date for the parser to refuse. */
function withMoments(raw: unknown, timeZone: string): unknown {
  if (Array.isArray(raw)) return raw.map((each) => withMoments(each, timeZone))
  if (typeof raw !== 'object' || raw === null) return raw
  const momentOf = ([field, value]: [string, unknown]) => {
    const isEnd = ends.includes(field)
    const isDate =
      typeof value === 'string' && (isEnd || begins.includes(field)) && z.regexes.date.test(value)
    if (!isDate) return [field, withMoments(value, timeZone)]
    const start = startOfDay(Date.parse(value) + (isEnd ? 24 * hourMs : 0), timeZone)
    const moment = new Date(isEnd ? start - 1 : start)
    return [field, isStorableDate(moment) ? moment.toISOString() : value]
  }
  return Object.fromEntries(Object.entries(raw).map(momentOf))
}

export type Path = (string | number)[]

/** A well-formed object of the file, with its path and its parents. */
export type Entry<Input> = {
  path: Path
  id: string
  /** Name among its siblings: slug, name or label. */
  key: string
  /** Event of a rate, rate of a price, supplement or question, organization of an event, location or
   *  discount. */
  parentId: string
  organizationId: string
  position: number
  input: Input
}

/** A catalogue file, flattened into lists of its well-formed objects, with its mistakes. */
export type Catalogue = Awaited<ReturnType<typeof readCatalogue>>

export const fieldOf = (raw: unknown, name: string): unknown =>
  typeof raw === 'object' && raw !== null && name in raw ? (raw as Record<string, unknown>)[name] : undefined

export function textIn(raw: unknown, name: string): string {
  const found = fieldOf(raw, name)
  return typeof found === 'string' ? found.trim() : ''
}

/** Objects of a list of the file, as they are given. */
export function itemsOf(json: unknown, name: string): { raw: unknown; path: Path }[] {
  const list = fieldOf(json, name)
  return Array.isArray(list) ? list.map((raw: unknown, position) => ({ raw, path: [name, position] })) : []
}

const slugOf = ({ slug, name }: { slug?: string | null; name: string }) =>
  slug ?? (searchWords(name).join('-') || 'untitled')

/** Identifier of an event of the file, which may be malformed. */
export const eventIdOf = (raw: unknown): string =>
  textIn(raw, '_id') ||
  derivedId(
    'evt',
    textIn(raw, 'organization_id'),
    slugOf({ slug: textIn(raw, 'slug') || null, name: textIn(raw, 'name') }),
  )

type Prefix = Parameters<typeof derivedId>[0]
type Named = { _id?: string | null }
type Parent = Pick<Entry<unknown>, 'id' | 'organizationId'>
/** Object that may have a list of objects under this name. */
type Holder<List extends string> = { [Name in List]?: Named[] | null | undefined }
type ItemOf<Of extends Holder<List>, List extends string> = NonNullable<Of[List]>[number]

function entryOf<Input extends Named>(
  prefix: Prefix,
  key: string,
  input: Input,
  path: Path,
  { id: parentId, organizationId }: Parent,
): Entry<Input> {
  const id = input._id ?? derivedId(prefix, parentId, key)
  return { path, id, key, parentId, organizationId, position: Number(path.at(-1)), input }
}

// Objects that are read in one turn of the event loop: the process may serve the database meanwhile.
const turnSize = 50

/** Flattens a file. Parses each object of its three lists by itself, with all that is in it, so that a malformed one
 *  hides no mistakes of others. `zoneOf` says the time zone of an event, whose plain dates are days there. */
export async function readCatalogue(json: unknown, zoneOf: (event: unknown) => string) {
  const problems: Problem[] = []

  function parse<Type extends z.ZodType>(type: Type, raw: unknown, path: Path): z.output<Type>[] {
    const parsed = type.safeParse(raw, parseOptions)
    if (parsed.success) return [parsed.data]
    for (const problem of problemsIn(parsed.error))
      problems.push({ ...problem, path: [...path, ...(problem.path ?? [])] })
    return []
  }

  // Entries of a list of the file.
  async function listed<Input extends Named>(
    list: 'organizations' | 'locations' | 'events',
    prefix: Prefix,
    type: z.ZodType<Input>,
    keyOf: (input: Input) => string,
    organizationOf: (input: Input) => string,
    zoneOf: (raw: unknown) => string = () => 'UTC',
  ): Promise<Entry<Input>[]> {
    const items = itemsOf(json, list)
    const entries: Entry<Input>[] = []
    for (const [done, { raw, path }] of items.entries()) {
      if (done % turnSize === 0) {
        instruments.progress?.(`read ${list}`, done, items.length)
        await setImmediate()
      }
      for (const input of parse(type, withMoments(raw, zoneOf(raw)), path)) {
        const organizationId = organizationOf(input)
        entries.push(entryOf(prefix, keyOf(input), input, path, { id: organizationId, organizationId }))
      }
    }
    return entries
  }

  // Entries of the lists of this name within objects.
  const within = <List extends string, Of extends Holder<List>>(
    holders: Entry<Of>[],
    list: List,
    prefix: Prefix,
    keyOf: (input: ItemOf<Of, List>, holder: Of) => string,
  ): Entry<ItemOf<Of, List>>[] =>
    holders.flatMap(({ path, input: holder, ...parent }) =>
      (holder[list] ?? []).map((input: ItemOf<Of, List>, position) =>
        entryOf(prefix, keyOf(input, holder), input, [...path, list, position], parent),
      ),
    )

  parse(file.topOfFile, json, [])
  const idsOf = (list: string) => new Set(itemsOf(json, list).map(({ raw }) => textIn(raw, '_id')))
  const ownerOf = ({ organization_id }: { organization_id: string }) => organization_id
  const organizations = await listed('organizations', 'org', file.organizationFile, slugOf, ({ _id }) => _id)
  const locations = await listed('locations', 'loc', file.locationFile, ({ name }) => name, ownerOf)
  const events = await listed('events', 'evt', file.eventFile, slugOf, ownerOf, zoneOf)
  const ticketRates = within(events, 'ticket_rates', 'rate', slugOf)
  return {
    organizations,
    locations,
    events,
    ticketRates,
    problems,
    // Even malformed ones, so that references to those are not reported too.
    named: { organization: idsOf('organizations'), location: idsOf('locations') },
    discounts: within(organizations, 'discounts', 'dsc', ({ code }) => code.toLowerCase()),
    prices: within(ticketRates, 'prices', 'price', ({ name }, rate) => name ?? rate.name),
    supplements: within(ticketRates, 'supplements', 'sup', ({ label }) => label),
    questions: within(ticketRates, 'questions', 'que', ({ label }) => label),
  }
}
