import { readdir, readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { demoEvents } from '../domain/catalogue/demo/catalogue.ts'
import { negotiateLanguage } from '../http/error-page.ts'
import { Html, html, iconUrl, sendPage } from '../http/html.ts'
import { type Representation, toRepresentation } from '../http/representation.ts'
import { sendRepresentation } from '../http/send-representation.ts'
import { type Language, languages } from '../language/languages.ts'
import { isoDecimals } from '../shared/currencies.ts'
import { problem, Refusal } from '../shared/errors.ts'
import { drawPoster } from './poster/draw-poster.ts'
import { style } from './style.ts'

type Texts = Record<string, unknown>
type Shop = {
  /** Returns the publishable key that the page shows to browsers; null while it is not known yet. */
  keyOf: () => string | null
  publicUrl: () => string
}

const hidden = { schema: { hide: true } }

// Scripts are served as they were compiled. The path is the same from the sources and from the build.
const scripts = new URL('../../dist/shop/browser/', import.meta.url)

const representationOf = (type: string, policy: string, body: string): Representation =>
  toRepresentation({
    status: 200,
    headers: {
      'content-type': type,
      'content-security-policy': policy,
      'cache-control': 'public, no-cache',
    },
    body: Buffer.from(body),
    isShareable: true,
  })

async function readScripts(): Promise<Map<string, string>> {
  const names = (await readdir(scripts)).filter((name) => name.endsWith('.js'))
  const read = async (name: string) => [name, await readFile(new URL(name, scripts), 'utf8')] as const
  return new Map(await Promise.all(names.map(read)))
}

// Browsers differ in the decimals of a currency as releases of Node do.
const decimals = Object.fromEntries([...isoDecimals].filter(([, count]) => count !== 2))

const readTexts = async (language: Language): Promise<Texts> => ({
  ...JSON.parse(await readFile(new URL(`./texts/${language}.json`, import.meta.url), 'utf8')),
  decimals,
})

// `<` would end the element that holds the data.
const dataOf = (texts: Texts) => new Html(JSON.stringify(texts).replaceAll('<', '\\u003c'))

const bodyOf = (key: string, origin: string, texts: Texts) => html`<header class="top">
<a href="/shop" class="brand"><img src="${iconUrl}" alt="" width="32" height="32">${String(texts['shop.name'])}</a>
<p>${String(texts['shop.sandbox'])}</p>
</header>
<main data-key="${key}" data-origin="${origin}" aria-busy="true"><noscript><p class="notice">${String(texts['shop.noScript'])}</p></noscript></main>
<footer>${String(texts['shop.footer'])}</footer>
<script type="application/json" id="texts">${dataOf(texts)}</script>`

const headOf = (names: Iterable<string>) => html`${[...names].map(
  (name) => html`<link rel="modulepreload" href="/shop/${name}">`,
)}
<script type="module" src="/shop/shop.js"></script>`

// Posters by number, from 0. There are as many as the demo has events.
function posterCache(): (name: string) => Promise<Representation> | null {
  const drawn = new Map<number, Promise<Representation>>()
  return (name) => {
    const n = Number(/^evt_demo_(\d{1,3})\.svg$/.exec(name)?.[1] ?? 0) - 1
    if (n < 0 || n >= demoEvents) return null
    const known = drawn.get(n)
    if (known) return known
    const poster = drawPoster(n).then((svg) => representationOf('image/svg+xml', "default-src 'none'", svg))
    drawn.set(n, poster)
    // A failed drawing is tried again by the next request.
    poster.catch(() => drawn.delete(n))
    return poster
  }
}

/** Adds the shop of the demo: `/shop` with its views, its scripts, and the posters of the demo's events. It
 *  knows nothing but the GraphQL endpoint and the key, which is publishable. */
export async function addShop(app: FastifyInstance, { keyOf, publicUrl }: Shop): Promise<void> {
  const files = await readScripts()
  const texts = new Map(
    await Promise.all(languages.map(async (language) => [language, await readTexts(language)] as const)),
  )
  const head = headOf(files.keys())
  const posterOf = posterCache()
  const originOf = () => new URL(publicUrl()).origin
  const sources = () => ({
    'script-src': ["'self'"],
    'connect-src': ["'self'"],
    'img-src': ["'self'", originOf()],
    'require-trusted-types-for': ["'script'"],
    'trusted-types': ["'none'"],
  })
  const isMissing = async (id: string, key: string): Promise<boolean> => {
    const payload = { query: 'query ($id: ID!) { event(id: $id) { id } }', variables: { id } }
    const headers = { 'x-api-key': key, origin: originOf() }
    const answer = await app.inject({ method: 'POST', url: '/graphql', headers, payload })
    return answer.json<{ data?: { event: object | null } }>().data?.event === null
  }
  const sendShop = async (reply: FastifyReply, eventId?: string) => {
    const language = negotiateLanguage(reply) ?? 'en'
    const own = texts.get(language) ?? {}
    const key = keyOf()
    if (key === null) throw new Refusal(problem('BUSY', 'The shop opens in a moment.', [], { retryAfter: 1 }))
    reply.header('cache-control', 'no-cache')
    const status = eventId !== undefined && (await isMissing(eventId, key)) ? 404 : 200
    return sendPage(reply, status, {
      language,
      title: String(own['list.title']),
      body: bodyOf(key, originOf(), own),
      style,
      head,
      sources: sources(),
    })
  }
  for (const path of ['/shop', '/shop/events/:id', '/shop/done'])
    app.get<{ Params: { id?: string } }>(path, hidden, ({ params }, reply) => sendShop(reply, params.id))
  for (const [name, code] of files) {
    const script = representationOf('text/javascript; charset=utf-8', "default-src 'none'", code)
    app.get(`/shop/${name}`, hidden, (request, reply) =>
      sendRepresentation(request, reply, Promise.resolve(script)),
    )
  }
  app.get<{ Params: { name: string } }>('/shop/posters/:name', hidden, (request, reply) => {
    const poster = posterOf(request.params.name)
    if (!poster) throw new Refusal({ code: 'NOT_FOUND', message: 'There is no such poster.' })
    // Posters are in the catalogue, for the pages of any channel.
    reply.header('cross-origin-resource-policy', 'cross-origin')
    sendRepresentation(request, reply, poster)
  })
}
