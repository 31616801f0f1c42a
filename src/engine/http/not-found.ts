import type { FastifyInstance } from 'fastify'
import { negotiateLanguage, sendNote } from '../../domain/language/error-page.ts'
import { translate } from '../../domain/language/translate.ts'
import { refusal } from '../base/errors.ts'
import { html } from './html.ts'
import { preferredType } from './media-type.ts'
import { addVary } from './public-cors.ts'

const patternOf = (url: string) => new RegExp(`^${url.replace(/\*/g, '.*').replace(/:\w+/g, '[^/]+')}$`)

/** Answers 404 for an unknown path, with a page to a browser, and 405 with `Allow` for an unsupported method of a known path. Call it
 *  before the routes are added. */
export function answerUnknownRoutes(app: FastifyInstance): void {
  const known: { path: RegExp; methods: string[] }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    known.push({ path: patternOf(url), methods: [method].flat() })
  })
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?')
    const allowed = known.filter((route) => route.path.test(path)).flatMap(({ methods }) => methods)
    // A wildcard route supports the method, but has no such file.
    if (allowed.length === 0 || allowed.includes(request.method)) {
      addVary(reply, 'accept')
      if (preferredType(request.headers.accept, ['application/json', 'text/html']) === 'text/html') {
        const language = negotiateLanguage(reply) ?? 'en'
        const home = html`<p><a href="/">${translate(language, 'error.home')}</a></p>`
        return sendNote(reply, 404, language, ['error.pageNotFound', 'error.addressWrong'], home)
      }
      throw refusal('NOT_FOUND', 'There is no such path.')
    }
    reply.header('allow', [...new Set(allowed)].join(', '))
    throw refusal('METHOD_NOT_ALLOWED', `The path does not take ${request.method}.`)
  })
}
