import fc from 'fast-check'
import type { InjectOptions } from 'fastify'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { schema } from '../../src/app/schema.ts'
import { email } from '../../src/engine/base/input-types.ts'
import { aRateOf } from '../support/factories.ts'
import { seed } from '../support/fuzz/seed.ts'
import {
  argumentPlaces,
  encoded,
  headerPlace,
  placesOfRoute,
  type TextPlace,
  textPlacesOf,
} from '../support/fuzz/text-places.ts'
import { readDocument, routesOf } from '../support/openapi/document.ts'
import { sharedSale } from '../support/sale.ts'

// Texts as long as a body may be, at every place that takes one: refused, or taken, before they can hold up anybody.
// `test/long/` tries all of them at each place, a quick run the worst and one other, a quarter as long.

const isLong = Number(process.env.FUZZ_TIMES ?? 1) > 1
const bytes = isLong ? 250_000 : 64_000
const maxMs = 20
// A retry excludes chance delays, such as a garbage collection.
const tries = 40

const run = (part: string, before = '', after = '') => {
  const count = Math.floor((bytes - Buffer.byteLength(before + after)) / Buffer.byteLength(part))
  return before + part.repeat(count) + after
}

const parts = [
  ...[
    'ä',
    '@',
    '.',
    ' ',
    '\n',
    '\t',
    '-',
    '+',
    ',',
    ':',
    ';',
    '/',
    '%',
    '"',
    "'",
    '\\',
    '(',
    '<',
    '=',
    '0',
    'a',
    'T',
  ],
  ...[
    '\0',
    '\x85',
    '\xa0',
    '\u2028',
    '\u200b',
    '\u200d',
    'a\u200d',
    '\u200f',
    '\u202e',
    '\ufeff',
    '\ud83c',
    '💥',
  ],
  // Marks that composing puts in order, letters that it joins, and letters that lower case or IDNA make others of.
  ...[
    '\u0300\u0316',
    '\u0345\u0300\u0316\u0334',
    '\u1100\u1161',
    '\u{e0061}',
    'İ',
    'Ａ',
    'ß',
    'a.',
    'a@',
    'ä@',
    '00:',
  ],
]
// Each took seconds once: to convert a domain, to look for the flag of a tag, and to compose.
const worst = [run('ä'), run('ä', 'a@', '@'), run('\u{e0061}', '🏴'), run('\u0300\u0316', 'a')]
const texts = [
  ...worst,
  ...parts.map((part) => run(part)),
  run('a', 'a@', '.example'),
  run('\u0300\u0316', 'https://a'),
  run('../', 'https://a.example/'),
  run('0', '2026-01-01T00:00:00.', 'Z'),
  run('-abcde', 'en'),
]

const spentMs = async (work: () => unknown): Promise<number> => {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

// Time of the quickest of several tries, in milliseconds of the processor.
async function leastMs(work: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  // What is far too slow is no chance.
  for (let time = 0; time < tries && least > maxMs && (time === 0 || least < 10 * maxMs); time++)
    least = Math.min(least, await spentMs(work))
  return least
}

let places: TextPlace[]
const sale = sharedSale({ rates: [aRateOf(10)] })
beforeAll(async () => {
  const list = { method: 'GET', url: '/events', headers: sale.channel } as const
  const ask = { method: 'POST', url: '/graphql', payload: { query: '{ __typename }' } } as const
  const other = (name: string, send: (text: string) => InjectOptions): TextPlace => ({ name, send })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  places = [
    ...textPlacesOf(argumentPlaces(schema, sale)),
    ...routesOf(await readDocument(sale.app)).flatMap((route) => placesOfRoute(route, sale)),
    ...[
      'x-api-key',
      'integration_id',
      'secret',
      'origin',
      'accept',
      'accept-encoding',
      'accept-language',
      'cookie',
    ]
      .concat(
        'if-none-match',
        'traceparent',
        'x-request-id',
        'x-forwarded-for',
        'content-type',
        'last-event-id',
      )
      .flatMap((name) => [list, ask].map((request) => headerPlace(name, request))),
    headerPlace('stripe-signature', { method: 'POST', url: '/webhooks/stripe', payload: {} }),
    ...['query', 'operationName', 'documentId'].map((name) =>
      other(`GraphQL ${name}`, (text) => ({ ...ask, payload: { ...ask.payload, [name]: text } })),
    ),
    other('a name in a body', (text) => ({ ...ask, payload: { [text]: 1 } })),
    other('a page', (text) => ({ method: 'GET', url: `/pay/${encoded(text)}` })),
    other('a form', (text) => ({
      method: 'POST',
      url: '/pay/x',
      headers: form,
      payload: text.toWellFormed(),
    })),
    other('a path', (text) => ({ method: 'GET', url: `/${encoded(text)}` })),
  ]
})

async function findSlow(place: TextPlace, given: string[]): Promise<string[]> {
  const slow: string[] = []
  for (const text of given) {
    const request = place.send(text)
    if (!request) continue
    const spent = await leastMs(async () => {
      const answer = await sale.app.inject(request)
      expect(answer.statusCode, `${place.name} of ${JSON.stringify(text.slice(0, 20))}`).toBeLessThan(500)
      // Refused before the text was looked at.
      expect(answer.body, place.name).not.toMatch(/was not provided|of (required|non-null) type/)
    })
    if (spent > maxMs)
      slow.push(`${place.name} takes ${Math.round(spent)} ms of ${JSON.stringify(text.slice(0, 20))}`)
  }
  return slow
}

describe(`with FUZZ_SEED=${seed}`, () => {
  test('no place of either surface is slow with a long text', async () => {
    expect(places.length).toBeGreaterThan(300)
    const slow: string[] = []
    // The first request takes longer than any other.
    for (const place of places.slice(0, 5)) await findSlow(place, worst)
    for (const [index, place] of places.entries()) {
      const [drawn = ''] = fc.sample(fc.constantFrom(...texts), { seed: seed + index, numRuns: 1 })
      const given = place.isShort ? [drawn] : [...worst, drawn]
      slow.push(...(await findSlow(place, isLong ? texts : given)))
    }
    expect(slow).toEqual([])
  })

  test('control: the expressions that checked an address once are found', async () => {
    const old = z
      .string()
      .max(254)
      .refine((given) => !/[^\0-\x7f].*@/s.test(given))
    const quarter = (text: string) => text.slice(0, 16_000)
    expect(await leastMs(() => old.safeParse(quarter(run('ä'))))).toBeGreaterThan(maxMs)
    const composed = z.string().overwrite((given) => given.normalize('NFC'))
    expect(
      await leastMs(() => composed.max(200).safeParse(quarter(run('\u0300\u0316', 'a')))),
    ).toBeGreaterThan(maxMs)
    expect(await leastMs(() => email.safeParse(run('ä')))).toBeLessThan(maxMs)
  })
})
