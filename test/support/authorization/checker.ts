import type { LightMyRequestResponse as Answer, FastifyInstance } from 'fastify'
import { schema } from '../../../src/app/schema.ts'
import { type Edge, edgesIn } from '../graphql-selection.ts'
import { internalDetails } from '../refusals.ts'
import type { Caller, Headers } from './callers.ts'
import { catalogueMark, marks } from './catalogue.ts'
import { absentId, difference, fingerprint } from './fingerprint.ts'
import type { Ask, OpenRow, Row } from './matrix-row.ts'
import { digestOf } from './oracle.ts'
import { sendStream } from './send-stream.ts'
import type { Thing, World } from './world.ts'

// Compares responses with the access rules. Findings are returned as text rather than thrown, so that all of
// them are reported and control tests can assert them.

/** An edge in a response, with its caller. */
export type Seen = Edge & { caller: Caller }

export type Matrix = {
  world: World
  app: FastifyInstance
  /** Every edge seen so far. */
  seen: Seen[]
}

const isSubscription = (body: object | undefined) =>
  body !== undefined && 'query' in body && String(body.query).startsWith('subscription')

export const send = ({ app }: Matrix, ask: Ask, headers: Headers): Promise<Answer> => {
  const { method, url, body } = ask
  if (isSubscription(body)) return sendStream(app, ask, headers)
  return app.inject({ method, url, headers: { accept: 'application/json', ...headers }, payload: body })
}

const readableMarks = (caller: Caller, { callers }: World): Set<string> => {
  const inMode = Object.values<Caller>(callers).filter(({ mode }) => mode === caller.mode)
  const own = inMode.filter(({ principal }) => principal !== null && principal === caller.principal)
  const sold =
    caller.kind === 'integration'
      ? inMode.filter(
          ({ kind, name }) =>
            kind === 'channel' && caller.organizations.includes(name === 'foreign' ? 'org_2' : 'org_1'),
        )
      : own
  return new Set([
    // Buyer name in the matrix's own checkouts, which any caller may make.
    'mk-sale-matrix',
    ...caller.organizations.map((organization) => catalogueMark(organization.slice(-1))),
    ...sold.map(({ name }) => `mk-sale-${name}`),
    ...own.map(({ name }) => `mk-hook-${name}`),
  ])
}

type Fields = Record<string, unknown>

// Types that an object leads to also after the grant was withdrawn, by the type of the object.
const ledTo: Record<string, string[]> = {
  Ticket: ['Event', 'TicketRate'],
  Answer: ['Question'],
  Change: ['Organization'],
}

// A response without what its tickets and changes lead to, which `checkEdges` compares with the rules of its own.
function withoutSold(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSold)
  if (typeof value !== 'object' || value === null) return value
  const typeOf = (object: unknown) => String((Object(object) as Fields).__typename)
  const sold = ledTo[typeOf(value)] ?? []
  const shown = Object.entries(value).filter(([, field]) => !sold.includes(typeOf(field)))
  return Object.fromEntries(shown.map(([name, field]) => [name, withoutSold(field)]))
}

