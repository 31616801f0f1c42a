import { type Problem, refuseIf } from '../../engine/base/errors.ts'
import { amountMistake, decimalsOf, isAmount, toMinor } from '../../engine/base/money.ts'
import { problem } from '../contract/problem-codes.ts'
import { slugOf } from './catalogue-rows.ts'
import { notTimezone } from './fields.ts'
import type { Existing, ExistingChild } from './find-existing.ts'
import type { Catalogue, Entry, Path } from './read-catalogue.ts'

// Minor units. Far beyond any ticket, and small enough that no total of a checkout exceeds a safe integer.
const maxAmount = 10_000_000_000

const invalid = (path: Path, message: string) => problem('INVALID', message, path)

// A message that begins with the name of the field.
const invalidField = (path: Path, field: string, message: string) =>
  invalid([...path, field], `${field} ${message}`)

// A longer list would bury the first mistakes.
const maxMistakes = 1_000

/** Refuses a file that has mistakes, with the first thousand of them and the number of the others. */
export function refuseMistakes(problems: Problem[]): void {
  const more = problems.length - maxMistakes
  const rest = problem('INVALID', `There are ${more} more mistakes, which are not listed.`)
  refuseIf([...problems.slice(0, maxMistakes), ...(more > 0 ? [rest] : [])])
}

/** Finds the mistakes of a file that need nothing else: malformed objects, and names that are there twice. */
export function checkCatalogue(catalogue: Catalogue): Problem[] {
  return [
    ...catalogue.problems,
    ...[
      catalogue.organizations,
      catalogue.locations,
      catalogue.events,
      [...catalogue.ticketRates, ...catalogue.prices, ...catalogue.discounts],
      catalogue.supplements,
      catalogue.questions,
    ].flatMap(findDuplicates),
    ...findDuplicateCodes(catalogue),
  ]
}

/** Finds mistakes that need the database as well: identifiers, references, currencies. */
export function compareCatalogue(catalogue: Catalogue, existing: Existing): Problem[] {
  return [
    ...findTakenIds(catalogue, existing),
    ...findTakenSlugs(catalogue, existing),
    ...findWrongReferences(catalogue, existing),
    ...findWrongAmounts(catalogue, existing),
    // A malformed event hides its rates.
    ...(catalogue.problems.length === 0 ? findForeignRates(catalogue, existing) : []),
  ]
}

// Lists the entries whose name an earlier one has, which is at `first`.
function findRepeated<Of extends Entry<unknown>>(entries: Of[], nameOf: (entry: Of) => string) {
  const seen = new Map<string, Path>()
  return entries.flatMap((entry) => {
    const first = seen.get(nameOf(entry))
    seen.set(nameOf(entry), first ?? entry.path)
    return first ? [{ ...entry, first: first.join('.') }] : []
  })
}

const findDuplicates = (entries: Entry<{ _id?: string | null }>[]): Problem[] =>
  findRepeated(entries, ({ id }) => id).map(({ id, path, input, first }) => {
    const sameName = `This has the same name as ${first}: give it an _id of its own.`
    return invalid([...path, '_id'], input._id ? `The identifier ${id} is also that of ${first}.` : sameName)
  })

// Discounts that a list no longer names are removed, so only those of one list can have the same code.
const findDuplicateCodes = ({ discounts }: Catalogue): Problem[] =>
  findRepeated(discounts, ({ parentId, input }) => `${parentId} ${input.code.toLowerCase()}`).map(
    ({ path, first }) => invalidField(path, 'code', `is also that of ${first}.`),
  )

// Removed rates are known too, so that nobody has to cut a rate whose sale has ended out of its discounts.
function findForeignRates(catalogue: Catalogue, existing: Existing): Problem[] {
  const ownerOf = new Map(catalogue.ticketRates.map(({ id, organizationId }) => [id, organizationId]))
  return catalogue.discounts.flatMap(({ path, parentId, input }) =>
    (input.ticket_rate_ids ?? []).flatMap((rateId, index) => {
      const owner = existing.discounted.get(rateId)?.parentId ?? ownerOf.get(rateId)
      return owner === parentId
        ? []
        : [invalid([...path, 'ticket_rate_ids', index], `The organization has no ticket rate ${rateId}.`)]
    }),
  )
}

