// Runs in: postgres, slow-forms

import { expect, test } from 'vitest'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { anEntry, checkOut } from '../../support/checkouts.ts'
import { anEvent, aPrice, aRate } from '../../support/factories.ts'
import { sharedSale } from '../../support/sale.ts'

// Ages that an event gives in words, and slugs that it is found by.

const sale = sharedSale({ events: [] })

const tenYearsOld = `${new Date().getUTCFullYear() - 10}-01-02`

const ages: [age: string | null, minimum_age: number | null | undefined, minimum: number | null][] = [
  ['18', undefined, 18],
  ['+18', undefined, 18],
  ['18+ (menores de 16 acompañados)', undefined, 18],
  ['１８歳以上', undefined, 18],
  ['١٨ سنة', undefined, 18],
  ['۱۸+', undefined, 18],
  ['१८ वर्ष', undefined, 18],
  ['Mayores de 16 años', undefined, 16],
  ['Prohibido a menores de 18', undefined, 18],
  ['No under 18s', undefined, 18],
  ['Doors 19:30, from 16', undefined, 16],
  ['Ab 16 Jahren, Einlass 20 Uhr', undefined, 16],
  ['Nacidos antes de 2008', undefined, null],
  ['Menores de 12 acompañados', undefined, null],
  ['Under 14s with an adult', undefined, null],
  ['Menores de 12 acompañados, a partir de 11', undefined, 11],
  ['19:30', undefined, null],
  ['Todos los públicos', undefined, null],
  ['All ages', 16, 16],
  ['18', 0, null],
  ['18', 12, 12],
  ['18', null, 18],
  [null, 14, 14],
]

test.each(ages)('the age %j with the number %j is %j', async (age, minimum_age, minimum) => {
  const price = aPrice({ price: 0, fee_quantity: 0 })
  const rate = aRate({ prices: [price] })
  await importCatalogue(sale.db, { events: [anEvent({ age, minimum_age, ticket_rates: [rate] })] })
  const buy = (more: Record<string, unknown>) =>
    checkOut(sale, { ticket_rate_id: rate._id, tickets: [anEntry(price._id, more)] })
  const child = await buy({ birthday: tenYearsOld })
  expect(child.statusCode, child.body).toBe(minimum === null ? 200 : 422)
  if (minimum !== null)
    expect(child.json().errors).toMatchObject([{ code: 'UNDER_AGE', minimum_age: minimum }])
  const id = (await buy({ birthday: '1970-01-01' })).json().data.tickets[0]._id
  const { data } = (
    await sale.rest('GET', `/integrations/tickets/${id}`, { headers: sale.integration.v2 })
  ).json()
  expect(data.price_info.age).toBe(minimum)
})

test('a slug is found composed and decomposed, given or derived, and its length is counted composed', async () => {
  const [korean, japanese] = ['한국어 밤', 'ガイド・パーティー']
  await importCatalogue(sale.db, {
    events: [
      anEvent({ _id: 'evt_given', slug: korean.normalize('NFD').repeat(30) }),
      anEvent({ _id: 'evt_derived', name: korean }),
      anEvent({ _id: 'evt_guide', name: japanese }),
    ],
  })
  const found = async (slug: string) =>
    (
      await sale.graphql<{ event: { id: string; slug: string } | null }>(
        'query ($by: EventBy!) { event(by: $by) { id slug } }',
        { by: { slug: { organizationSlug: 'sala-n', slug } } },
        sale.channel,
      )
    ).data?.event
  for (const form of ['NFC', 'NFD'])
    expect(await found(korean.repeat(30).normalize(form))).toEqual({
      id: 'evt_given',
      slug: korean.repeat(30),
    })
  for (const slug of ['한국어-밤', 'ガイド-パーティー'].flatMap((slug) => [slug, slug.normalize('NFD')]))
    expect(await found(slug), slug).toMatchObject({ slug: slug.normalize('NFC') })
})
