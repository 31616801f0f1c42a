import { makeOnce } from '../../base/make-once.ts'
import { hashOf, html, policyOf } from '../../http/html.ts'
import { Representation } from '../../http/representation.ts'

export type Tab = { query: string; variables: string; headers: string }

/** Name and icon of the service in GraphiQL, and its first tabs. */
export type Editor<Examples> = {
  name: string
  /** Address of an image. */
  iconUrl: string
  /** Builds the first tabs, and a text that differs where they would be of no use any more: a key. */
  tabsOf(examples?: Examples): { tabs: [Tab, ...Tab[]]; key: string }
}

// Workarounds. GraphiQL's drag-and-drop moves a pressed tab away from the pointer, so that clicks miss it. Its
// container clips long editors only if it is positioned; otherwise the whole page scrolls. It has no layout for
// phones: there the response goes below the editors, the sidebar below both, and a plugin covers them. Its name, its
// numbers of lines, its comments in the dark (.mtk8) and the ground of a response are too pale, its search is too narrow
// for its own text, and it has neither a heading nor a landmark. Its nine megabytes show nothing until they have arrived and
// run: the text of the first tab stands there meanwhile.
const style = `<meta name="viewport" content="width=device-width, initial-scale=1">
<style>.graphiql-tab { transform: none !important } .graphiql-container { position: relative }
.graphiql-logo, .graphiql-logo span, .graphiql-container .monaco-editor .line-numbers { color: hsl(var(--color-neutral)) }
.graphiql-container .graphiql-doc-explorer-search:not(:focus-within) [role=combobox] { width: 10ch }
.graphiql-container .graphiql-response { background: hsl(var(--color-base)); border-radius: 12px }
@media (prefers-color-scheme: dark) { body:not(.graphiql-light) .monaco-editor .mtk8 { color: #8fbf7a } }
#root > pre { margin: 0; padding: 24px; font: 15px/1.5 monospace; white-space: pre-wrap }
header { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
@media (max-width: 44rem) {
  .graphiql-container .graphiql-container { flex-direction: column-reverse }
  .graphiql-container .graphiql-sidebar { flex-direction: row; width: 100% }
  .graphiql-container .graphiql-main { flex: 1; height: auto; min-height: 0; position: relative; overflow: hidden }
  .graphiql-container .graphiql-sessions { margin: 8px 8px 0 }
  .graphiql-container .graphiql-logo, .graphiql-container .graphiql-horizontal-drag-bar { display: none }
  .graphiql-sessions > div:has(> .graphiql-editors) { flex-direction: column }
  .graphiql-container .graphiql-editors, .graphiql-container .graphiql-response { min-width: 0 !important }
  .graphiql-container .graphiql-editors { flex: 5 1 0 !important }
  .graphiql-container .graphiql-response { flex: 2 1 0 !important }
  .graphiql-container .graphiql-query-editor { flex: 4 1 0 !important }
  .graphiql-container .graphiql-plugin:not([style*='-1000px']) {
    position: absolute !important; inset: 0; max-width: none !important; width: 100%; z-index: 9;
    overflow: auto; background: hsl(var(--color-base));
  }
}</style>`

// The browser stores the tabs, so tabs of an earlier database would hold an unknown key: they are reset. The
// initial texts are stored too, because the first reload would take them for user input and add an empty tab.
const script = (name: string, key: string, { query, variables, headers }: Tab) => `<script>
if (localStorage.getItem('${name}:key') !== ${JSON.stringify(key)}) {
  localStorage.removeItem('graphiql:tabState')
  for (const [name, text] of Object.entries(${JSON.stringify({ query, variables, headers })}))
    localStorage.setItem('graphiql:' + name, text)
  localStorage.setItem('${name}:key', ${JSON.stringify(key)})
}
</script>`

const hashesOf = (markup: string) =>
  [...markup.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script = '']) => hashOf(script))

// Allows only the scripts in the page, by hash. The editor adds inline styles and starts workers from blobs.
const policyOfEditor = (markup: string) =>
  policyOf(
    `script-src ${hashesOf(markup).join(' ')}`,
    ...["style-src 'unsafe-inline'", 'worker-src blob:', 'font-src data:', 'img-src data:'],
    ...["connect-src 'self'", "form-action 'none'"],
  )

type Find<Examples> = () => Promise<Examples | undefined>

/** Returns GraphiQL as one self-contained page, rendered on the first request. */
export const graphiqlPage = <Examples>({ name, iconUrl, tabsOf }: Editor<Examples>, find: Find<Examples>) =>
  makeOnce(async () => {
    const { tabs, key } = tabsOf(await find())
    // Imported on demand: nine megabytes of text.
    const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
    const logo = `<img src="${iconUrl}" alt="" width="32" height="32">`
    const { headers } = tabs[0]
    const page = renderGraphiQL({ title: name, logo, favicon: iconUrl, headers, defaultTabs: tabs })
    const markup = page
      .replace('</head>', () => `${style}${script(name.toLowerCase(), key, tabs[0])}</head>`)
      .replace('<div id="root"></div>', () => {
        const title = `${name} GraphiQL`
        return html`<header><h1>${title}</h1></header><main id="root"><pre>${title} is loading…\n\n${tabs[0].query}</pre></main>`
          .markup
      })
    return new Representation({
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policyOfEditor(markup),
        vary: 'accept, accept-encoding',
      },
      body: Buffer.from(markup),
      isShareable: true,
    })
  })
