import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { errorCode } from '../../src/engine/base/errors.ts'
import { isUnavailable, type OpenDatabase } from '../../src/engine/database/database.ts'
import { openDatabase } from '../../src/engine/database/open.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'

// Every statement ends within its timeout plus a margin, whatever the database does.

const statementTimeoutMs = 1_000
// The margin: half a second of network time, a quarter until the check runs, and the delays of a busy
// machine.
const inTime = statementTimeoutMs + 2_000

let database: TestDatabase
let proxy: DatabaseProxy
let opened: OpenDatabase
beforeEach(async () => {
  database = await createTestDatabase()
  proxy = await startDatabaseProxy(database.settings.DATABASE_URL ?? '')
  opened = await openDatabase({ databaseUrl: proxy.url, dataDir: '' }, { statementTimeoutMs })
})
afterEach(async () => {
  proxy.setMode('open')
  await opened.close()
  await proxy.close()
  await database.drop()
})

type Ended = { code: string | undefined; ms: number; isUnavailable: boolean }

async function ended(asked: PromiseLike<unknown>): Promise<Ended> {
  const began = performance.now()
  const error: unknown = await Promise.resolve(asked).then(
    () => null,
    (error: unknown) => error,
  )
  const code = error === null ? 'done' : errorCode(error)
  return { code, ms: performance.now() - began, isUnavailable: isUnavailable(error) }
}

const selectOne = () => opened.db.execute(sql`select 1`)
const inTransaction = () =>
  opened.db.transaction(async (tx) => {
    await tx.execute(sql`select 1`)
    await tx.execute(sql`select 2`)
  })
const warm = () =>
  Promise.all(Array.from({ length: 10 }, () => opened.db.execute(sql`select pg_sleep(0.05)`)))

/** Expects that every statement ended in time with an error that marks the database as unavailable. */
function expectGivenUp(all: Ended[]): void {
  expect(all.filter(({ isUnavailable }) => !isUnavailable)).toEqual([])
  expect(Math.max(...all.map(({ ms }) => ms))).toBeLessThan(inTime)
}

test('statements on silent connections, and those queued behind them, end in time', async () => {
  await warm()
  proxy.setMode('silent')
  const asked = Array.from({ length: 200 }, (_, index) => ended(index % 4 ? selectOne() : inTransaction()))
  const ready = ended(opened.whyUnready().then((unready) => expect(unready).not.toBeNull()))
  expectGivenUp(await Promise.all(asked))
  expect((await ready).code).toBe('done')
  // New connections are silent from the start.
  expectGivenUp([await ended(selectOne())])
  proxy.setMode('open')
  await expect.poll(() => ended(selectOne()).then(({ code }) => code), { timeout: 10_000 }).toBe('done')
  expect(await opened.whyUnready()).toBeNull()
  // No silent connection is left in the pool.
  expect(
    new Set(
      (await Promise.all(Array.from({ length: 50 }, () => ended(inTransaction())))).map(({ code }) => code),
    ),
  ).toEqual(new Set(['done']))
})

test('a transaction whose connection goes silent before its first statement ends in time', async () => {
  for (const silentBefore of ['first', 'second', 'commit']) {
    const asked = ended(
      opened.db.transaction(async (tx) => {
        await tx.execute(sql`select 1`)
        if (silentBefore === 'second') proxy.setMode('silent')
        await tx.execute(sql`select 2`)
        if (silentBefore === 'commit') proxy.setMode('silent')
      }),
    )
    if (silentBefore === 'first') proxy.setMode('silent')
    expectGivenUp([await asked])
    proxy.setMode('open')
    await expect.poll(() => ended(inTransaction()).then(({ code }) => code), { timeout: 10_000 }).toBe('done')
  }
})

test('a transaction whose connection is reset is rejected and releases its slot', async () => {
  await selectOne()
  for (let again = 0; again < 20; again++) {
    let run = () => {}
    const isRunning = new Promise<void>((resolve) => {
      run = resolve
    })
    const asked = ended(
      opened.db.transaction(async (tx) => {
        await tx.execute(sql`select 1`)
        run()
        await tx.execute(sql`select pg_sleep(0.5)`)
      }),
    )
    await isRunning
    await pause(10 * again)
    proxy.reset()
    const { code, isUnavailable } = await asked
    expect([code, isUnavailable]).toEqual([expect.stringMatching(/^(CONNECTION_CLOSED|ECONNRESET)$/), true])
  }
  expect((await ended(inTransaction())).code).toBe('done')
})

