import { expect, test } from 'vitest'
import { deferred, joinWrites } from '../../src/engine/data/join-writes.ts'
import type { Database } from '../../src/engine/database/database.ts'

const limits = { maxTogether: 4, maxMixed: 1, maxAlone: 2, maxOfKey: 2, maxWaiting: 6 }

type Job = `${string}${number}`
type Run = {
  kind: 'mixed' | 'alone'
  jobs: Job[]
  /** Ends the run. Jobs of the given keys are deferred. */
  end(...leaving: string[]): void
  fail(error: Error): void
}

const done = (job: Job) => `${job} done`

/** A queue whose runs end on demand. A job's name is its key and a number: `a1`. */
function controlled(more: Partial<typeof limits> = {}, familyOf?: (job: Job) => string) {
  const runs: Run[] = []
  const start = (kind: Run['kind']) => (jobs: Job[]) =>
    new Promise<(string | typeof deferred)[]>((resolve, reject) => {
      runs.push({
        kind,
        jobs,
        end: (...leaving) =>
          resolve(jobs.map((job) => (leaving.some((key) => job.startsWith(key)) ? deferred : done(job)))),
        fail: reject,
      })
    })
  const queue = joinWrites<Job, string>('jobs', (_, jobs) => start('alone')(jobs), {
    ...limits,
    ...more,
    mixed: { write: (_, jobs) => start('mixed')(jobs) },
    ownerOf: (job) => familyOf?.(job) ?? '',
    words: 'busy',
  })
  const db = {} as Database
  const add = (...jobs: Job[]) => jobs.map((job) => queue(db, job.slice(0, 1), job))
  const seen = () => runs.map(({ kind, jobs }) => `${kind} ${jobs.join(' ')}`)
  const run = async (index: number) => {
    await expect.poll(() => runs.length).toBeGreaterThan(index)
    return runs[index] as Run
  }
  return { add, run, seen }
}

test('jobs of one turn run together across keys, in order and in batches of limited size', async () => {
  const { add, run, seen } = controlled()
  const answers = add('a1', 'b1', 'a2', 'c1', 'b2', 'd1')
  ;(await run(0)).end()
  await expect.poll(seen).toEqual(['mixed a1 a2 b1 b2', 'mixed c1 d1'])
  ;(await run(1)).end()
  expect(await Promise.all(answers)).toEqual(['a1', 'b1', 'a2', 'c1', 'b2', 'd1'].map((job) => `${job} done`))
})

test('a job that arrives during a run waits for at most that run', async () => {
  const { add, run, seen } = controlled()
  const first = add('a1')
  await run(0)
  const rest = add('b1', 'c1')
  ;(await run(0)).end()
  ;(await run(1)).end()
  expect(seen()).toEqual(['mixed a1', 'mixed b1 c1'])
  expect(await Promise.all([...first, ...rest])).toEqual(['a1 done', 'b1 done', 'c1 done'])
})

test('jobs of a running key wait for the run to end, then run together', async () => {
  const { add, run, seen } = controlled()
  const answers = add('a1')
  await run(0)
  answers.push(...add('a2', 'b1'))
  await expect.poll(seen).toEqual(['mixed a1'])
  answers.push(...add('a3'))
  ;(await run(0)).end()
  await expect.poll(seen).toEqual(['mixed a1', 'mixed b1 a2 a3'])
  ;(await run(1)).end()
  expect(await Promise.all(answers)).toEqual(['a1 done', 'a2 done', 'b1 done', 'a3 done'])
})

test('a running key gets a second run of its own once a full batch waits, and no third', async () => {
  const { add, run, seen } = controlled({ maxMixed: 2, maxWaiting: 20 })
  const answers = add('a1')
  await run(0)
  answers.push(...add('a2', 'a3', 'a4', 'b1'))
  await expect.poll(seen).toEqual(['mixed a1', 'mixed b1'])
  answers.push(...add('a5', 'a6', 'a7', 'a8', 'a9'))
  await expect.poll(seen).toEqual(['mixed a1', 'mixed b1', 'alone a2 a3 a4 a5'])
  ;(await run(1)).end()
  answers.push(...add('c1'))
  await expect.poll(seen).toEqual(['mixed a1', 'mixed b1', 'alone a2 a3 a4 a5', 'mixed c1'])
  ;(await run(0)).end()
  await expect.poll(seen).toContain('alone a6 a7 a8 a9')
  for (const index of [2, 3, 4]) (await run(index)).end()
  expect(await Promise.all(answers)).toHaveLength(11)
})

test('a family whose mixed runs are at the limit leaves the other to other families', async () => {
  const familyOf = (job: Job) => (job < 'c' ? 'first' : 'second')
  const { add, run, seen } = controlled({ maxMixed: 2, maxOfKey: 1 }, familyOf)
  const answers = add('a1')
  await run(0)
  answers.push(...add('b1', 'c1', 'd1'))
  await expect.poll(seen).toEqual(['mixed a1', 'mixed c1 d1'])
  ;(await run(0)).end()
  await expect.poll(seen).toEqual(['mixed a1', 'mixed c1 d1', 'mixed b1'])
  for (const index of [1, 2]) (await run(index)).end()
  expect(await Promise.all(answers)).toHaveLength(4)
})

