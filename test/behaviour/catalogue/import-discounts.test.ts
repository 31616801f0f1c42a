// Runs in: pglite, postgres

import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { discounts } from '../../../src/domain/discount/table.ts'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { mustCheckOut } from '../../support/checkouts.ts'
import { aDiscount, importDiscounts, times, usesOf, withCode } from '../../support/discounts.ts'
import { anEvent, anOrganization, aPrice, aRate } from '../../support/factories.ts'
import { importMistakes } from '../../support/imports.ts'
import { sharedSale } from '../../support/sale.ts'

const eventOf = (organization_id: string, rate: string) =>
  anEvent({
    _id: `evt_${organization_id}`,
    organization_id,
    location_id: null,
    ticket_rates: [aRate({ _id: rate, prices: [aPrice({ _id: rate.replace('rate', 'price') })] })],
  })

const sale = sharedSale({
  organizations: [
    anOrganization({ discounts: [aDiscount({ code: 'Kept', percentage: 50, quantity: 5 })] }),
    anOrganization({ _id: 'org_2', name: 'Other', discounts: [aDiscount({ code: 'theirs' })] }),
  ],
  events: [eventOf('org_1', 'rate_1'), eventOf('org_2', 'rate_2')],
})

const file = (...discounts: unknown[]) => ({ organizations: [{ ...anOrganization(), discounts }] })
const at = 'organizations.0.discounts'
const xor = 'amount must be given where percentage is not, and only there.'

test.each<[what: string, file: unknown, mistakes: string[]]>([
  [
    'an object instead of a list',
    { organizations: [{ ...anOrganization(), discounts: {} }] },
    [`${at}: discounts must be a list.`],
  ],
  ['an empty discount', file({}), [`${at}.0.code: This field is required.`, `${at}.0.amount: ${xor}`]],
  ['an unknown field', file({ ...aDiscount(), colour: 'red' }), [`${at}.0.colour: There is no such field.`]],
  ['a percentage and an amount', file(aDiscount({ percentage: 10, amount: 1 })), [`${at}.0.amount: ${xor}`]],
  ['neither a percentage nor an amount', file({ code: 'x' }), [`${at}.0.amount: ${xor}`]],
  [
    'a percentage over 100',
    file(aDiscount({ percentage: 101 })),
    [`${at}.0.percentage: percentage must be at most 100.`],
  ],
  ['a negative amount', file(aDiscount({ amount: -1 })), [`${at}.0.amount: amount must be at least 0.`]],
  [
    'an amount with too many decimals',
    file(aDiscount({ amount: 1.005 })),
    [`${at}.0.amount: amount must have at most 2 decimals, as EUR has.`],
  ],
  [
    'an amount beyond all prices',
    file(aDiscount({ amount: 1e12 })),
    [`${at}.0.amount: amount must be at most 10000000000 minor units.`],
  ],
  [
    'a code with spaces inside',
    file(aDiscount({ _id: 'dsc_a', code: 'a b' })),
    [`${at}.0.code: code must be 1 to 64 visible ASCII characters.`],
  ],
  [
    'codes that differ in their case alone',
    file(aDiscount({ _id: 'dsc_a', code: 'same' }), aDiscount({ _id: 'dsc_b', code: 'SAME' })),
    [`${at}.1.code: code is also that of ${at}.0.`],
  ],
  [
    'two discounts of one identifier',
    file(aDiscount({ _id: 'dsc_a', code: 'one' }), aDiscount({ _id: 'dsc_a', code: 'two' })),
    [`${at}.1._id: The identifier dsc_a is also that of ${at}.0.`],
  ],
  [
    'the identifier of another organization’s discount',
    file(aDiscount({ _id: 'dsc_theirs' })),
    [`${at}.0._id: The identifier dsc_theirs is taken: identifiers are unique in the whole service.`],
  ],
  [
    'the identifier of a rate',
    file(aDiscount({ _id: 'rate_1' })),
    [`${at}.0._id: The identifier rate_1 is taken: identifiers are unique in the whole service.`],
  ],
  [
    'the identifier of a price',
    file(aDiscount({ _id: 'price_2' })),
    [`${at}.0._id: The identifier price_2 is taken: identifiers are unique in the whole service.`],
  ],
  [
    'an end before the start',
    file(aDiscount({ valid_from: '2030-01-02', valid_until: '2030-01-01' })),
    [`${at}.0.valid_until: valid_until must be after valid_from.`],
  ],
  [
    'a negative quantity',
    file(aDiscount({ quantity: -1 })),
    [`${at}.0.quantity: quantity must be at least 0.`],
  ],
  [
    'half a ticket per checkout',
    file(aDiscount({ max_per_checkout: 0.5 })),
    [`${at}.0.max_per_checkout: max_per_checkout must be a whole number.`],
  ],
  [
    'rates that are absent or another organization’s',
    file(aDiscount({ ticket_rate_ids: ['rate_1', 'rate_2', 'rate_9'] })),
    [
      `${at}.0.ticket_rate_ids.1: The organization has no ticket rate rate_2.`,
      `${at}.0.ticket_rate_ids.2: The organization has no ticket rate rate_9.`,
    ],
  ],
  [
    'a rate that the same file gives to another organization',
    {
      organizations: file(aDiscount({ ticket_rate_ids: ['rate_new'] })).organizations,
      events: [
        anEvent({ organization_id: 'org_2', location_id: null, ticket_rates: [aRate({ _id: 'rate_new' })] }),
      ],
    },
    [`${at}.0.ticket_rate_ids.0: The organization has no ticket rate rate_new.`],
  ],
  [
    'a rate that is malformed itself, which is reported once',
    {
      organizations: file(aDiscount({ ticket_rate_ids: ['rate_new'] })).organizations,
      events: [anEvent({ location_id: null, ticket_rates: [{ ...aRate({ _id: 'rate_new' }), name: '' }] })],
    },
    ['events.0.ticket_rates.0.name: name must not be empty.'],
  ],
])('%s is refused with its place', async (_what, file, mistakes) => {
  expect(await importMistakes(sale.db, file)).toEqual(mistakes)
})

