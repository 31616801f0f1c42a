import { expect, test } from 'vitest'
import { aLocation, anEvent } from '../../support/factories.ts'
import { sharedSale } from '../../support/sale.ts'

// Names in scripts without spaces, and with marks that people leave out.

const names = {
  evt_ja: '東京ジャズフェスティバル2099',
  evt_zh: '北京音乐节 Beijing',
  evt_th: 'เทศกาลดนตรีกรุงเทพ',
  evt_ar: 'مهرجان الأُغنية العربيّة',
  evt_he: 'שָׁלוֹם עולם',
  evt_soft: 'Donau\u00addampf',
}

const sale = sharedSale({
  locations: [aLocation({ _id: 'loc_1', city: 'Málaga' })],
  events: Object.entries(names).map(([_id, name]) => anEvent({ _id, name, location_id: 'loc_1' })),
})

async function found(search: string): Promise<string[]> {
  const answer = await sale.rest('GET', `/events?search=${encodeURIComponent(search)}`, {
    headers: sale.channel,
  })
  return answer.json<{ data: { _id: string }[] }>().data.map(({ _id }) => _id)
}

const searches: [search: string, id: keyof typeof names][] = [
  ['ジャズ', 'evt_ja'],
  ['フェス 東京', 'evt_ja'],
  ['2099', 'evt_ja'],
  [names.evt_ja, 'evt_ja'],
  ['音乐', 'evt_zh'],
  ['beij 京音', 'evt_zh'],
  ['ดนตรี', 'evt_th'],
  ['الاغنيه', 'evt_ar'],
  ['العربية', 'evt_ar'],
  ['שלום', 'evt_he'],
  ['donaudampf', 'evt_soft'],
]

test.each(searches)('a search for %s finds %s', async (search, id) => {
  expect(await found(search)).toEqual([id])
})

test.each(['099', 'עולםש', '京東', 'eijing'])('a search for %s finds nothing', async (search) => {
  expect(await found(search)).toEqual([])
})

test.each(['malaga', 'MÁLAGA', 'Ma\u0301laga'])('events in the city %s are found', async (city) => {
  const answer = await sale.graphql<{ events: { nodes: unknown[] } }>(
    'query ($city: String) { events(filter: { city: $city }) { nodes { id } } }',
    { city },
    sale.channel,
  )
  expect(answer.data?.events.nodes).toHaveLength(Object.keys(names).length)
})
