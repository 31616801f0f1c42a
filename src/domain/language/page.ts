import type { FastifyReply } from 'fastify'
import { Html, hashOf, html, policyOf } from '../../engine/http/html.ts'
import type { Language } from './languages.ts'

export type Page = {
  language: Language
  title: string
  body: Html
  /** CSS in addition to the shared style. */
  style?: string
  /** Seconds until the browser reloads the page. */
  refresh?: number | null
  /** Origins besides our own that a form may redirect to, as sources of a content security policy. */
  formSources?: string[]
}

// A paper ticket in the light scheme, one that glows in the dark scheme.
const sharedStyle = `
:root {
  color-scheme: light dark;
  --ground: #f3f1ec; --card: #fffefb; --ink: #1c1a22; --soft: #645f6b; --line: #dcd7ce; --accent: #4a35b5;
  --on-accent: #fff; --note: #f7edd4; --shade: 0 1px 2px #2a21400f, 0 18px 48px -12px #2a21402e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121116; --card: #1c1a22; --ink: #f3f0f7; --soft: #ada7b8; --line: #38343f; --accent: #b8abff;
    --on-accent: #191433; --note: #332a17; --shade: 0 18px 48px -12px #000a;
  }
}
*, ::before, ::after { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body {
  margin: 0; min-height: 100vh; min-height: 100dvh; padding: clamp(1rem, 5vw, 3.5rem) 1rem 2rem;
  display: flex; flex-direction: column; align-items: center; gap: 1.5rem;
  background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif;
  overflow-wrap: anywhere;
}
main { width: 100%; max-width: 30rem; margin-block: auto; background: var(--card); border-radius: 1.25rem; box-shadow: var(--shade) }
h1, h2, p, ul, ol, dl, dd { margin: 0; padding: 0 }
h1 { font-size: clamp(1.5rem, 6vw, 1.9rem); line-height: 1.15; letter-spacing: -0.02em; text-wrap: balance }
a { color: var(--accent); text-underline-offset: .2em }
.soft { color: var(--soft) }
.padded { padding: clamp(1.5rem, 6vw, 2.25rem) }
.stack { display: grid; gap: .75rem }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: .25rem }
footer { color: var(--soft); font-size: .8125rem; text-align: center }
`

/** Ticket icon as SVG. */
export const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#4a35b5" d="M3 8h26v5a3 3 0 0 0 0 6v5H3v-5a3 3 0 0 0 0-6z"/><path stroke="#fff" stroke-width="2" stroke-dasharray="2 2" d="M12 9v14"/></svg>'
/** Ticket icon as a data URL, so that pages load nothing. */
export const iconUrl = `data:image/svg+xml,${encodeURIComponent(icon)}`

/** Sends an HTML page whose policy forbids scripts, external resources and framing. */
export function sendPage(reply: FastifyReply, status: number, page: Page): FastifyReply {
  const { language, title, body, style = '', refresh = null, formSources = [] } = page
  const styles = sharedStyle + style
  const document = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${iconUrl}">
<style>${new Html(styles)}</style>
</head>
<body>
${body}
</body>
</html>
`
  const forms = `form-action ${["'self'", ...formSources].join(' ')}`
  if (refresh !== null) reply.header('refresh', String(refresh))
  return reply
    .code(status)
    .header('content-security-policy', policyOf(`style-src ${hashOf(styles)}`, 'img-src data:', forms))
    .type('text/html; charset=utf-8')
    .send(document.markup)
}
