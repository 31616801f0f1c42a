import { eq } from 'drizzle-orm'
import { importCatalogue } from '../../src/domain/import/import-catalogue.ts'
import { payments } from '../../src/domain/payment/table.ts'
import { anEntry, checkOut, checkOutOverGraphql, countersOf } from './checkouts.ts'
import { toFlatPath } from './contract-input.ts'
import { anOrganization, type OrganizationFile } from './factories.ts'
import { endHolds } from './queued-payments.ts'
import { restProblems, type Sale } from './sale.ts'

export type DiscountFile = NonNullable<OrganizationFile['discounts']>[number]

/** Code in lower case, 10 % off, no limits. */
export const aDiscount = (given: Partial<DiscountFile> = {}): DiscountFile => {
  const { code = 'ten' } = given
  const off = given.amount == null ? { percentage: 10 } : {}
  return { _id: `dsc_${code.toLowerCase()}`, code, ...off, ...given }
}

/** Imports the organization anew, with these discounts and no others. */
export const importDiscounts = (sale: Sale, discounts: unknown[], organization = {}) =>
  importCatalogue(sale.db, { organizations: [{ ...anOrganization(organization), discounts }] })

/** Body of a checkout with a code, of `count` tickets at one price or at the given ones. */
export const withCode = (
  discount_code: string | null,
  rate = 'rate_1',
  prices: string[] = [rate.replace('rate', 'price')],
) => ({ ticket_rate_id: rate, tickets: prices.map((price) => anEntry(price)), discount_code })

export const times = (count: number, price = 'price_1') => Array.from({ length: count }, () => price)

/** Sends a checkout that must be refused, by REST and by GraphQL, with the same reasons. Returns code and path
 *  of each, with the REST response. */
export async function refusedOnBoth(sale: Sale, body: Parameters<typeof checkOut>[1]) {
  const answer = await checkOut(sale, body)
  const { errors = [] } = await checkOutOverGraphql(sale, body)
  const problems = restProblems(answer)
  const inGraphql = errors.map(
    ({ code, path }) =>
      `${code} ${path && toFlatPath(path).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
  )
  if (inGraphql.join() !== problems.join())
    throw new Error(`REST refuses ${problems}, and GraphQL ${inGraphql}`)
  return { problems, rest: answer.json().errors[0], graphql: errors[0], status: answer.statusCode }
}

/** Counters of the uses of a discount. */
export const usesOf = async (sale: Sale, id: string) => (await countersOf(sale))[id]

/** Moves the expiry of all unpaid payments into the past. */
export const lapseAll = (sale: Sale) => endHolds(sale.db, eq(payments.status, 'pending'))
