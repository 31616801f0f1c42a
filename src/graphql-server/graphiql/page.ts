import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Coding, chooseCoding } from '../../http/content-coding.ts'
import { iconUrl } from '../../http/html.ts'
import { type Demo, graphiqlTabs, type Tab } from './tabs.ts'

export type GraphiqlPage = { send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> }

type Rendered = { policy: string; etag: string; bodies: Record<Coding, Buffer> }

// The drag-and-drop of its tabs moves them away under the pointer when they are pressed, so that clicks miss them. Its
// container cuts editors off, which are as high as their text, only where they are placed in it: else the page scrolls.
const style =
  '<style>.graphiql-tab { transform: none !important } .graphiql-container { position: relative }</style>'

// A browser keeps its tabs, and those of a demo that is gone hold a key that nobody knows any more. What the editors
// start with is stored as well: else the first reload takes them for something typed, and adds an empty tab for it.
const script = (key: string, { query, variables, headers }: Tab) => `<script>
if (localStorage.getItem('boxoffice:key') !== ${JSON.stringify(key)}) {
  localStorage.removeItem('graphiql:tabState')
  for (const [name, text] of Object.entries(${JSON.stringify({ query, variables, headers })}))
    localStorage.setItem('graphiql:' + name, text)
  localStorage.setItem('boxoffice:key', ${JSON.stringify(key)})
}
</script>`

const sha256 = (text: string, encoding: 'base64' | 'base64url') =>
  createHash('sha256').update(text).digest(encoding)

const scriptsOf = (html: string) =>
  [...html.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script = '']) => script)

// Only the scripts that are in the page. The editor styles itself as it goes, and starts its workers from blobs.
const policyOf = (html: string) =>
  [
    "default-src 'none'",
    `script-src ${scriptsOf(html)
      .map((script) => `'sha256-${sha256(script, 'base64')}'`)
      .join(' ')}`,
    "style-src 'unsafe-inline'",
    'worker-src blob:',
    'font-src data:',
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

async function render(demo: Demo | undefined): Promise<Rendered> {
  // Nine megabytes of text, which nobody waits for who asks for none of it.
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
  const logo = `<img src="${iconUrl}" alt="" width="32" height="32">`
  const tabs = graphiqlTabs(demo)
  const { headers } = tabs[0]
  const page = renderGraphiQL({ title: 'Boxoffice', logo, favicon: iconUrl, headers, defaultTabs: tabs })
  const html = page.replace('</head>', () => `${style}${script(demo?.key ?? '', tabs[0])}</head>`)
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(html, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
    promisify(gzip)(html),
  ])
  return {
    policy: policyOf(html),
    etag: sha256(html, 'base64url'),
    bodies: { br, gzip: gzipped, identity: Buffer.from(html) },
  }
}

/** GraphiQL as one page that needs nothing from elsewhere.
 *  It is rendered and compressed when the first browser asks. */
export function graphiqlPage(demo: Demo | undefined): GraphiqlPage {
  let rendered: Promise<Rendered> | undefined
  return {
    async send(request, reply) {
      rendered ??= render(demo)
      const { policy, etag, bodies } = await rendered
      const encoding = chooseCoding(request.headers['accept-encoding'])
      // Each encoding is another sequence of bytes, so it has another strong tag.
      const tag = `"${etag}-${encoding}"`
      reply.headers({
        etag: tag,
        vary: 'accept, accept-encoding',
        'cache-control': 'no-cache',
        'content-security-policy': policy,
      })
      if (String(request.headers['if-none-match'] ?? '').includes(tag)) return reply.code(304).send()
      if (encoding !== 'identity') reply.header('content-encoding', encoding)
      return reply.type('text/html; charset=utf-8').send(bodies[encoding])
    },
  }
}
