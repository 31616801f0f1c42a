import type { z } from 'zod'
import type { Problem } from '../../shared/errors.ts'
import { derivedId } from '../../shared/ids.ts'
import { identifier, problemsIn } from '../../shared/input-types.ts'
import { searchWords } from '../event/search-words.ts'
import {
  eventFile,
  locationFile,
  organizationFile,
  priceFile,
  questionFile,
  supplementFile,
  ticketRateFile,
  topOfFile,
} from './catalogue-file.ts'

export type Path = (string | number)[]

/** A well-formed thing of the file: where it stands, and whose it is. */
export type Entry<Given> = {
  path: Path
  id: string
  /** What it is called among its siblings: its slug, name or label. */
  key: string
  /** The event's id for a rate, the rate's for what it lists, the organization's for an event and a location. */
  parentId: string
  organizationId: string
  position: number
  given: Given
}

type Referred = 'organization' | 'location'

type EntriesOf<Type extends z.ZodType> = Entry<z.output<Type>>[]

/** A catalogue file, taken apart into lists of what is well formed in it, and its mistakes. */
export type Catalogue = {
  organizations: EntriesOf<typeof organizationFile>
  locations: EntriesOf<typeof locationFile>
  events: EntriesOf<typeof eventFile>
  ticketRates: EntriesOf<typeof ticketRateFile>
  prices: EntriesOf<typeof priceFile>
  supplements: EntriesOf<typeof supplementFile>
  questions: EntriesOf<typeof questionFile>
  /** Every `_id` of an organization or a location, of malformed ones too: a reference to one is no further mistake. */
  named: Record<Referred, Set<string>>
  /** What is referred to, and every amount, by malformed things too. */
  references: { kind: Referred; id: string; path: Path }[]
  amounts: { amount: number; organizationId: string; path: Path }[]
  problems: Problem[]
}

type Item = { raw: unknown; path: Path; position: number }
type Parent = { id: string; organizationId: string }

const fieldOf = (raw: unknown, name: string): unknown =>
  typeof raw === 'object' && raw !== null && name in raw ? (raw as Record<string, unknown>)[name] : undefined

function textIn(raw: unknown, name: string): string {
  const found = fieldOf(raw, name)
  return typeof found === 'string' ? found.trim() : ''
}

function itemsOf(holder: unknown, name: string, path: Path): Item[] {
  const list = fieldOf(holder, name)
  if (!Array.isArray(list)) return []
  return list.map((raw: unknown, position) => ({ raw, position, path: [...path, name, position] }))
}

const slugOf = ({ slug, name }: { slug: string | null; name: string }) =>
  slug ?? (searchWords(name).join('-') || 'untitled')

/** Takes a file apart. Each thing is parsed by itself, so that one that is malformed hides no other's mistakes. */
export function readCatalogue(json: unknown): Catalogue {
  const catalogue: Catalogue = {
    organizations: [],
    locations: [],
    events: [],
    ticketRates: [],
    prices: [],
    supplements: [],
    questions: [],
    named: { organization: new Set(), location: new Set() },
    references: [],
    amounts: [],
    problems: [],
  }

  function parse<Type extends z.ZodType>(type: Type, raw: unknown, path: Path): z.output<Type> | null {
    const parsed = type.safeParse(raw, { reportInput: true })
    if (parsed.success) return parsed.data
    for (const problem of problemsIn(parsed.error))
      catalogue.problems.push({ ...problem, path: [...path, ...(problem.path ?? [])] })
    return null
  }

  // Puts a thing into its list and returns its id. One that is malformed has the id that it was given, or its path
  // instead of one: nothing will be written, and what is inside it can still be checked.
  function enter<Given extends { _id?: string | null }>(
    entries: Entry<Given>[],
    prefix: Parameters<typeof derivedId>[0],
    type: z.ZodType<Given>,
    keyOf: (given: Given) => string,
    { raw, path, position }: Item,
    { id: parentId, organizationId }: Parent,
  ): string {
    const given = parse(type, raw, path)
    if (!given) return textIn(raw, '_id') || path.join('.')
    const key = keyOf(given)
    const id = given._id ?? derivedId(prefix, parentId, key)
    entries.push({ path, id, key, parentId, organizationId, position, given })
    return id
  }

  function refer(kind: Referred, { raw, path }: Item): string {
    const field = `${kind}_id`
    const id = identifier.safeParse(fieldOf(raw, field)).data ?? ''
    if (id) catalogue.references.push({ kind, id, path: [...path, field] })
    return id
  }

  function note(field: string, { raw, path }: Item, { organizationId }: Parent): void {
    const amount = fieldOf(raw, field)
    if (typeof amount === 'number' && Number.isFinite(amount))
      catalogue.amounts.push({ amount, organizationId, path: [...path, field] })
  }

  const { organizations, locations, events, ticketRates, prices, supplements, questions } = catalogue
  parse(topOfFile, json, [])
  for (const item of itemsOf(json, 'organizations', [])) {
    const id = textIn(item.raw, '_id')
    catalogue.named.organization.add(id)
    enter(organizations, 'org', organizationFile, slugOf, item, { id, organizationId: id })
  }
  for (const location of itemsOf(json, 'locations', [])) {
    const id = refer('organization', location)
    catalogue.named.location.add(textIn(location.raw, '_id'))
    enter(locations, 'loc', locationFile, ({ name }) => name, location, { id, organizationId: id })
  }
  for (const event of itemsOf(json, 'events', [])) {
    const organizationId = refer('organization', event)
    refer('location', event)
    const id = enter(events, 'evt', eventFile, slugOf, event, { id: organizationId, organizationId })
    for (const rate of itemsOf(event.raw, 'ticket_rates', event.path)) {
      const rateId = enter(ticketRates, 'rate', ticketRateFile, slugOf, rate, { id, organizationId })
      const inRate = { id: rateId, organizationId }
      const rateName = textIn(rate.raw, 'name')
      for (const item of itemsOf(rate.raw, 'prices', rate.path)) {
        enter(prices, 'price', priceFile, ({ name }) => name ?? rateName, item, inRate)
        note('price', item, inRate)
        if (fieldOf(item.raw, 'fee_type') === 'fixed') note('fee_quantity', item, inRate)
      }
      for (const item of itemsOf(rate.raw, 'supplements', rate.path)) {
        enter(supplements, 'sup', supplementFile, ({ label }) => label, item, inRate)
        note('price', item, inRate)
        note('fake_price', item, inRate)
      }
      for (const item of itemsOf(rate.raw, 'questions', rate.path))
        enter(questions, 'que', questionFile, ({ label }) => label, item, inRate)
    }
  }
  return catalogue
}