/** JSON of an answer, or of each event of a stream; null if it has none. */
function jsonIn({ headers, body }: Pick<Answer, 'headers' | 'body'>): unknown[] | null {
  const type = String(headers['content-type'])
  if (type.startsWith('text/event-stream'))
    return [...body.matchAll(/^data: (\{.*)$/gm)].map(([, text = '']) => JSON.parse(text))
  return /^application\/([\w-]+\+)?json/.test(type) && body !== '' ? [JSON.parse(body)] : null
}

// A channel whose grant was withdrawn still sees what its tickets lead to.
const hasOnlySold = ({ soldFor, organizations }: Caller) =>
  soldFor.some((organization) => !organizations.includes(organization))

function strangersText(answer: Answer, caller: Caller): string {
  const found = hasOnlySold(caller) ? jsonIn(answer) : null
  return found ? JSON.stringify(withoutSold(found)) : answer.body
}

/** Lists what a response leaks: internal details, or marks that this caller must not read. */
export function findLeaks(answer: Answer, caller: Caller, world: World): string[] {
  const allowed = readableMarks(caller, world)
  const strange = [...(strangersText(answer, caller).match(marks) ?? [])].filter((mark) => !allowed.has(mark))
  const inside = internalDetails.exec(answer.body)?.[0]
  return [
    ...(answer.statusCode >= 500 ? [`${answer.statusCode} to ${caller.name}`] : []),
    ...new Set(strange.map((mark) => `${caller.name} reads ${mark}`)),
    ...(inside === undefined ? [] : [`${caller.name} reads ${inside}`]),
  ]
}

function recordEdges(answer: Answer, caller: Caller, { seen }: Matrix): void {
  const edges = jsonIn(answer)?.flatMap((json) => edgesIn(schema, (json as Fields).data)) ?? []
  seen.push(...edges.map((edge) => ({ ...edge, caller })))
}

async function askAs(matrix: Matrix, caller: Caller, row: Row, id: string) {
  const answer = await send(matrix, row.ask(caller, id, matrix.world), caller.headers)
  recordEdges(answer, caller, matrix)
  return { fingerprint: fingerprint(answer, id), wrong: findLeaks(answer, caller, matrix.world), answer }
}

const absentFor = (row: Row, id: string) => (row.absent ?? absentId)(id)

type Cell = { caller: Caller; thing: Thing }

async function checkHidden(matrix: Matrix, row: Row, { caller, thing }: Cell): Promise<string[]> {
  const there = await askAs(matrix, caller, row, thing.id)
  const absent = await askAs(matrix, caller, row, absentFor(row, thing.id))
  if (there.fingerprint === absent.fingerprint) return [...there.wrong, ...absent.wrong]
  return [
    ...there.wrong,
    `${caller.name} can tell ${thing.id}: ${difference(there.fingerprint, absent.fingerprint)}`,
  ]
}

async function checkShown(matrix: Matrix, row: Row, { caller, thing }: Cell): Promise<string[]> {
  const id = row.fresh ? await row.fresh(caller, matrix.world) : thing.id
  const there = await askAs(matrix, caller, row, id)
  const absent = await askAs(matrix, caller, row, absentFor(row, id))
  const isShown = there.answer.statusCode < 400 && there.fingerprint !== absent.fingerprint
  return isShown
    ? there.wrong
    : [
        ...there.wrong,
        `${caller.name} does not see ${id}: ${there.answer.statusCode} ${there.answer.body.slice(0, 200)}`,
      ]
}

const linesOf = (before: string, after: string) => {
  const known = new Set(before.split('\n'))
  return after.split('\n').filter((line) => !known.has(line))
}

/** Runs `work`, which must not write anything, and adds the tables that it changed to its findings. */
export async function findChanges(
  { world }: Matrix,
  notes: string[] | undefined,
  work: () => Promise<string[]>,
): Promise<string[]> {
  const { db } = world.sale
  const before = await digestOf(db, notes)
  const wrong = await work()
  const written = linesOf(before, await digestOf(db, notes))
  return [...wrong, ...written.map((table) => `what was refused changed ${table}`)]
}

// Different callers ask concurrently: coalesced reads must not leak between them.
const atOnce = async <T>(items: T[], work: (item: T) => Promise<string[]>): Promise<string[]> =>
  (await Promise.all(items.map(work))).flat()

async function inTurn<T>(items: T[], work: (item: T) => Promise<string[]>): Promise<string[]> {
  const wrong: string[] = []
  for (const item of items) wrong.push(...(await work(item)))
  return wrong
}

/** Requests each thing of a row's kind as each caller. */
export async function checkRow(matrix: Matrix, row: Row): Promise<string[]> {
  const { callers, things } = matrix.world
  const cells = Object.values<Caller>(callers).flatMap((caller) =>
    things[row.kind].map((thing) => ({ caller, thing, sees: row.sees(caller, thing) })),
  )
  const each = row.inTurn ? inTurn<Cell> : atOnce<Cell>
  const hidden = cells.filter(({ sees }) => sees === false)
  const wrong = await findChanges(matrix, row.notes, () =>
    each(hidden, (cell) => checkHidden(matrix, row, cell)),
  )
  const shown = await inTurn(
    cells.filter(({ sees }) => sees === true),
    (cell) => checkShown(matrix, row, cell),
  )
  const either = await each(
    cells.filter(({ sees }) => sees === null),
    async ({ caller, thing }) => (await askAs(matrix, caller, row, thing.id)).wrong,
  )
  return [...wrong, ...shown, ...either]
}

const isRefused = ({ statusCode, body }: Answer) =>
  [401, 403].includes(statusCode) || /"code":"(UNAUTHENTICATED|FORBIDDEN)"/.test(body)

/** Sends a request without identifiers as each caller. */
export async function checkOpenRow(matrix: Matrix, row: OpenRow): Promise<string[]> {
  const isFor = ({ kind }: Caller) => row.isFor.includes(kind)
  const check = async (caller: Caller) => {
    const answer = await send(matrix, row.ask(caller), caller.headers)
    recordEdges(answer, caller, matrix)
    const isRight = isRefused(answer) !== isFor(caller)
    return [
      ...findLeaks(answer, caller, matrix.world),
      ...(isRight ? [] : [`${caller.name} is answered ${answer.statusCode} ${answer.body.slice(0, 200)}`]),
    ]
  }
  const callers = Object.values<Caller>(matrix.world.callers)
  const refused = callers.filter((caller) => !isFor(caller))
  return [
    ...(await inTurn(callers.filter(isFor), check)),
    ...(await findChanges(matrix, row.notes, () => inTurn(refused, check))),
  ]
}

/** Requests an existing and an absent thing with bad credentials. Both must get the same 401. */
export async function checkCredentials(
  matrix: Matrix,
  row: Row | OpenRow,
  headers: Headers,
): Promise<string[]> {
  const { callers, things } = matrix.world
  const { nobody } = callers
  const id = 'open' in row ? '' : (things[row.kind][0]?.id ?? '')
  const ids = 'open' in row ? [id] : [id, absentFor(row, id)]
  const answers = await Promise.all(
    ids.map(async (id) => {
      const ask = 'open' in row ? row.ask(nobody) : row.ask(nobody, id, matrix.world)
      const answer = await send(matrix, ask, headers)
      return { told: fingerprint(answer, id), answer }
    }),
  )
  return answers.flatMap(({ told, answer }) => [
    ...findLeaks(answer, nobody, matrix.world),
    ...(answer.statusCode === 401 ? [] : [`let in: ${answer.statusCode} ${answer.body.slice(0, 80)}`]),
    ...(told === answers[0]?.told ? [] : [`can tell: ${difference(told, answers[0]?.told ?? '')}`]),
  ])
}
