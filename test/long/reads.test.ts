import { writeFileSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, test } from 'vitest'
import { issueChannelKey } from '../../src/auth/issue-key.ts'
import { assignPositions } from '../../src/domain/change/assign-positions.ts'
import { anEventAtDoor, openDoors } from '../support/door.ts'
import { aCatalogue, aLocation, anOrganization, aPrice, aRate, aSupplement } from '../support/factories.ts'
import { countReads, type ReadingServer, startReadingServer } from '../support/reads/reading-server.ts'
import { buy, type ReadWorld, verbs } from '../support/reads/verbs.ts'
import { openSale } from '../support/sale.ts'

let server: ReadingServer
beforeAll(async () => {
  server = await startReadingServer()
}, 120_000)
afterAll(() => server?.stop())

const rate = (name: string) =>
  aRate({
    _id: `rate_${name}`,
    availability: { sold: 0, available: 1_000_000 },
    max: 50,
    warranty: { enabled: true, percentage: 10, hours: 1 },
    prices: [aPrice({ _id: `price_${name}` })],
    supplements: [aSupplement({ _id: `sup_${name}` })],
  })
const catalogue = (others: number) =>
  aCatalogue({
    organizations: [
      anOrganization(),
      ...Array.from({ length: others }, (_, n) => anOrganization({ _id: `org_o${n}`, slug: `o${n}` })),
    ],
    locations: [aLocation()],
    events: [
      anEventAtDoor({ _id: 'evt_1', location_id: 'loc_1', ticket_rates: [rate('1')] }, 1),
      ...Array.from({ length: others }, (_, n) =>
        anEventAtDoor({ _id: `evt_o${n}`, organization_id: `org_o${n}`, ticket_rates: [rate(`o${n}`)] }, 1),
      ),
    ],
  })

let isPrinting = false
const plans: string[] = []
async function open(others: number) {
  const database = await server.createDatabase()
  const sale = await openSale(catalogue(others), {
    database,
    settings: openDoors,
    onNotice: (notice) => {
      if (isPrinting && /Buffers: shared hit=(\d{3,})/.test(notice.message ?? ''))
        plans.push(notice.message ?? '')
    },
  })
  const { db } = sale
  const channelId = (
    (await db.execute(
      sql`select channel_id as id from keys where channel_id is not null limit 1`,
    )) as unknown as { id: string }[]
  )[0] ?? { id: '' }
  const page = await issueChannelKey(db, {
    channelId: channelId.id,
    origins: ['https://page.example'],
    mode: 'live',
  })
  return { sale, publishable: { 'x-api-key': page.key, origin: 'https://page.example' } }
}

async function sell(world: ReadWorld, tickets: number) {
  for (let sold = 0; sold < tickets; sold += 32)
    await Promise.all(Array.from({ length: 8 }, () => buy(world, 4)))
  for (let left = 1; left > 0; ) {
    await assignPositions(world.sale.db)
    const [row] = (await world.sale.db.execute(
      sql`select count(*)::integer as left from changes where feed_position is null`,
    )) as unknown as { left: number }[]
    left = row?.left ?? 0
  }
}

async function walk(world: ReadWorld) {
  const out: Record<string, { blocks: number; texts: { text: string; calls: number; blocks: number }[] }> = {}
  for (const [name, prepare] of Object.entries(verbs)) {
    let best = {
      blocks: Number.POSITIVE_INFINITY,
      texts: [] as { text: string; calls: number; blocks: number }[],
    }
    for (let time = 0; time < 2; time++) {
      const act = await Promise.resolve(prepare(world)).catch((error) => {
        console.log(name, String(error))
        return async () => {}
      })
      const texts = await countReads(world.sale.db, act).catch((error) => {
        console.log(name, String(error))
        return []
      })
      const blocks = texts.reduce((sum, { blocks }) => sum + blocks, 0)
      if (blocks < best.blocks) best = { blocks, texts }
    }
    out[name] = best
  }
  return out
}

