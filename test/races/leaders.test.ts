// Runs in: postgres

import { eq, type SQL, sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startJobs } from '../../src/app/jobs.ts'
import { sandboxProvider } from '../../src/domain/payment/sandbox.ts'
import { electLeader } from '../../src/engine/data/elect-leader.ts'
import { leaders } from '../../src/engine/data/table.ts'
import type { OpenDatabase } from '../../src/engine/database/database.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { shortenPauses } from '../support/quick-pauses.ts'

// Processes that elect one of them. Each candidate here has connections of its own, as a process has.

let database: TestDatabase
let opened: OpenDatabase[]
beforeAll(async () => {
  database = await createTestDatabase()
  opened = await Promise.all(Array.from({ length: 4 }, () => database.open()))
})
afterAll(async () => {
  await Promise.all(opened.map(({ close }) => close()))
  await database.drop()
})

type Candidate = ReturnType<typeof electLeader>
const started: Candidate[] = []
afterEach(() => Promise.all(started.splice(0).map((candidate) => candidate.stop())))

const db = (process = 0) => opened[process % opened.length]?.db ?? expect.fail('there is no such process')

function stand(process: number, role: string, times: { leaseMs?: number; pauseMs?: number } = {}): Candidate {
  const onError = (error: unknown) => expect.fail(String(error))
  const candidate = electLeader(db(process), { role, onError, pauseMs: 50, ...times })
  started.push(candidate)
  return candidate
}

const leadersOf = (candidates: Candidate[]) => candidates.filter((candidate) => candidate.isLeader())

test('of many who stand at once one is elected, and stays', async () => {
  const candidates = Array.from({ length: 20 }, (_, process) => stand(process, 'one'))
  await expect.poll(() => leadersOf(candidates).length).toBe(1)
  const [leader] = leadersOf(candidates)
  for (let look = 0; look < 20; look++) {
    await new Promise((resolve) => setTimeout(resolve, 25))
    expect(leadersOf(candidates)).toEqual([leader])
  }
  expect(await db().select().from(leaders).where(eq(leaders.role, 'one'))).toHaveLength(1)
})

test('a leader that stops is succeeded at once, and one that died once its lease has ended', async () => {
  const first = stand(0, 'next', { leaseMs: 3_600_000 })
  await expect.poll(() => first.isLeader()).toBe(true)
  const second = stand(1, 'next', { leaseMs: 3_600_000 })
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(second.isLeader()).toBe(false)
  await first.stop()
  expect(first.isLeader()).toBe(false)
  await expect.poll(() => second.isLeader()).toBe(true)
  // A process that died gives nothing back, and renews nothing.
  await second.stop()
  await db()
    .insert(leaders)
    .values({ role: 'next', holder: 'dead', expiresAt: sql`now() + interval '1 hour'` })
  const third = stand(2, 'next', { leaseMs: 3_600_000 })
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(third.isLeader()).toBe(false)
  await db().update(leaders).set({ expiresAt: sql`now()` }).where(eq(leaders.role, 'next'))
  await expect.poll(() => third.isLeader()).toBe(true)
})

test('a lease of before the clock was set back is taken over, and one that another has just got is not', async () => {
  const set = (expiresAt: SQL) =>
    db()
      .insert(leaders)
      .values({ role: 'back', holder: 'dead', expiresAt })
      .onConflictDoUpdate({ target: leaders.role, set: { holder: 'dead', expiresAt } })
  await set(sql`now() + interval '1 hour'`)
  const candidates = Array.from({ length: 8 }, (_, process) => stand(process, 'back', { pauseMs: 10 }))
  await expect.poll(() => leadersOf(candidates).length).toBe(1)
  const [leader] = leadersOf(candidates)
  // As many times as a race would need in which somebody takes the lease that another has begun since.
  for (let look = 0; look < 40; look++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(leadersOf(candidates)).toEqual([leader])
  }
})

test('a leader that can no longer renew its lease leads no longer than that', async () => {
  const cut = await database.open()
  const errors: unknown[] = []
  const options = { role: 'cut', leaseMs: 400, pauseMs: 50, onError: (error: unknown) => errors.push(error) }
  const leader = electLeader(cut.db, options)
  await expect.poll(() => leader.isLeader()).toBe(true)
  await cut.close()
  await expect.poll(() => errors.length).toBeGreaterThan(0)
  await expect.poll(() => leader.isLeader()).toBe(false)
  const next = stand(1, 'cut')
  await expect.poll(() => next.isLeader()).toBe(true)
  await leader.stop()
})

test('a process that is not elected runs the jobs that several share, and no other', async () => {
  shortenPauses()
  const other = stand(1, 'jobs')
  await expect.poll(() => other.isLeader()).toBe(true)
  const statements: string[] = []
  const watched = await database.open({ onStatement: (text) => void statements.push(text) })
  const senders = { email: async () => {}, whatsapp: null, perHour: 1000, onDead: () => {} }
  const stop = startJobs(
    { db: watched.db, provider: sandboxProvider, senders, privateWebhooks: false },
    (error, job) => expect.fail(`${job}: ${error}`),
  )
  const ran = (text: string) => statements.some((statement) => statement.includes(text))
  await expect.poll(() => ran('"deliveries"') && ran('"webhook_deliveries"') && ran('"refunds"')).toBe(true)
  await expect.poll(() => statements.length, { interval: 100 }).toBeGreaterThan(12)
  expect([ran('"idempotency_keys"'), ran('feed_position')]).toEqual([false, false])
  await other.stop()
  await expect.poll(() => ran('"idempotency_keys"') && ran('feed_position')).toBe(true)
  await stop()
  expect(await db().select().from(leaders).where(eq(leaders.role, 'jobs'))).toEqual([])
  await watched.close()
})
