// Runs in: long, first

import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { channelRoutes, integrationRoutes } from '../../src/app/routes.ts'
import { schema } from '../../src/app/schema.ts'
import { assignPositions } from '../../src/domain/change/assign-positions.ts'
import { countReads, type ReadingServer, startReadingServer } from '../support/reads/reading-server.ts'
import { buy, type ReadWorld, verbs } from '../support/reads/verbs.ts'
import { fillWithOthers, openReadWorld } from '../support/reads/worlds.ts'

// Blocks that each verb reads, whatever its organization has sold, what statistics say, and when a session prepared its
// statements. PLANS=1 prints what the statements of a verb that grows read.

let server: ReadingServer
beforeAll(async () => {
  server = await startReadingServer()
}, 120_000)
afterAll(() => server?.stop())

const count = async (world: ReadWorld, from: string) => {
  const [row] = await world.sale.db.select({ count: sql<number>`count(*)::integer` }).from(sql.raw(`${from}`))
  return row?.count ?? 0
}

/** Sells until the organization has that many tickets, and gives each change its position. */
async function sellUpTo(world: ReadWorld, tickets: number): Promise<void> {
  for (let sold = await count(world, `tickets where organization_id = 'org_1'`); sold < tickets; sold += 32)
    await Promise.all(Array.from({ length: 8 }, () => buy(world, 4)))
  while ((await count(world, 'changes where feed_position is null')) > 0) await assignPositions(world.sale.db)
}

type Reads = { blocks: number; statements: string[] }

/** Asks for each verb twice, and returns the fewest blocks that it read: the other time may have split a page. */
async function walk(world: ReadWorld): Promise<Map<string, Reads>> {
  const all = new Map<string, Reads>()
  for (const [name, prepare] of Object.entries(verbs))
    for (let time = 0; time < 2; time++) {
      const act = await prepare(world)
      const reads = await countReads(world.sale.db, act)
      const blocks = reads.reduce((sum, { blocks }) => sum + blocks, 0)
      const statements = reads.slice(0, 3).map(({ text, calls, blocks }) => `${blocks} in ${calls}: ${text}`)
      if (blocks < (all.get(name)?.blocks ?? Number.POSITIVE_INFINITY)) all.set(name, { blocks, statements })
    }
  return all
}

/** Names the verbs that read more than twice the blocks, and 60, once ten times as much is sold. */
async function grownIn(world: ReadWorld, between: (world: ReadWorld) => Promise<void> = async () => {}) {
  // Prepares the statements while the organization has sold next to nothing.
  await walk(world)
  await sellUpTo(world, 400)
  await between(world)
  const few = await walk(world)
  await sellUpTo(world, 4_000)
  await between(world)
  const many = await walk(world)
  return [...many].flatMap(([name, { blocks, statements }]) => {
    const before = few.get(name)?.blocks ?? 0
    if (blocks <= before * 2 + 60) return []
    if (process.env.PLANS) process.stdout.write(`${name}\n  ${statements.join('\n  ')}\n`)
    return [`${name}: ${before} → ${blocks}`]
  })
}

async function inWorld(work: (world: ReadWorld) => Promise<void>): Promise<void> {
  const world = await openReadWorld(server)
  await work(world).finally(() => world.sale.close())
}

// Verbs whose answer is all of an event or of an organization, line by line.
const ofEverything = [
  'GET /tickets.csv',
  'GET /tickets.ndjson',
  'GET /integrations/tickets.csv',
  'GET /integrations/tickets.ndjson',
  'GET /integrations/events/:eventId/scan-list',
]

test('each root field of GraphQL and each route of REST is asked for', () => {
  const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((root) =>
    Object.keys(root?.getFields() ?? {}).map((name) => `${root?.name}.${name}`),
  )
  const routes = [...channelRoutes, ...integrationRoutes].map(({ method, url }) => `${method} ${url}`)
  const missing = [...fields, ...routes].filter((name) => !(name in verbs) && !ofEverything.includes(name))
  expect(missing).toEqual([])
})

const analyze = async (world: ReadWorld) => void (await world.sale.db.execute(sql`vacuum analyze`))

// Rows are there before any session prepares a statement, as after `pg_restore`.
const forgetPlans = async (world: ReadWorld) =>
  void (await world.sale.db.execute(sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`))

/** Worlds, by what the planner believes: what is done before anything is sold, and between. */
const worlds: Record<string, { before?: (world: ReadWorld) => Promise<void>; between?: typeof analyze }> = {
  'nothing was ever analyzed': {},
  'tables were restored and never analyzed': { between: forgetPlans },
  'tables were analyzed while they were empty': { before: analyze },
  'statistics are of others': { before: fillWithOthers },
  'statistics are true': { between: analyze },
}

test.each(Object.entries(worlds))(
  'no verb reads more, if %s',
  (_, { before, between }) =>
    inWorld(async (world) => {
      await before?.(world)
      expect(await grownIn(world, between)).toEqual([])
    }),
  600_000,
)

test(
  'control: a verb that looks through what was sold is seen',
  () =>
    inWorld(async (world) => {
      await world.sale.db.execute(sql`drop index tickets_payment_id_position_index`)
      const grown = await grownIn(world)
      expect(grown.some((line) => line.startsWith('Query.payment:'))).toBe(true)
      expect(grown.some((line) => line.startsWith('Query.viewer:'))).toBe(false)
    }),
  600_000,
)