test('an identifier of a discount is refused for a rate, and for a price', async () => {
  const rates = (rate: object) => ({
    events: [anEvent({ location_id: null, ticket_rates: [{ ...aRate(), ...rate }] })],
  })
  expect(await importMistakes(sale.db, rates({ _id: 'dsc_kept' }))).toEqual([
    'events.0.ticket_rates.0._id: The identifier dsc_kept is taken: identifiers are unique in the whole service.',
  ])
  expect(await importMistakes(sale.db, rates({ prices: [aPrice({ _id: 'dsc_kept' })] }))).toEqual([
    'events.0.ticket_rates.0.prices.0._id: The identifier dsc_kept is taken: identifiers are unique in the whole service.',
  ])
})

test('a discount may be for a rate of the same file', async () => {
  const newRate = aRate({ _id: 'rate_same' })
  await importCatalogue(sale.db, {
    organizations: [
      anOrganization({
        _id: 'org_3',
        name: 'New',
        discounts: [aDiscount({ code: 'new', ticket_rate_ids: ['rate_same'] })],
      }),
    ],
    events: [anEvent({ organization_id: 'org_3', location_id: null, ticket_rates: [newRate] })],
  })
  const [row] = await sale.db.select().from(discounts).where(eq(discounts.id, 'dsc_new'))
  expect(row).toMatchObject({
    ticketRateIds: ['rate_same'],
    name: 'new',
    percentage: 10,
    amount: null,
    removed: false,
  })
})

test('an import keeps uses, and refuses a quantity below them', async () => {
  await mustCheckOut(sale, withCode('kept', 'rate_1', times(3)))
  const kept = (more = {}) => aDiscount({ code: 'Kept', percentage: 50, quantity: 5, ...more })
  expect(await importDiscounts(sale, [kept()])).toMatchObject({
    discounts: { added: 0, updated: 0, unchanged: 1, removed: 0 },
  })
  expect(await importMistakes(sale.db, file(kept({ quantity: 2 })))).toEqual([
    `${at}.0.quantity: The capacity would be 2, which is less than the 3 already sold or held.`,
  ])
  await importDiscounts(sale, [kept({ quantity: 3, name: 'Half off' })])
  expect(await usesOf(sale, 'dsc_kept')).toEqual({ held: 3, sold: 0 })
})

test('a list without a discount removes it, no list leaves it, and its code is free for another', async () => {
  await importCatalogue(sale.db, { organizations: [anOrganization()] })
  const removedOf = async (id: string) =>
    (await sale.db.select().from(discounts).where(eq(discounts.id, id)))[0]?.removed
  expect(await removedOf('dsc_kept')).toBe(false)
  expect(
    await importDiscounts(sale, [aDiscount({ _id: 'dsc_other', code: 'KEPT', percentage: 25 })]),
  ).toMatchObject({
    discounts: { added: 1, removed: 1 },
  })
  expect(await removedOf('dsc_kept')).toBe(true)
  expect(await mustCheckOut(sale, withCode('kept'))).toMatchObject({ total_amount: 16.5 })
  expect(await usesOf(sale, 'dsc_other')).toEqual({ held: 1, sold: 0 })
  // It returns when it is named again, with its uses.
  await importDiscounts(sale, [aDiscount({ code: 'Kept', percentage: 50, quantity: 5 })])
  expect(await removedOf('dsc_kept')).toBe(false)
  expect(await usesOf(sale, 'dsc_kept')).toEqual({ held: 3, sold: 0 })
})

test('a discount without an identifier is found again by its code', async () => {
  const named = { code: 'Unnamed', percentage: 1 }
  expect(await importDiscounts(sale, [named])).toMatchObject({ discounts: { added: 1 } })
  expect(await importDiscounts(sale, [{ ...named, code: 'UNNAMED' }])).toMatchObject({
    discounts: { added: 0, updated: 1 },
  })
})
