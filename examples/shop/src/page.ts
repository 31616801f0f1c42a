import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addVary, sendFile, toFile } from './files.ts'

// The paths are the same from the sources and from the build. Scripts are served as they were compiled.
const scripts = new URL('../dist/browser/', import.meta.url)
const texts = new URL('../texts/', import.meta.url)
const stylesheet = new URL('../style.css', import.meta.url)

// Decimals of currencies where they are not two, by ISO 4217: browsers follow usage, and differ.
const decimals = Object.fromEntries(
  Object.entries({
    0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
    3: 'BHD IQD JOD KWD LYD OMR TND',
    4: 'CLF UYW',
  }).flatMap(([count, codes]) => codes.split(' ').map((code) => [code, Number(count)])),
)

const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#4a35b5" d="M3 8h26v5a3 3 0 0 0 0 6v5H3v-5a3 3 0 0 0 0-6z"/><path stroke="#fff" stroke-width="2" stroke-dasharray="2 2" d="M12 9v14"/></svg>',
)}`

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (character) => entities[character] ?? '')

type Page = { language: string; texts: Record<string, unknown>; key: string; origin: string }

/** Renders the page of all views. Its script reads the key and the texts from it. */
function pageOf({ language, texts, key, origin }: Page, style: string, names: string[]): string {
  const text = (name: string) => escapeHtml(String(texts[name]))
  const preloads = names.map((name) => `<link rel="modulepreload" href="/shop/${name}">`)
  // `<` would end the element that holds the data.
  const data = JSON.stringify({ ...texts, decimals }).replaceAll('<', '\\u003c')
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${text('list.title')}</title>
<link rel="icon" href="${icon}">
<style>${style}</style>
${preloads.join('')}
<script type="module" src="/shop/shop.js"></script>
</head>
<body>
<header class="top">
<a href="/shop" class="brand"><img src="${icon}" alt="" width="32" height="32">${text('shop.name')}</a>
<p>${text('shop.sandbox')}</p>
</header>
<main data-key="${escapeHtml(key)}" data-origin="${escapeHtml(origin)}" aria-busy="true"><noscript><p class="notice">${text('shop.noScript')}</p></noscript></main>
<footer>${text('shop.footer')}</footer>
<script type="application/json" id="texts">${data}</script>
</body>
</html>
`
}

/** Lets in nothing but what is the shop's own, and posters from its public address. */
const policyOf = (style: string, origin: string) =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    `img-src data: 'self' ${origin}`,
    "script-src 'self'",
    "connect-src 'self'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Languages that a browser accepts, the preferred one first. A region is ignored: `de-AT` is German. */
const languagesOf = (accepted = '') =>
  accepted
    .toLowerCase()
    .split(',')
    .map((item) => {
      const [range = '', ...parameters] = item.split(';').map((part) => part.trim())
      const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
      return { code: range.split('-')[0] ?? '', quality: Number(quality ?? 1) }
    })
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality)
    .map(({ code }) => code)

async function readFiles(folder: URL, ending: string): Promise<Map<string, string>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(ending))
  const read = async (name: string) => [name, await readFile(new URL(name, folder), 'utf8')] as const
  return new Map(await Promise.all(names.map(read)))
}

/** Adds the shop to an application that serves the gateway: `/shop` with its views and its scripts. It knows
 *  nothing but the GraphQL endpoint, the public address, and a publishable key, null while that is not known. */
export async function addShop(
  app: FastifyInstance,
  { key: keyOf, publicUrl }: { key(): string | null; publicUrl(): string },
): Promise<void> {
  const [style, code, translations] = await Promise.all([
    readFile(stylesheet, 'utf8'),
    readFiles(scripts, '.js'),
    readFiles(texts, '.json'),
  ])
  const textsOf = new Map([...translations].map(([name, text]) => [name.slice(0, -5), JSON.parse(text)]))

  const isMissing = async (id: string, key: string, origin: string): Promise<boolean> => {
    const payload = { query: 'query ($id: ID!) { event(by: { id: $id }) { id } }', variables: { id } }
    const headers = { 'x-api-key': key, origin }
    const answer = await app.inject({ method: 'POST', url: '/graphql', headers, payload })
    return answer.json<{ data?: { event: object | null } }>().data?.event === null
  }

  async function sendPage(request: FastifyRequest<{ Params: { id?: string } }>, reply: FastifyReply) {
    const key = keyOf()
    if (key === null) return reply.code(503).header('retry-after', '1').send('The shop opens in a moment.')
    const { origin } = new URL(publicUrl())
    const { id } = request.params
    const language = languagesOf(request.headers['accept-language']).find((code) => textsOf.has(code)) ?? 'en'
    const page = pageOf({ language, texts: textsOf.get(language), key, origin }, style, [...code.keys()])
    addVary(reply, 'accept-language').headers({
      'cache-control': 'private, no-cache',
      'content-security-policy': policyOf(style, origin),
    })
    reply.code(id !== undefined && (await isMissing(id, key, origin)) ? 404 : 200)
    return reply.type('text/html; charset=utf-8').send(page)
  }

  for (const path of ['/shop', '/shop/events/:id', '/shop/done']) app.get(path, sendPage)
  for (const [name, text] of code) {
    const file = await toFile('text/javascript; charset=utf-8', text)
    app.get(`/shop/${name}`, (request, reply) => sendFile(request, reply, file))
  }
}
