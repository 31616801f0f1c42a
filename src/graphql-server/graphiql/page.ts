import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Coding, chooseCoding } from '../../http/content-coding.ts'
import { iconUrl } from '../../http/html.ts'
import { type Demo, graphiqlTabs, type Tab } from './tabs.ts'

export type GraphiqlPage = { send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> }

type Rendered = { policy: string; etag: string; bodies: Record<Coding, Buffer> }

// Two workarounds. GraphiQL's drag-and-drop moves a pressed tab away from the pointer, so that clicks miss
// it. Its container clips long editors only if it is positioned; otherwise the whole page scrolls.
const style =
  '<style>.graphiql-tab { transform: none !important } .graphiql-container { position: relative }</style>'

// The browser stores the tabs, so tabs of an earlier demo would hold an unknown key: they are reset. The
// initial texts are stored too, because the first reload would take them for user input and add an empty tab.
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

// Allows only the scripts in the page, by hash. The editor adds inline styles and starts workers from blobs.
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
  // Imported on demand: nine megabytes of text.
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

/** Serves GraphiQL as one self-contained page. Renders and compresses it on the first request. */
export function graphiqlPage(demo: Demo | undefined): GraphiqlPage {
  let rendered: Promise<Rendered> | undefined
  return {
    async send(request, reply) {
      rendered ??= render(demo)
      const { policy, etag, bodies } = await rendered
      const encoding = chooseCoding(request.headers['accept-encoding'])
      // A strong ETag must differ per encoding.
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