test('a key deferred by a mixed run runs alone, in order, without delaying other keys', async () => {
  const { add, run, seen } = controlled()
  const [a1, a2, b1] = add('a1', 'a2', 'b1')
  ;(await run(0)).end('a')
  expect(await b1).toBe('b1 done')
  await expect.poll(seen).toEqual(['mixed a1 a2 b1', 'alone a1 a2'])
  const [a3, c1] = add('a3', 'c1')
  ;(await run(2)).end()
  expect(await c1).toBe('c1 done')
  const [a4, d1] = add('a4', 'd1')
  ;(await run(3)).end()
  expect(await d1).toBe('d1 done')
  ;(await run(1)).end()
  // Still alone, because its own queue was never empty.
  await expect.poll(seen).toEqual(['mixed a1 a2 b1', 'alone a1 a2', 'mixed c1', 'mixed d1', 'alone a3 a4'])
  ;(await run(4)).end()
  expect(await Promise.all([a1, a2, a3, a4])).toEqual(['a1', 'a2', 'a3', 'a4'].map((job) => `${job} done`))
  const [a5, e1] = add('a5', 'e1')
  ;(await run(5)).end()
  expect(await Promise.all([a5, e1])).toEqual(['a5 done', 'e1 done'])
  expect(seen()).toContain('mixed a5 e1')
})

test('keys that are blocked on their rows do not block other keys', async () => {
  const { add, run, seen } = controlled()
  const stuck = add('a1', 'b1', 'c1')
  ;(await run(0)).end('a', 'b', 'c')
  // The maximum of lone runs are blocked.
  await expect.poll(seen).toEqual(['mixed a1 b1 c1', 'alone a1', 'alone b1'])
  for (const index of [3, 4, 5]) {
    const [answer] = add(`d${index}`)
    ;(await run(index)).end()
    expect(await answer).toBe(`d${index} done`)
  }
  ;(await run(1)).end()
  ;(await run(2)).end()
  ;(await run(6)).end()
  expect(await Promise.all(stuck)).toEqual(['a1 done', 'b1 done', 'c1 done'])
})

test('a failed run of one key is retried job by job, so that a bad job fails alone', async () => {
  const { add, run, seen } = controlled()
  const answers = Promise.allSettled(add('a1', 'a2', 'a3', 'b1'))
  ;(await run(0)).end('a')
  ;(await run(1)).fail(new Error('together'))
  ;(await run(2)).end()
  ;(await run(3)).fail(new Error('two'))
  ;(await run(4)).end()
  expect(await answers).toMatchObject([
    { value: 'a1 done' },
    { reason: { message: 'two' } },
    { value: 'a3 done' },
    { value: 'b1 done' },
  ])
  expect(seen().slice(1)).toEqual(['alone a1 a2 a3', 'alone a1', 'alone a2', 'alone a3'])
})

test('a failed mixed run is retried key by key', async () => {
  const { add, run, seen } = controlled()
  const answers = Promise.allSettled(add('a1', 'b1', 'a2'))
  ;(await run(0)).fail(new Error('together'))
  ;(await run(1)).end()
  ;(await run(2)).fail(new Error('b'))
  expect(await answers).toMatchObject([
    { value: 'a1 done' },
    { reason: { message: 'b' } },
    { value: 'a2 done' },
  ])
  expect(seen()).toEqual(['mixed a1 a2 b1', 'alone a1 a2', 'alone b1'])
})

test('an error that concerns all jobs rejects them all without a retry', async () => {
  const { add, run, seen } = controlled()
  const answers = Promise.allSettled(add('a1', 'a2', 'b1'))
  ;(await run(0)).end('a')
  ;(await run(1)).fail(Object.assign(new Error('down'), { code: 'CONNECTION_LOST' }))
  const [failed] = await Promise.all([
    Promise.allSettled(add('c1', 'd1')),
    run(2).then((last) => last.fail(Object.assign(new Error('down'), { code: 'CONNECTION_LOST' }))),
  ])
  expect([...(await answers), ...failed].map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
    'fulfilled',
    'rejected',
    'rejected',
  ])
  expect(seen()).toEqual(['mixed a1 a2 b1', 'alone a1 a2', 'mixed c1 d1'])
})

test('a job beyond the maximum queue of its key is refused; waiting jobs and other keys go on', async () => {
  const { add, run } = controlled({ maxTogether: 100 })
  const waiting = add('a1', 'a2', 'a3', 'a4', 'a5', 'a6')
  await expect(add('a7')[0]).rejects.toThrow('busy')
  const [other] = add('b1')
  ;(await run(0)).end()
  expect(await Promise.all([...waiting, other])).toHaveLength(7)
})

test('without mixed runs each key has its own runs, a limited number at a time', async () => {
  const { add, run, seen } = controlled({ maxMixed: 0, maxOfKey: 1 })
  const answers = add('a1', 'b1', 'a2', 'c1')
  await expect.poll(seen).toEqual(['alone a1 a2', 'alone b1'])
  answers.push(...add('a3', 'a4', 'a5', 'a6'))
  ;(await run(1)).end()
  await expect.poll(seen).toEqual(['alone a1 a2', 'alone b1', 'alone c1'])
  ;(await run(0)).end()
  await expect.poll(seen).toEqual(['alone a1 a2', 'alone b1', 'alone c1', 'alone a3 a4 a5 a6'])
  for (const index of [2, 3]) (await run(index)).end()
  expect(await Promise.all(answers)).toHaveLength(8)
})
