import { readdirSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { demoEvents } from '../../../examples/shop/src/demo/catalogue.ts'
import { addShop } from '../../../examples/shop/src/page.ts'
import { addPosters } from '../../../examples/shop/src/poster/add-posters.ts'
import type { Companion } from '../../../src/app/companion.ts'
import { shared, startGateway } from '../../support/harness.ts'

// The shop's page, scripts and posters as a browser receives them. What it does is in test/system/shop.test.ts.

const key = 'box_pub_example'
const views = ['/shop', '/shop/events/evt_demo_1', '/shop/done?payment_id=pay_1&status=paid']
const scripts = readdirSync(new URL('../../../examples/shop/src/browser/', import.meta.url)).map((name) =>
  name.replace(/\.ts$/, '.js'),
)
const poster = (n: number) => `/shop/posters/evt_demo_${n}.svg`

const shopWith = (key: string | null): Companion => ({
  link: { path: '/shop', name: 'The shop', text: 'Buy a ticket.' },
  async addTo(app, publicUrl) {
    await addShop(app, { key: () => key, publicUrl })
    addPosters(app)
  },
})

const gateway = shared(() =>
  startGateway({
    companion: shopWith(key),
    settings: { PUBLIC_URL: 'https://tickets.example' },
  }),
)
const without = shared(startGateway)

test('without the demo there is no shop, and the home page names none', async () => {
  for (const url of [...views, '/shop/shop.js', poster(1)])
    expect([url, (await without.rest('GET', url)).statusCode]).toEqual([url, 404])
  expect((await without.rest('GET', '/')).body).not.toContain('/shop')
})

test('the home page links the shop first', async () => {
  const { body } = await gateway.rest('GET', '/')
  const [first] = [...body.matchAll(/href="(\/[^"]*)"/g)].map(([, href]) => href)
  expect(first).toBe('/shop')
})

test.each(views)('%s is a page with the key, whose policy lets nothing in but its own', async (url) => {
  const { statusCode, headers, body } = await gateway.rest('GET', url)
  expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  expect(body).toContain(`<main data-key="${key}"`)
  expect(body).toContain('<script type="module" src="/shop/shop.js"></script>')
  const policy = String(headers['content-security-policy']).split('; ')
  expect(policy.filter((directive) => !directive.startsWith('style-src'))).toEqual([
    "default-src 'none'",
    "img-src data: 'self' https://tickets.example",
    "script-src 'self'",
    "connect-src 'self'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ])
  expect(policy.find((directive) => directive.startsWith('style-src'))).toMatch(/^style-src 'sha256-[^']+'$/)
  // Nothing that the policy would forbid.
  expect(body).not.toMatch(/ style=| on\w+="/)
  const inline = [...body.matchAll(/<script(?![^>]*src=)([^>]*)>/g)].map(([, attributes]) => attributes)
  expect(inline).toEqual([' type="application/json" id="texts"'])
})

test('the page says which currencies have other than two decimals, because browsers differ', async () => {
  const { body } = await gateway.rest('GET', '/shop')
  const [, data = ''] = /<script type="application\/json" id="texts">(.*?)<\/script>/s.exec(body) ?? []
  const { decimals } = JSON.parse(data)
  expect(decimals).toMatchObject({ JPY: 0, KWD: 3, IQD: 3 })
  expect(Object.keys(decimals)).not.toContain('HUF')
})

test('the page and its texts are in the language that the browser prefers', async () => {
  const german = await gateway.rest('GET', '/shop', { headers: { 'accept-language': 'de-AT, en;q=0.5' } })
  expect(german.body).toContain('<html lang="de">')
  expect(german.headers.vary).toContain('accept-language')
  const other = await gateway.rest('GET', '/shop', { headers: { 'accept-language': 'ja' } })
  expect(other.body).toContain('<html lang="en">')
})

test.each(scripts)('/shop/%s is served with an ETag, and asks only the gateway', async (name) => {
  const { statusCode, headers, body } = await gateway.rest('GET', `/shop/${name}`)
  expect([statusCode, headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8'])
  const again = await gateway.rest('GET', `/shop/${name}`, {
    headers: { 'if-none-match': String(headers.etag) },
  })
  expect([again.statusCode, again.body]).toEqual([304, ''])
  expect(
    [...body.matchAll(/fetch\(([^,)]*)/g)].every(([, to]) => /^(endpoint|'\/graphql')$/.test(to ?? '')),
  ).toBe(true)
  expect(body).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|https?:\/\//)
})

test('every event of the demo has a poster, which is the same each time', async () => {
  const bodies = new Set<string>()
  for (const n of [1, 2, 3, 12, demoEvents]) {
    const first = await gateway.rest('GET', poster(n))
    expect([n, first.statusCode, first.headers['content-type']]).toEqual([n, 200, 'image/svg+xml'])
    expect(first.body).toMatch(
      /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" [^>]*viewBox="0 0 600 800">.*<\/svg>$/s,
    )
    expect(first.body).not.toMatch(/NaN|undefined|<script|<text|href=/)
    expect((await gateway.rest('GET', poster(n))).body).toBe(first.body)
    bodies.add(first.body)
  }
  expect(bodies.size).toBe(5)
})

test('a poster is for pages of any channel, compressed, and 304 to a browser that has it', async () => {
  const plain = await gateway.rest('GET', poster(1), { headers: { 'accept-encoding': 'identity' } })
  const brotli = await gateway.rest('GET', poster(1), { headers: { 'accept-encoding': 'br' } })
  expect(brotliDecompressSync(brotli.rawPayload).equals(plain.rawPayload)).toBe(true)
  expect(brotli.headers).toMatchObject({
    'content-security-policy': "default-src 'none'",
    'cross-origin-resource-policy': 'cross-origin',
  })
  const headers = { 'accept-encoding': 'br', 'if-none-match': String(brotli.headers.etag) }
  expect((await gateway.rest('GET', poster(1), { headers })).statusCode).toBe(304)
  expect((await gateway.rest('HEAD', poster(1))).statusCode).toBe(200)
})

test.each([
  'evt_demo_0.svg',
  `evt_demo_${demoEvents + 1}.svg`,
  'evt_demo_1',
  'evt_demo_01x.svg',
  '..%2Fstyle.ts',
])('there is no poster %s', async (name) => {
  const answer = await gateway.rest('GET', `/shop/posters/${name}`)
  expect([answer.statusCode, answer.json().code]).toEqual([404, 'NOT_FOUND'])
})

test('the shop is busy until its key is known', async () => {
  const early = await startGateway({ companion: shopWith(null) })
  try {
    const answer = await early.rest('GET', '/shop')
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1'])
  } finally {
    await early.close()
  }
})

test('the shop takes no other method', async () => {
  const answer = await gateway.rest('POST', '/shop')
  expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, HEAD'])
})
