import { beforeAll, expect, test } from 'vitest'
import { mustCheckOut } from '../../support/checkouts.ts'
import { money } from '../../support/contract-input.ts'
import { aDiscount, importDiscounts, times, withCode } from '../../support/discounts.ts'
import { anOrganization, aRate, aRateOf, integrationHeaders } from '../../support/factories.ts'
import { sharedSale } from '../../support/sale.ts'
import { payFor } from '../../support/tickets.ts'

const full = {
  _id: 'dsc_full',
  code: 'FULL',
  name: 'Everything',
  amount: 2.5,
  ticket_rate_ids: ['rate_1'],
  valid_from: '2020-01-01T00:00:00.000Z',
  valid_until: '2090-01-01T00:00:00.000Z',
  quantity: 10,
  max_per_checkout: 3,
}

let other: Record<string, string>
const sale = sharedSale({
  organizations: [
    anOrganization({ discounts: [full, aDiscount({ code: 'zero' }), aDiscount({ code: 'gone' })] }),
    anOrganization({ _id: 'org_2', name: 'Other', discounts: [aDiscount({ code: 'theirs' })] }),
  ],
  rates: [aRateOf(100), aRate({ _id: 'rate_2' })],
})
beforeAll(async () => {
  other = (await integrationHeaders(sale.db, 'org_2')).v2
})

const fields = `id code name percentage amount { amount currency } ticketRates { id } validFrom validUntil limit maxPerCheckout
  uses { held sold available }`
type Page = {
  discounts: {
    nodes: { id: string }[]
    pageInfo: { endCursor: string; hasNextPage: boolean }
  } | null
}
const list = (headers: Record<string, string>, args = 'first: 50') =>
  sale.graphql<Page>(
    `{ discounts(${args}) { nodes { ${fields} } pageInfo { endCursor hasNextPage } } }`,
    {},
    headers,
  )
const idsOf = async (headers: Record<string, string>, args?: string) =>
  (await list(headers, args)).data?.discounts?.nodes.map(({ id }) => id)

async function buy(code: string, count: number) {
  const checkout = await mustCheckOut(sale, withCode(code, 'rate_1', times(count)))
  await payFor(sale, checkout)
  return checkout
}

test('an integration lists the discounts of its organization with their uses', async () => {
  await buy('full', 2)
  await mustCheckOut(sale, withCode('full', 'rate_1', times(4)))
  const { data, errors } = await list(sale.integration.v2)
  expect(errors).toBeUndefined()
  expect(data?.discounts?.nodes).toEqual([
    {
      id: 'dsc_full',
      code: 'FULL',
      name: 'Everything',
      percentage: null,
      amount: { amount: '2.50', currency: 'EUR' },
      ticketRates: [{ id: 'rate_1' }],
      validFrom: full.valid_from,
      validUntil: full.valid_until,
      limit: 10,
      maxPerCheckout: 3,
      uses: { held: 3, sold: 2, available: 5 },
    },
    {
      id: 'dsc_zero',
      code: 'zero',
      name: 'zero',
      percentage: 10,
      amount: null,
      ticketRates: null,
      validFrom: null,
      validUntil: null,
      limit: null,
      maxPerCheckout: null,
      uses: { held: 0, sold: 0, available: null },
    },
    expect.objectContaining({ id: 'dsc_gone' }),
  ])
  expect(await idsOf(sale.integration.v1)).toEqual(['dsc_full', 'dsc_zero', 'dsc_gone'])
  expect(await idsOf(other)).toEqual(['dsc_theirs'])
})

test('a channel sees no discount, and neither does a stranger', async () => {
  const asked = await Promise.all([list(sale.channel), list({})])
  expect(asked.map(({ data, errors }) => [data, errors?.[0]?.extensions?.code])).toEqual([
    [{ discounts: null }, 'FORBIDDEN'],
    [{ discounts: null }, 'UNAUTHENTICATED'],
  ])
})

test('a list goes on after its cursor, and names what is wrong with another text', async () => {
  const first = await list(sale.integration.v2, 'first: 2')
  const { endCursor, hasNextPage } = first.data?.discounts?.pageInfo ?? {}
  expect(hasNextPage).toBe(true)
  expect(await idsOf(sale.integration.v2, `first: 2, after: "${endCursor}"`)).toEqual(['dsc_gone'])
  expect(await idsOf(other, `after: "${endCursor}"`)).toEqual([])
  for (const args of ['first: 0', 'first: 101', 'after: "x"', `after: "${btoa('1 ü')}"`])
    expect((await list(sale.integration.v2, args)).errors).toMatchObject([
      { extensions: { code: 'INVALID', path: args.slice(0, args.indexOf(':')) } },
    ])
})

test('a ticket shows its discount to an integration of its organization alone, even once it is removed', async () => {
  const { tickets, payment_id } = await buy('gone', 3)
  await importDiscounts(sale, [full, aDiscount({ code: 'zero' })])
  expect(await idsOf(sale.integration.v2)).toEqual(['dsc_full', 'dsc_zero'])
  const query = `query ($id: ID!) { payment(id: $id) { tickets { id amounts { discount { amount currency } }
    discount { id code uses { sold } } } } }`
  type Found = { payment: { tickets: { id: string; discount: object | null }[] } | null }
  const read = async (headers: Record<string, string>) =>
    (await sale.graphql<Found>(query, { id: payment_id }, headers)).data?.payment
  sale.statements.reset()
  const discount = { id: 'dsc_gone', code: 'gone', uses: { sold: 3 } }
  expect((await read(sale.integration.v2))?.tickets).toEqual(
    tickets.map(({ _id: id }) => ({ id, amounts: { discount: money(2) }, discount })),
  )
  // The key, the payment, its tickets, and the discounts of all of them.
  expect(sale.statements).toHaveLength(4)
  expect((await read(sale.channel))?.tickets.map(({ discount }) => discount)).toEqual([null, null, null])
  expect(await read(other)).toBeNull()
})

test('a list of discounts of any length takes 2 statements', async () => {
  await importDiscounts(
    sale,
    Array.from({ length: 100 }, (_, index) =>
      aDiscount({ code: `code-${index}`, ticket_rate_ids: index % 2 ? ['rate_1'] : ['rate_2', 'rate_1'] }),
    ),
  )
  const ratesWith = async (fields: string) => {
    const query = `{ discounts(first: 100) { nodes { ticketRates { ${fields} } } } }`
    type Found = { discounts: { nodes: { ticketRates: { id: string; name?: string }[] }[] } }
    const { data } = await sale.graphql<Found>(query, {}, sale.integration.v2)
    return data?.discounts.nodes.map(({ ticketRates }) => ticketRates) ?? []
  }
  sale.statements.reset()
  expect(await idsOf(sale.integration.v2, 'first: 100')).toHaveLength(100)
  expect(sale.statements).toHaveLength(2)
  sale.statements.reset()
  expect((await ratesWith('id'))[1]).toEqual([{ id: 'rate_1' }])
  expect(sale.statements).toHaveLength(2)
  sale.statements.reset()
  const rates = await ratesWith('id name')
  expect(rates.slice(0, 2)).toEqual([
    [
      { id: 'rate_2', name: 'Entrance' },
      { id: 'rate_1', name: 'Entrance' },
    ],
    [{ id: 'rate_1', name: 'Entrance' }],
  ])
  // All rates together.
  expect(sale.statements).toHaveLength(3)
})
