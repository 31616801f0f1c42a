import type { FastifyInstance } from 'fastify'
import { sendPage } from '../domain/language/page.ts'
import { type Html, html } from '../engine/http/html.ts'

const style = `
ul { list-style: none; display: grid; gap: .75rem; margin-top: .75rem }
li a {
  display: block; padding: .9rem 1.1rem; border: 1px solid var(--line); border-radius: .9rem; color: inherit;
  text-decoration: none;
}
li a:hover { border-color: var(--accent) }
li strong { color: var(--accent) }
li span { display: block; color: var(--soft); font-size: .9375rem }
`

/** Entry of the overview page. */
export type Link = { path: string; name: string; text: string }

const link = (path: string, name: string, text: string): Html =>
  html`<li><a href="${path}"><strong>${name}</strong><span>${text}</span></a></li>`

/** With `isOpen` anybody's documents are executed, so there is GraphiQL, and the schema may be read. `first`
 *  comes before the pages of the service. */
type Pages = { isOpen: boolean; first?: Link }

const bodyOf = ({ isOpen, first }: Pages) => html`<main class="padded stack">
<h1>Boxoffice</h1>
<p class="soft">A ticketing gateway: list events, check out, pay, read the ticket back. Over GraphQL and over REST.</p>
<ul>
${first !== undefined && link(first.path, first.name, first.text)}
${isOpen && link('/graphql', 'GraphiQL', 'Try the GraphQL interface, with queries that are ready to run.')}
${link('/docs', 'REST documentation', 'Every path, field and error, to read and to try.')}
${isOpen && link('/schema.graphql', 'schema.graphql', 'The GraphQL contract as text.')}
${link('/openapi.json', 'openapi.json', 'The REST contract, OpenAPI 3.1.')}
</ul>
</main>`

/** Adds `/`, an overview page, and where it may be read `/schema.graphql`, the GraphQL schema as text. */
export function addHome(app: FastifyInstance, printSchema: () => string, pages: Pages): void {
  const options = { schema: { hide: true } }
  const body = bodyOf(pages)
  app.get('/', options, (_request, reply) =>
    sendPage(reply, 200, { language: 'en', title: 'Boxoffice', body, style }),
  )
  if (!pages.isOpen) return
  let printed: string | undefined
  app.get('/schema.graphql', options, (_request, reply) => {
    printed ??= printSchema()
    return reply.type('text/plain; charset=utf-8').send(printed)
  })
}
