// Runs in: postgres, citus

import { setTimeout } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { assignPositions } from '../../src/domain/change/assign-positions.ts'
import { recordChanges } from '../../src/domain/change/record-changes.ts'
import { changes } from '../../src/domain/change/table.ts'
import type { Database } from '../../src/engine/database/database.ts'
import { type ChangeNode, readChanges, readChangesPage } from '../support/change-feed.ts'
import { anOrganization } from '../support/factories.ts'
import { createTestDatabase, type Gateway, startGateway, type TestDatabase } from '../support/harness.ts'
import { testOnOneServer } from '../support/on-one-server.ts'
import { openSale, type Sale } from '../support/sale.ts'

// The feed with overlapping transactions and several processes assigning positions, which only PostgreSQL
// allows.

const organizations = ['org_1', 'org_2']

let database: TestDatabase
let sale: Sale
let other: Gateway
beforeEach(async () => {
  database = await createTestDatabase()
  sale = await openSale({
    organizations: organizations.map((_id) => anOrganization({ _id, name: _id })),
    events: [],
    database,
  })
  other = await startGateway({ database })
})
afterEach(async () => {
  await other.close()
  await sale.close()
  await database.drop()
})

const aChange = (subjectId: string, organizationId = 'org_1') =>
  ({ type: 'rate.available', subjectId, organizationId, channelId: null, data: {} }) as const

const subjects = ({ nodes }: { nodes: ChangeNode[] }) => nodes.map(({ subjectId }) => subjectId)

/** Begins a transaction that does some work and stays open. Resolves, once the work is done, to a function
 *  that commits. */
async function begin(db: Database, work: (tx: Parameters<typeof recordChanges>[0]) => Promise<unknown>) {
  let finish = () => {}
  const ended = new Promise<void>((resolve) => {
    finish = resolve
  })
  let committed: Promise<void> = Promise.resolve()
  await new Promise<void>((begun, failed) => {
    committed = db.transaction(async (tx) => {
      await work(tx)
      begun()
      await ended
    })
    committed.catch(failed)
  })
  return async () => {
    finish()
    await committed
  }
}

test('feed skips an open transaction and shows its changes once committed', async () => {
  const commit = await begin(sale.db, (tx) => recordChanges(tx, [aChange('slow')]))
  await sale.db.transaction((tx) => recordChanges(tx, [aChange('quick')]))
  const early = await readChanges(sale, sale.channel)
  expect(subjects(early)).toEqual(['quick'])
  await sale.db.transaction((tx) => recordChanges(tx, [aChange('quick')]))
  const next = await readChanges(sale, sale.channel, early.end)
  expect(subjects(next)).toEqual(['quick'])
  await commit()
  // Its row and its id are the oldest of all.
  const late = await readChanges(sale, sale.channel, next.end)
  expect(subjects(late)).toEqual(['slow'])
  expect(subjects(await readChanges(sale, sale.channel, late.end))).toEqual([])
})

test('feed does not wait while another process assigns positions, and shows the rest later', async () => {
  await sale.db.transaction((tx) => recordChanges(tx, [aChange('first')]))
  const { end } = await readChanges(sale, sale.channel)
  const release = await begin(other.db, (tx) =>
    tx.execute(sql`select from change_feeds where organization_id = 'org_1' for update`),
  )
  await sale.db.transaction((tx) => recordChanges(tx, [aChange('second'), aChange('elsewhere', 'org_2')]))
  const began = performance.now()
  const meanwhile = await readChanges(sale, sale.channel, end)
  expect(subjects(meanwhile)).toEqual(['elsewhere'])
  // The lock timeout is ten seconds.
  expect(performance.now() - began).toBeLessThan(9_000)
  await release()
  expect(subjects(await readChanges(other, sale.channel, meanwhile.end))).toEqual(['second'])
})

test('feed still shows changes with positions when assigning more fails', async () => {
  await sale.db.transaction((tx) => recordChanges(tx, [aChange('first')]))
  expect(subjects(await readChanges(sale, sale.channel))).toEqual(['first'])
  await sale.db.transaction((tx) => recordChanges(tx, [aChange('second')]))
  await sale.db.execute(sql`alter table change_feeds rename to change_feeds_away`)
  expect(subjects(await readChanges(sale, sale.channel))).toEqual(['first'])
  await expect(assignPositions(sale.db)).rejects.toThrow()
  await sale.db.execute(sql`alter table change_feeds_away rename to change_feeds`)
  expect(subjects(await readChanges(sale, sale.channel))).toEqual(['first', 'second'])
})

