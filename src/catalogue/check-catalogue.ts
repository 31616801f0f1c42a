import type { Problem } from '../errors.ts'
import { decimalsOf, isAmount, toMinor } from '../money.ts'
import type { Existing, ExistingChild } from './find-existing.ts'
import type { Catalogue, Entry, Path } from './read-catalogue.ts'

// Far beyond any ticket, and small enough that no sum of a checkout leaves the integers.
const largestAmount = 10_000_000_000

const invalid = (path: Path, message: string): Problem => ({ code: 'INVALID', message, path })

/** The mistakes that only the whole file and the database tell: identifiers, references, currencies. */
export function checkCatalogue(catalogue: Catalogue, existing: Existing): Problem[] {
  return [
    ...[
      catalogue.organizations,
      catalogue.locations,
      catalogue.events,
      [...catalogue.ticketRates, ...catalogue.prices],
      catalogue.supplements,
      catalogue.questions,
    ].flatMap(duplicates),
    ...takenIds(catalogue, existing),
    ...wrongReferences(catalogue, existing),
    ...wrongAmounts(catalogue, existing),
  ]
}

function duplicates(entries: Entry<{ _id?: string | null }>[]): Problem[] {
  const seen = new Map<string, Path>()
  return entries.flatMap(({ id, path, given }) => {
    const first = seen.get(id)
    seen.set(id, first ?? path)
    if (!first) return []
    const message = given._id
      ? `The identifier ${id} is also that of ${first.join('.')}.`
      : `This has the same name as ${first.join('.')}: give it an _id of its own.`
    return [invalid([...path, '_id'], message)]
  })
}

function takenIds(catalogue: Catalogue, existing: Existing): Problem[] {
  const taken = (
    entries: Entry<unknown>[],
    parentOf: (id: string) => string | undefined,
    others?: Map<string, ExistingChild>,
  ) =>
    entries
      .filter(({ id, parentId }) => others?.has(id) || (parentOf(id) ?? parentId) !== parentId)
      .map(({ id, path }) => invalid([...path, '_id'], `The identifier ${id} is taken.`))
  const { locations, events, ticketRates, prices, supplements, questions } = existing
  return [
    ...taken(catalogue.locations, (id) => locations.get(id)),
    ...taken(catalogue.events, (id) => events.get(id)),
    ...taken(catalogue.ticketRates, (id) => ticketRates.get(id)?.parentId, prices),
    ...taken(catalogue.prices, (id) => prices.get(id)?.parentId, ticketRates),
    ...taken(catalogue.supplements, (id) => supplements.get(id)?.parentId),
    ...taken(catalogue.questions, (id) => questions.get(id)?.parentId),
  ]
}

function wrongReferences(catalogue: Catalogue, existing: Existing): Problem[] {
  const problems: Problem[] = []
  const unknown = (kind: string, id: string) => `There is no ${kind} ${id}, in the file or in the database.`
  for (const { path, given } of [...catalogue.locations, ...catalogue.events]) {
    const id = given.organization_id
    if (!catalogue.named.has(id) && !existing.organizations.has(id))
      problems.push(invalid([...path, 'organization_id'], unknown('organization', id)))
  }
  for (const { path, given } of catalogue.events) {
    const id = given.location_id
    if (id && !catalogue.named.has(id) && !existing.locations.has(id))
      problems.push(invalid([...path, 'location_id'], unknown('location', id)))
  }
  for (const { path, given, parentId, organizationId } of catalogue.ticketRates) {
    if (given.event_id && given.event_id !== parentId)
      problems.push(invalid([...path, 'event_id'], `The rate stands in the event ${parentId}.`))
    if (given.organization_id && given.organization_id !== organizationId)
      problems.push(
        invalid([...path, 'organization_id'], `The event is of the organization ${organizationId}.`),
      )
  }
  return problems
}

/** The currency of each organization that is known: as the database has it, else as the file says. */
export const currenciesOf = (catalogue: Catalogue, existing: Existing): Map<string, string> =>
  new Map([
    ...catalogue.organizations.map(({ id, given }): [string, string] => [id, given.currency]),
    ...existing.organizations,
  ])

function wrongAmounts(catalogue: Catalogue, existing: Existing): Problem[] {
  const problems: Problem[] = []
  for (const { id, path, given } of catalogue.organizations) {
    const currency = existing.organizations.get(id)
    if (currency && currency !== given.currency)
      problems.push(invalid([...path, 'currency'], `The organization is in ${currency}, and stays so.`))
  }

  const currencies = currenciesOf(catalogue, existing)
  function check({ organizationId, path }: Entry<unknown>, field: string, amount: number): void {
    const currency = currencies.get(organizationId)
    if (!currency) return
    if (toMinor(amount, currency) > largestAmount)
      problems.push(invalid([...path, field], `${field} must be at most ${largestAmount} minor units.`))
    else if (!isAmount(amount, currency))
      problems.push(
        invalid(
          [...path, field],
          `${field} must have at most ${decimalsOf(currency)} decimals, as ${currency} has.`,
        ),
      )
  }
  for (const price of catalogue.prices) {
    check(price, 'price', price.given.price)
    if (price.given.fee_type === 'fixed') check(price, 'fee_quantity', price.given.fee_quantity ?? 0)
  }
  for (const supplement of catalogue.supplements) {
    check(supplement, 'price', supplement.given.price)
    check(supplement, 'fake_price', supplement.given.fake_price ?? 0)
  }
  return problems
}
