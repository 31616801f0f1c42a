import { z } from 'zod'
import type { Problem } from '../../shared/errors.ts'
import { derivedId } from '../../shared/ids.ts'
import { identifier, isStorableDate, parseOptions, problemsIn } from '../../shared/input-types.ts'
import { hour } from '../event/local-time.ts'
import { searchWords } from '../event/search-words.ts'
import * as file from './catalogue-file.ts'
import { discountFile, locationFile, organizationFile } from './catalogue-file.ts'

// Moment that the clocks of a time zone show, as if it were in UTC. Swedish writes 2027-06-01 20:00:00.
function clockAt(moment: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
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

/** Replaces the plain dates of an object of the file by moments at its venue: the first of the day, and of an end
 *  the last (DECISIONS 221). Leaves anything that is no date for the parser to refuse. */
function withMoments(raw: unknown, timeZone: string): unknown {
  if (typeof raw !== 'object' || raw === null) return raw
  const momentOf = ([field, value]: [string, unknown]) => {
    const isEnd = ends.includes(field)
    const day = isEnd || begins.includes(field) ? z.iso.date().safeParse(value).data : undefined
    if (day === undefined) return [field, value]
    const start = startOfDay(Date.parse(day) + (isEnd ? 24 * hour : 0), timeZone)
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

type Referred = 'organization' | 'location'

type EntriesOf<Type extends z.ZodType> = Entry<z.output<Type>>[]

/** A catalogue file, flattened into lists of its well-formed objects, with its mistakes. */
export type Catalogue = {
  organizations: EntriesOf<typeof organizationFile>
  discounts: EntriesOf<typeof discountFile>
  locations: EntriesOf<typeof locationFile>
  events: EntriesOf<typeof file.eventFile>
  ticketRates: EntriesOf<typeof file.ticketRateFile>
  prices: EntriesOf<typeof file.priceFile>
  supplements: EntriesOf<typeof file.supplementFile>
  questions: EntriesOf<typeof file.questionFile>
  /** Every `_id` of an organization or location, even malformed ones, so that references to those are not
   *  reported too. */
  named: Record<Referred, Set<string>>
  /** All references and amounts, including those of malformed objects. */
  references: { kind: Referred; id: string; path: Path }[]
  amounts: { amount: number; organizationId: string; path: Path }[]
  /** Organization of each rate in the file, even of malformed ones; '' if it is malformed itself. */
  rateOrganizations: Map<string, string>
  problems: Problem[]
}

type Item = { raw: unknown; path: Path; position: number }
type Parent = { id: string; organizationId: string }

export const fieldOf = (raw: unknown, name: string): unknown =>
  typeof raw === 'object' && raw !== null && name in raw ? (raw as Record<string, unknown>)[name] : undefined

export function textIn(raw: unknown, name: string): string {
  const found = fieldOf(raw, name)
  return typeof found === 'string' ? found.trim() : ''
}

export function itemsOf(holder: unknown, name: string, path: Path, timezone?: string): Item[] {
  const list = fieldOf(holder, name)
  if (!Array.isArray(list)) return []
  return list.map((raw: unknown, position) => ({
    raw: timezone ? withMoments(raw, timezone) : raw,
    position,
    path: [...path, name, position],
  }))
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

/** Flattens a file. Parses each object by itself, so that a malformed one hides no mistakes of others. `zoneOf` says
 *  the time zone of an event, whose plain dates are days there. */
export function readCatalogue(json: unknown, zoneOf: (event: unknown) => string): Catalogue {
  const catalogue: Catalogue = {
    organizations: [],
    discounts: [],
    locations: [],
    events: [],
    ticketRates: [],
    prices: [],
    supplements: [],
    questions: [],
    named: { organization: new Set(), location: new Set() },
    references: [],
    amounts: [],
    rateOrganizations: new Map(),
    problems: [],
  }

  function parse<Type extends z.ZodType>(type: Type, raw: unknown, path: Path): z.output<Type> | null {
    const parsed = type.safeParse(raw, parseOptions)
    if (parsed.success) return parsed.data
    for (const problem of problemsIn(parsed.error))
      catalogue.problems.push({ ...problem, path: [...path, ...(problem.path ?? [])] })
    return null
  }

  // Adds an object to its list and returns its id. A malformed one returns its own `_id`, or its path:
  // nothing will be written, but its children can still be checked.
  function addEntry<Input extends { _id?: string | null }>(
    entries: Entry<Input>[],
    prefix: Parameters<typeof derivedId>[0],
    type: z.ZodType<Input>,
    keyOf: (input: Input) => string,
    { raw, path, position }: Item,
    { id: parentId, organizationId }: Parent,
  ): string {
    const input = parse(type, raw, path)
    if (!input) return textIn(raw, '_id') || path.join('.')
    const key = keyOf(input)
    const id = input._id ?? derivedId(prefix, parentId, key)
    entries.push({ path, id, key, parentId, organizationId, position, input })
    return id
  }

  function addReference(kind: Referred, { raw, path }: Item): string {
    const field = `${kind}_id`
    const id = identifier.safeParse(fieldOf(raw, field)).data ?? ''
    if (id) catalogue.references.push({ kind, id, path: [...path, field] })
    return id
  }

  function addAmount(field: string, { raw, path }: Item, { organizationId }: Parent): void {
    const amount = fieldOf(raw, field)
    if (typeof amount === 'number' && Number.isFinite(amount))
      catalogue.amounts.push({ amount, organizationId, path: [...path, field] })
  }

  const { organizations, discounts, locations, events, ticketRates, prices, supplements, questions } =
    catalogue
  parse(file.topOfFile, json, [])
  for (const item of itemsOf(json, 'organizations', [])) {
    const id = textIn(item.raw, '_id')
    catalogue.named.organization.add(id)
    const inOrganization = { id, organizationId: id }
    addEntry(organizations, 'org', organizationFile, slugOf, item, inOrganization)
    for (const discount of itemsOf(item.raw, 'discounts', item.path, 'UTC')) {
      addEntry(discounts, 'dsc', discountFile, ({ code }) => code.toLowerCase(), discount, inOrganization)
      addAmount('amount', discount, inOrganization)
    }
  }
  for (const location of itemsOf(json, 'locations', [])) {
    const id = addReference('organization', location)
    catalogue.named.location.add(textIn(location.raw, '_id'))
    addEntry(locations, 'loc', locationFile, ({ name }) => name, location, { id, organizationId: id })
  }
  for (const { raw, ...place } of itemsOf(json, 'events', [])) {
    const timezone = zoneOf(raw)
    const event = { ...place, raw: withMoments(raw, timezone) }
    const organizationId = addReference('organization', event)
    addReference('location', event)
    const id = addEntry(events, 'evt', file.eventFile, slugOf, event, { id: organizationId, organizationId })
    for (const rate of itemsOf(event.raw, 'ticket_rates', event.path, timezone)) {
      const rateId = addEntry(ticketRates, 'rate', file.ticketRateFile, slugOf, rate, { id, organizationId })
      const inRate = { id: rateId, organizationId }
      catalogue.rateOrganizations.set(rateId, organizationId)
      const rateName = textIn(rate.raw, 'name')
      for (const item of itemsOf(rate.raw, 'prices', rate.path, timezone)) {
        addEntry(prices, 'price', file.priceFile, ({ name }) => name ?? rateName, item, inRate)
        addAmount('price', item, inRate)
        if (fieldOf(item.raw, 'fee_type') === 'fixed') addAmount('fee_quantity', item, inRate)
      }
      for (const item of itemsOf(rate.raw, 'supplements', rate.path)) {
        addEntry(supplements, 'sup', file.supplementFile, ({ label }) => label, item, inRate)
        addAmount('price', item, inRate)
        addAmount('fake_price', item, inRate)
      }
      for (const item of itemsOf(rate.raw, 'questions', rate.path))
        addEntry(questions, 'que', file.questionFile, ({ label }) => label, item, inRate)
    }
  }
  return catalogue
}
