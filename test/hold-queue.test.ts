import { expect, test } from 'vitest'
import { queueByKey } from '../src/ticket/hold-queue.ts'

const limits = { mostTogether: 3, mostRunning: 1, mostWaiting: 5 }

/** A run that ends when it is told to, and what it was given. */
function controlled() {
  const runs: { jobs: number[]; end: (error?: Error) => void }[] = []
  const run = (jobs: number[]) =>
    new Promise<number[]>((resolve, reject) => {
      runs.push({ jobs, end: (error) => (error ? reject(error) : resolve(jobs.map((job) => job * 10))) })
    })
  const seen = () => runs.map(({ jobs }) => jobs)
  return { run, runs, seen }
}

test('what comes while another runs is run together, in order, a bounded number at a time', async () => {
  const { run, runs, seen } = controlled()
  const queue = queueByKey(run, limits)
  const first = queue('rate', 1)
  await expect.poll(seen).toEqual([[1]])
  const rest = [2, 3, 4, 5].map((job) => queue('rate', job))
  runs[0]?.end()
  expect(await first).toBe(10)
  await expect.poll(seen).toEqual([[1], [2, 3, 4]])
  runs[1]?.end()
  await expect.poll(seen).toEqual([[1], [2, 3, 4], [5]])
  runs[2]?.end()
  expect(await Promise.all(rest)).toEqual([20, 30, 40, 50])
})

test('keys do not wait for each other', async () => {
  const { run, runs, seen } = controlled()
  const queue = queueByKey(run, limits)
  const answers = [queue('one', 1), queue('other', 2)]
  await expect.poll(seen).toEqual([[1], [2]])
  for (const { end } of runs) end()
  expect(await Promise.all(answers)).toEqual([10, 20])
})

test('a run that fails is taken apart, so that one fails alone', async () => {
  const queue = queueByKey(async (jobs: number[]) => {
    if (jobs.includes(2)) throw new Error('two')
    return jobs
  }, limits)
  const answers = await Promise.allSettled([1, 2, 3].map((job) => queue('rate', job)))
  expect(answers).toMatchObject([{ value: 1 }, { reason: { message: 'two' } }, { value: 3 }])
})

test('too many that wait are refused, and those that wait are not', async () => {
  const { run, runs } = controlled()
  const queue = queueByKey(run, limits)
  const waiting = [1, 2, 3, 4, 5].map((job) => queue('rate', job))
  await expect(queue('rate', 6)).rejects.toMatchObject({
    code: 'BUSY',
    problems: [{ facts: { retryAfter: 1 } }],
  })
  for (const turn of [0, 1]) {
    await expect.poll(() => runs.length).toBe(turn + 1)
    runs[turn]?.end()
  }
  expect(await Promise.all(waiting)).toEqual([10, 20, 30, 40, 50])
})
