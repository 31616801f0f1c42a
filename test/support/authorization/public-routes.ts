import { isNotNull } from 'drizzle-orm'
import type { InjectOptions } from 'fastify'
import { tickets } from '../../../src/domain/ticket/table.ts'
import type { Caller, Headers } from './callers.ts'
import type { Matrix } from './checker.ts'
import { absentId, difference, fingerprint } from './fingerprint.ts'

// Routes that ignore credentials: public ones, and those whose URL contains a secret token.

type Request = Pick<InjectOptions, 'method' | 'url' | 'headers' | 'payload'>

const pressed = {
  method: 'POST' as const,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  payload: 'action=look',
}

const pageRoutes: Record<string, (token: string) => Request> = {
  'GET /pay/*': (token) => ({ method: 'GET', url: `/pay/${token}` }),
  'HEAD /pay/*': (token) => ({ method: 'HEAD', url: `/pay/${token}` }),
  'POST /pay/*': (token) => ({ ...pressed, payload: 'action=pay', url: `/pay/${token}` }),
}
const documentRoutes: Record<string, (token: string) => Request> = {
  'GET /tickets/:token.pdf': (token) => ({ method: 'GET', url: `/tickets/${token}.pdf` }),
  'HEAD /tickets/:token.pdf': (token) => ({ method: 'HEAD', url: `/tickets/${token}.pdf` }),
}
/** Routes with a token in their URL. */
export const tokenRoutes = { ...pageRoutes, ...documentRoutes }

const everyHeaders = ({ world }: Matrix): Headers[] => [
  ...Object.values<Caller>(world.callers).map(({ headers }) => headers),
  ...Object.values<Headers>(world.bad),
]

/** Fingerprints of the responses to each caller and to each set of bad credentials. */
async function fingerprintsFor(
  matrix: Matrix,
  { headers, ...request }: Request,
  sent: string,
): Promise<Set<string>> {
  // Without the origin of a page, which CORS headers depend on.
  const fingerprints = everyHeaders(matrix).map(async ({ origin: _origin, ...credentials }) =>
    fingerprint(await matrix.app.inject({ ...request, headers: { ...headers, ...credentials } }), sent),
  )
  return new Set(await Promise.all(fingerprints))
}

async function tokensIn({ world }: Matrix) {
  const [ticket] = await world.sale.db
    .select({ token: tickets.documentToken })
    .from(tickets)
    .where(isNotNull(tickets.documentToken))
    .limit(1)
  return { page: world.pages[0]?.slice('/pay/'.length) ?? '', document: ticket?.token ?? '' }
}

/** Tries to guess a token from what an outsider may know: IDs, codes, a token of the other kind of page, a
 *  truncated token. Each must get the same response as an absent one. */
async function checkGuesses(
  matrix: Matrix,
  routes: typeof tokenRoutes,
  token: string,
  other: string,
): Promise<string[]> {
  const { things } = matrix.world
  const known = [things.payment, things.ticket, things.code].map(([thing]) => thing?.id ?? '')
  const wrong: string[] = []
  for (const [at, ask] of Object.entries(routes)) {
    const absent = absentId(token).replace(/0+$|Z+$/, (end) => end.replaceAll('Z', '0'))
    const [expected = '', ...others] = await fingerprintsFor(matrix, ask(absent), absent)
    for (const other of others) wrong.push(`${at}: not the same for all: ${difference(expected, other)}`)
    for (const guess of [...known, other, token.slice(1)])
      for (const told of await fingerprintsFor(matrix, ask(guess), guess))
        if (told !== expected) wrong.push(`${at}: ${guess} can be told: ${difference(told, expected)}`)
    const opened = await matrix.app.inject({ ...ask(token), ...(at.startsWith('POST') && pressed) })
    if (opened.statusCode === 404) wrong.push(`${at}: its own address does not open it`)
  }
  return wrong
}

/** Checks that payment pages and ticket documents open by their token only. */
export async function checkTokens(matrix: Matrix): Promise<string[]> {
  const { page, document } = await tokensIn(matrix)
  return [
    ...(await checkGuesses(matrix, pageRoutes, page, document)),
    ...(await checkGuesses(matrix, documentRoutes, document, page)),
  ]
}

/** Checks that a public route gives every caller the same response. */
export async function checkPublic(matrix: Matrix, route: string): Promise<string[]> {
  const [method, path] = route.split(' ') as [NonNullable<Request['method']>, string]
  const url = path.replace('*', 'static/swagger-ui.css')
  const [expected = '', ...others] = await fingerprintsFor(matrix, { method, url }, '')
  return others.map((other) => `${route}: ${difference(expected, other)}`)
}