const report: unknown[] = []
async function compare(title: string, world: ReadWorld, between: () => Promise<unknown> = async () => {}) {
  await walk(world)
  await sell(world, 400)
  await between()
  const small = await walk(world)
  await sell(world, 3_600)
  await between()
  isPrinting = true
  const large = await walk(world)
  writeFileSync('/tmp/plans.txt', plans.join('\n=====\n'))
  const lines: string[] = []
  for (const [name, { blocks }] of Object.entries(small)) {
    const many = large[name]?.blocks ?? 0
    const grows = many > blocks * 2 + 60
    lines.push(`${grows ? 'GROWS' : '     '} ${name}: ${blocks} → ${many}`)
    if (grows)
      for (const { text, calls, blocks } of large[name]?.texts.slice(0, 3) ?? [])
        if (blocks > 60)
          lines.push(`          ${blocks} in ${calls}: ${text.replace(/\s+/g, ' ').slice(0, 200)}`)
  }
  const count = lines.filter((line) => line.startsWith('GROWS')).length
  console.log(`${title}: ${count} grow\n${lines.join('\n')}`)
  report.push({ title, small, large })
  writeFileSync('/tmp/reads.json', JSON.stringify(report))
}

test.runIf(!process.env.WORLD || process.env.WORLD === 'new')(
  'never analyzed',
  async () => {
    const world = await open(0)
    const replan = async () => {
      const tables = (await world.sale.db.execute(
        sql`select relname as name from pg_stat_user_tables where schemaname = 'public'`,
      )) as unknown as { name: string }[]
      for (const { name } of tables)
        await world.sale.db.execute(sql.raw(`alter table ${name} set (autovacuum_enabled = false)`))
    }
    await compare('never analyzed', world, process.env.REPLAN ? replan : undefined)
    await world.sale.close()
  },
  600_000,
)

test.runIf(!process.env.WORLD || process.env.WORLD === 'others')(
  'statistics of others',
  async () => {
    const world = await open(40)
    const { db } = world.sale
    await buy(world, 1)
    // Tickets of many small organizations, as copies of one of each.
    await db.execute(sql`alter table tickets disable trigger all`)
    await db.execute(sql`alter table payments disable trigger all`)
    await db.execute(sql`alter table changes disable trigger all`)
    const orgs = 2_000
    const each = 10
    const copy = async (table: string, idCols: Record<string, string>) => {
      const cols = (
        (await db.execute(
          sql`select column_name as name from information_schema.columns where table_name = ${table} and is_generated = 'NEVER' order by ordinal_position`,
        )) as unknown as { name: string }[]
      ).map(({ name }) => name)
      const values = cols.map((name) => idCols[name] ?? `t."${name}"`)
      await db.execute(
        sql.raw(
          `insert into ${table} (${cols.map((name) => `"${name}"`).join(', ')}) select ${values.join(', ')} from (select * from ${table} limit 1) as t, generate_series(1, ${orgs}) as o, generate_series(1, ${each}) as n`,
        ),
      )
    }
    await copy('payments', {
      id: `'pay_x' || o || '_' || n`,
      organization_id: `'org_x' || o`,
      channel_id: `'chn_x' || o`,
    })
    await copy('tickets', {
      id: `'tkt_x' || o || '_' || n`,
      payment_id: `'pay_x' || o || '_' || n`,
      organization_id: `'org_x' || o`,
      channel_id: `'chn_x' || o`,
      event_id: `'evt_x' || o`,
      ticket_rate_id: `'rate_x' || o`,
      qr_code: `'qr' || o || '_' || n`,
      email: `'x' || o || '_' || n || '@example.com'`,
      document_token: `'tok' || o || '_' || n`,
    })
    await copy('changes', {
      id: `'chg_x' || o || '_' || n`,
      organization_id: `'org_x' || o`,
      channel_id: `'chn_x' || o`,
      subject_id: `'tkt_x' || o || '_' || n`,
      feed_position: 'n',
    })
    await db.execute(sql`analyze`)
    await compare('statistics of others', world)
    await world.sale.close()
  },
  600_000,
)

test.runIf(!process.env.WORLD || process.env.WORLD === 'known')(
  'statistics that know',
  async () => {
    const world = await open(0)
    await compare('statistics that know', world, () => world.sale.db.execute(sql`analyze`))
    await world.sale.close()
  },
  600_000,
)