test('a failed statement fails its transaction even if its error is ignored', async () => {
  await opened.db.execute(sql`create table written (id integer primary key)`)
  const asked = opened.db.transaction(async (tx) => {
    await tx.execute(sql`insert into written values (1)`)
    await tx.execute(sql`insert into written values (1)`).catch(() => {})
  })
  expect(await ended(asked)).toMatchObject({ code: '23505', isUnavailable: false })
  expect(await opened.db.$count(sql`written`)).toBe(0)
})

test('statements that hold all connections end by the database’s timeout, and queued ones in time', async () => {
  const owner = postgres(database.settings.DATABASE_URL ?? '', { max: 1, onnotice: () => {} })
  await owner`create table slow (id integer)`
  await owner.begin(async (held) => {
    await held`lock table slow`
    const blocked = Array.from({ length: 100 }, () =>
      ended(opened.db.execute(sql`select count(*) from slow`)),
    )
    const transactions = Array.from({ length: 20 }, () =>
      ended(opened.db.transaction((tx) => tx.execute(sql`select count(*) from slow`))),
    )
    await pause(100)
    const ready = await ended(opened.whyUnready().then((unready) => expect(unready).toBeNull()))
    expect(ready).toMatchObject({ code: 'done' })
    expect(ready.ms).toBeLessThan(statementTimeoutMs / 2)
    expectGivenUp(await Promise.all([...blocked, ...transactions]))
  })
  expect((await ended(opened.db.execute(sql`select count(*) from slow`))).code).toBe('done')
  await owner.end()
})

test('transactions that wait for a row leave connections for reads', async () => {
  const owner = postgres(database.settings.DATABASE_URL ?? '', { max: 1, onnotice: () => {} })
  await owner`create table counters as select 1 as id`
  await owner.begin(async (held) => {
    await held`select from counters for update`
    const blocked = Array.from({ length: 30 }, () =>
      ended(opened.db.transaction((tx) => tx.execute(sql`select from counters for update`))),
    )
    await pause(100)
    const { code, ms } = await ended(selectOne())
    expect(code).toBe('done')
    expect(ms).toBeLessThan(statementTimeoutMs / 2)
    expectGivenUp(await Promise.all(blocked))
  })
  await owner.end()
})

test('a database that refuses connections fails statements at once, and is retried within a second', async () => {
  await selectOne()
  proxy.setMode('closed')
  proxy.reset()
  await expect.poll(() => ended(selectOne()).then(({ code }) => code)).not.toBe('done')
  const before = proxy.connectionCount()
  const began = performance.now()
  const all: Ended[] = []
  while (performance.now() - began < 2_000) {
    all.push(...(await Promise.all(Array.from({ length: 20 }, () => ended(selectOne())))))
    await pause(20)
  }
  expectGivenUp(all)
  // Every statement was refused at once, and few of them made their own connection attempt.
  expect(all.length).toBeGreaterThan(200)
  expect(proxy.connectionCount() - before).toBeGreaterThanOrEqual(2)
  expect(proxy.connectionCount() - before).toBeLessThan(40)
  proxy.setMode('open')
  const opening = performance.now()
  await expect.poll(() => ended(selectOne()).then(({ code }) => code), { interval: 50 }).toBe('done')
  expect(performance.now() - opening).toBeLessThan(2_500)
})

test('a closed pool finishes running statements and accepts no new ones', async () => {
  const running = ended(opened.db.execute(sql`select pg_sleep(0.3)`))
  const transaction = ended(
    opened.db.transaction(async (tx) => {
      await tx.execute(sql`select pg_sleep(0.2)`)
      await tx.execute(sql`select 1`)
    }),
  )
  await pause(100)
  const closed = opened.close()
  expect(await ended(selectOne())).toMatchObject({ code: 'CONNECTION_ENDED', isUnavailable: true })
  await closed
  expect([await running, await transaction].map(({ code }) => code)).toEqual(['done', 'done'])
})
