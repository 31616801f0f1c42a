import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import type { Config } from '../../../src/app/settings.ts'
import { createRouteFinder, mistakeInAnswer } from './answer-checker.ts'
import { readDocument } from './document.ts'

type FindRoute = ReturnType<typeof createRouteFinder>

// The document depends on the base paths alone. Each process of the tests makes it once for each of them.
const finders = new Map<string, Promise<FindRoute>>()

async function openFinder(createAnother: () => Promise<FastifyInstance>): Promise<FindRoute> {
  const another = await createAnother()
  try {
    return createRouteFinder(await readDocument(another))
  } finally {
    await another.close()
  }
}

/** Makes every injected REST request of an application fail whose response is not as documented: its status,
 *  its code, its body and its headers. `createAnother` creates an application like it, which serves the
 *  document, so that asking for it changes no limit and no log of this one. */
export function checkAnswers(
  app: FastifyInstance,
  { channelsBasePath, integrationsBasePath }: Config,
  createAnother: () => Promise<FastifyInstance>,
): void {
  const inject = app.inject.bind(app) as (request: InjectOptions | string) => Promise<LightMyRequestResponse>
  const key = `${channelsBasePath} ${integrationsBasePath}`
  const checked = async (request: InjectOptions | string) => {
    const answer = await inject(request)
    const { method = 'GET', url = request } = typeof request === 'string' ? {} : request
    // GraphQL, pages and what is not found have no operation, whatever their address.
    if (typeof url !== 'string' || !URL.canParse(url, 'http://gateway') || url.startsWith('/graphql'))
      return answer
    const find = finders.get(key) ?? openFinder(createAnother)
    finders.set(key, find)
    // The address as the service has rewritten it, without a slash at the end that it ignores.
    const route = (await find)(method.toUpperCase(), answer.raw.req?.url ?? url)
    const mistake = route && mistakeInAnswer(route, answer)
    if (mistake)
      throw new Error(
        `${method} ${url} is not answered as documented: ${mistake} ${answer.body.slice(0, 500)}`,
      )
    return answer
  }
  app.inject = checked as typeof app.inject
}
