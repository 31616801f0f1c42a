// Runs in: long, first

import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Dimension, loadDimensions } from '../support/reads/dimensions.ts'
import { countReads, type ReadingServer, startReadingServer } from '../support/reads/reading-server.ts'
import { openReadWorld } from '../support/reads/worlds.ts'

// Blocks that verbs read where there are 10 and 5,000 of something: of one dimension at a time, as
// test/support/reads/dimensions says. PLANS=1 prints what the statements of a verb that grows read.

const few = 10
const many = 5_000

let server: ReadingServer
beforeAll(async () => {
  server = await startReadingServer()
}, 120_000)
afterAll(() => server?.stop())

const dimensions = await loadDimensions()

// Tables that the walk of reads.test.ts grows by sales.
const sold = ['payments', 'tickets', 'charges', 'invoices', 'deliveries', 'changes']

/** Tables that don't grow, and why. */
const bounded: Record<string, string> = {
  leaders: 'has a row for each role of a process',
  change_feeds: 'has a row for each organization',
  retention_turns: 'has a row for each organization',
  invoice_series: 'has a row for each organization and year',
  dropped_changes: 'has a row for each organization and channel',
}

/** Names the verbs that read more than twice the blocks, and 60, where there are many. */
async function grownAlong({ open }: Dimension, damage = async (_: Sale) => {}): Promise<string[]> {
  const world = await openReadWorld(server)
  const { db } = world.sale
  try {
    await damage(world.sale)
    const { grow, verbs } = await open(world)
    // Fewest blocks of two times: the other may have split a page.
    const measure = async (to: number) => {
      const all = new Map<string, { blocks: number; statements: string[] }>()
      for (const [name, prepare] of Object.entries(verbs))
        for (let time = 0; time < 2; time++) {
          await grow(to)
          const reads = await countReads(db, await prepare(world))
          const blocks = reads.reduce((sum, { blocks }) => sum + blocks, 0)
          const statements = reads
            .slice(0, 3)
            .map(({ text, calls, blocks }) => `${blocks} in ${calls}: ${text}`)
          if (blocks < (all.get(name)?.blocks ?? Number.POSITIVE_INFINITY))
            all.set(name, { blocks, statements })
        }
      return all
    }
    // Prepares the statements while there is next to nothing.
    await measure(1)
    const before = await measure(few)
    const compare = async (tables: string) =>
      [...(await measure(many))].flatMap(([name, { blocks, statements }]) => {
        const allowed = (before.get(name)?.blocks ?? 0) * 2 + 60
        if (process.env.PLANS && blocks > allowed)
          process.stdout.write(`${name}\n  ${statements.join('\n  ')}\n`)
        return blocks > allowed ? [`${name}: ${before.get(name)?.blocks} → ${blocks}, ${tables}`] : []
      })
    const unanalyzed = await compare('never analyzed')
    await db.execute(sql`vacuum analyze`)
    return [...unanalyzed, ...(await compare('analyzed'))]
  } finally {
    await world.sale.close()
  }
}
type Sale = Awaited<ReturnType<typeof openReadWorld>>['sale']

test.each(dimensions.map((dimension) => [dimension.name, dimension] as const))(
  'no verb reads more where there are many: %s',
  async (_, dimension) => expect(await grownAlong(dimension)).toEqual([]),
  300_000,
)

const named = [...sold, ...Object.keys(bounded), ...dimensions.flatMap(({ tables }) => tables)]
async function unnamedTables() {
  const { open, drop } = await server.createDatabase()
  const { db, close } = await open()
  const tables = await db
    .select({ name: sql<string>`relname` })
    .from(sql`pg_class`)
    .where(sql`relkind = 'r' and relnamespace = 'public'::regnamespace`)
  await close()
  await drop()
  return { tables, unnamed: tables.map(({ name }) => name).filter((name) => !named.includes(name)) }
}

test('each table is grown by a dimension, by sales, or says why it does not grow', async () => {
  const { tables, unnamed } = await unnamedTables()
  expect(unnamed).toEqual([])
  expect(named.filter((name) => !tables.some((table) => table.name === name))).toEqual([])
})

test('control: a verb that looks through all of them is seen', async () => {
  const scans = dimensions.find(({ name }) => name === 'check-ins of a ticket')
  if (!scans) throw new Error('there is no such dimension')
  const grown = await grownAlong(
    scans,
    async ({ db }) => void (await db.execute(sql`drop index check_ins_of_event`)),
  )
  expect(grown.some((line) => line.startsWith('Query.event with its check-ins:'))).toBe(true)
  expect(grown.some((line) => line.startsWith('Mutation.checkInTicket:'))).toBe(false)
}, 300_000)