testOnOneServer(
  'positions assigned by another process before the lock stay, and further ones follow',
  async () => {
    await sale.db.transaction((tx) => recordChanges(tx, [aChange('before')]))
    await assignPositions(sale.db)
    await sale.db.transaction((tx) => recordChanges(tx, [aChange('one'), aChange('two')]))
    // Delays the lock by a second, between reading the unassigned rows and locking the feed.
    await sale.db.execute(sql`alter table change_feeds rename to feeds`)
    await sale.db.execute(sql`create view change_feeds as select * from feeds where pg_sleep(1) is not null`)
    const assigning = assignPositions(sale.db)
    await expect
      .poll(() =>
        other.db.$count(sql`pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`),
      )
      .toBe(1)
    await other.db.transaction(async (tx) => {
      await tx.execute(sql`update feeds set last_position = 2 where organization_id = 'org_1'`)
      await tx.execute(sql`update changes set feed_position = 2 where subject_id = 'one'`)
    })
    await assigning
    const rows = await sale.db.select().from(changes).orderBy(changes.feedPosition)
    expect(rows.map(({ subjectId }) => subjectId)).toEqual(['before', 'one', 'two'])
    expect(rows[1]?.feedPosition).toBe(2)
    const position = Number(rows[2]?.feedPosition)
    expect(position).toBeGreaterThan(2)
    expect(
      await sale.db.$count(sql`feeds where organization_id = 'org_1' and last_position = ${position}`),
    ).toBe(1)
  },
)

const writers = 6
const rounds = 25
const subjectsOf = (organizationId: string) => [1, 2, 3].map((number) => `${organizationId}/${number}`)

/** Writes changes of subjects that it locks, as the service does, in slow transactions that overlap. */
async function write(db: Database): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const organizationId = organizations[Math.floor(Math.random() * organizations.length)] ?? ''
    await db.transaction(async (tx) => {
      const chosen = subjectsOf(organizationId).filter(() => Math.random() < 0.6)
      for (const subjectId of chosen)
        await tx.execute(sql`select pg_advisory_xact_lock(hashtext(${subjectId}))`)
      await recordChanges(
        tx,
        chosen.map((subjectId) => aChange(subjectId, organizationId)),
      )
      await setTimeout(Math.random() * 10)
    })
  }
}

test('feed of two processes and six writers misses, repeats and reorders nothing', async () => {
  let isWriting = true
  const everyWhile = async (work: () => Promise<unknown>) => {
    while (isWriting) {
      await work()
      await setTimeout(1)
    }
    await work()
  }
  const listener = (name: string, gateway: Gateway, first: number) => {
    let end: string | null = null
    const nodes: ChangeNode[] = []
    const listen = async () => {
      const more = await readChanges(gateway, sale.channel, end, first)
      nodes.push(...more.nodes)
      end = more.end
    }
    return { name, nodes, listen }
  }
  const listeners = [
    listener('one process', sale, 3),
    listener('the other process', other, 50),
    listener('the other process, on small pages', other, 7),
  ]
  const background = [
    ...[sale, other].map(({ db }) => everyWhile(() => assignPositions(db))),
    ...listeners.map(({ listen }) => everyWhile(listen)),
  ]
  const numbers = Array.from({ length: writers }, (_, index) => index)
  await Promise.all(numbers.map((index) => write((index % 2 ? sale : other).db)))
  isWriting = false
  await Promise.all(background)
  // Positions assigned by one process may not have been visible to the other yet.
  for (const { listen } of listeners) await listen()

  const rows = await sale.db.select().from(changes)
  expect(rows.length).toBeGreaterThan(100)
  expect(rows.filter(({ feedPosition }) => feedPosition === null)).toEqual([])
  const whole = (await readChanges(sale, sale.channel)).nodes.map(({ id }) => id)
  expect([...whole].sort()).toEqual(rows.map(({ id }) => id).sort())
  for (const { name, nodes } of listeners) {
    const ids = nodes.map(({ id }) => id)
    expect(new Set(ids).size, name).toBe(ids.length)
    expect([...ids].sort(), name).toEqual([...whole].sort())
    for (const subject of organizations.flatMap(subjectsOf)) {
      const sequences = nodes.filter(({ subjectId }) => subjectId === subject).map(({ sequence }) => sequence)
      expect(sequences, `${name}, ${subject}`).toEqual(sequences.map((_, index) => index + 1))
    }
  }
  for (const organizationId of organizations) {
    const positions = rows
      .filter((row) => row.organizationId === organizationId)
      .map(({ feedPosition }) => feedPosition)
    expect(new Set(positions).size).toBe(positions.length)
  }
})

test('feed keeps the order of a subject, though the later change is of a transaction that began earlier', async () => {
  await sale.db.transaction(async (early) => {
    await early.execute(sql`select now()`)
    await setTimeout(20)
    await sale.db.transaction((late) => recordChanges(late, [aChange('rate')]))
    await recordChanges(early, [aChange('rate')])
  })
  const { nodes } = await readChanges(sale, sale.channel)
  expect(nodes.map(({ sequence }) => sequence)).toEqual([1, 2])
})

test('feed keeps the order of changes within a transaction', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `in order ${index}`)
  await sale.db.transaction(async (tx) => {
    for (const name of names) await recordChanges(tx, [aChange(name)])
  })
  expect((await readChangesPage(sale, sale.channel)).nodes.map(({ subjectId }) => subjectId)).toEqual(names)
})