function findTakenIds(catalogue: Catalogue, existing: Existing): Problem[] {
  type Known = Map<string, Pick<ExistingChild, 'parentId'>>
  const taken = (entries: Entry<unknown>[], known: Known, ...others: Known[]) =>
    entries
      .filter(
        ({ id, parentId }) =>
          others.some((other) => other.has(id)) || (known.get(id)?.parentId ?? parentId) !== parentId,
      )
      .map(({ id, path }) =>
        invalid(
          [...path, '_id'],
          `The identifier ${id} is taken: identifiers are unique in the whole service.`,
        ),
      )
  const { discounts, locations, events, ticketRates, prices, supplements, questions } = existing
  return [
    ...taken(catalogue.locations, locations),
    ...taken(catalogue.events, events),
    ...taken(catalogue.ticketRates, ticketRates, prices, discounts),
    ...taken(catalogue.discounts, discounts, ticketRates, prices),
    ...taken(catalogue.prices, prices, ticketRates, discounts),
    ...taken(catalogue.supplements, supplements),
    ...taken(catalogue.questions, questions),
  ]
}

// Slugs of organizations as they will be, so that two may exchange theirs.
function findTakenSlugs({ organizations }: Catalogue, existing: Existing): Problem[] {
  const named = new Set(organizations.map(({ id }) => id))
  const others = [...existing.organizations.values()].filter(({ id }) => !named.has(id))
  const ownerOf = new Map(others.map(({ id, slug }) => [slug, id]))
  return organizations.flatMap(({ id, key, path, input }) => {
    const slug = slugOf(input, key, existing.organizations.get(id))
    const owner = ownerOf.get(slug) ?? id
    ownerOf.set(slug, owner)
    return owner === id ? [] : [invalidField(path, 'slug', `must be another: ${slug} is that of ${owner}.`)]
  })
}

function findWrongReferences(catalogue: Catalogue, existing: Existing): Problem[] {
  const known = { organization: existing.organizations, location: existing.locations }
  const missing = (kind: keyof typeof known, id: string | null | undefined, { path }: Entry<unknown>) =>
    !id || catalogue.named[kind].has(id) || known[kind].has(id)
      ? []
      : [invalid([...path, `${kind}_id`], `There is no ${kind} ${id}, in the file or in the database.`)]
  const problems = [
    ...catalogue.locations.flatMap((location) => missing('organization', location.organizationId, location)),
    ...catalogue.events.flatMap((event) => [
      ...missing('organization', event.organizationId, event),
      ...missing('location', event.input.location_id, event),
    ]),
  ]
  for (const { path, input } of catalogue.locations)
    if (input.timezone && !existing.timezones.has(input.timezone))
      problems.push(invalidField(path, 'timezone', `${notTimezone}.`))
  for (const { path, input, parentId, organizationId } of catalogue.ticketRates) {
    if (input.event_id && input.event_id !== parentId)
      problems.push(invalidField(path, 'event_id', `must be ${parentId}, the event that contains the rate.`))
    if (input.organization_id && input.organization_id !== organizationId)
      problems.push(
        invalidField(path, 'organization_id', `must be ${organizationId}, the organization of the event.`),
      )
  }
  return problems
}

/** Currency of each known organization: from the database, else from the file. */
export const currenciesOf = (catalogue: Catalogue, existing: Existing): Map<string, string> =>
  new Map([
    ...catalogue.organizations.map(({ id, input }): [string, string] => [id, input.currency]),
    ...[...existing.organizations].map(([id, { currency }]): [string, string] => [id, currency]),
  ])

function findWrongAmounts(catalogue: Catalogue, existing: Existing): Problem[] {
  const problems = catalogue.organizations.flatMap(({ id, path, input }) => {
    const known = existing.organizations.get(id)
    if (!known) return []
    const { currency, decimals } = known
    const stays = `must stay ${currency}: the currency of an organization cannot change.`
    if (currency !== input.currency) return [invalidField(path, 'currency', stays)]
    if (decimals === decimalsOf(currency)) return []
    const message = `${currency} has ${decimalsOf(currency)} decimals, and amounts of this organization are stored with ${decimals}.`
    return [invalid([...path, 'currency'], message)]
  })

  const currencies = currenciesOf(catalogue, existing)
  function check({ path, organizationId }: Entry<unknown>, field: string, amount: number | null | undefined) {
    const currency = currencies.get(organizationId)
    if (!currency || amount == null) return
    if (toMinor(amount, currency) > maxAmount)
      problems.push(invalidField(path, field, `must be at most ${maxAmount} minor units.`))
    else if (!isAmount(amount, currency)) problems.push(invalidField(path, field, amountMistake(currency)))
  }
  for (const discount of catalogue.discounts) check(discount, 'amount', discount.input.amount)
  for (const price of catalogue.prices) {
    check(price, 'price', price.input.price)
    if (price.input.fee_type === 'fixed') check(price, 'fee_quantity', price.input.fee_quantity)
  }
  for (const supplement of catalogue.supplements) {
    check(supplement, 'price', supplement.input.price)
    check(supplement, 'fake_price', supplement.input.fake_price)
  }
  return problems
}
