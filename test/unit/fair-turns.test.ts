import { expect, test } from 'vitest'
import { FairTurns } from '../../src/engine/graphql-server/fair-turns.ts'

const holdUp = (milliseconds: number) => {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

test('owners take turns, however much one of them has', async () => {
  const turns = new FairTurns()
  const order: string[] = []
  const run = (owner: string) => turns.run(owner, () => void order.push(owner))
  // The first one begins at once.
  await Promise.all([run('many'), run('many'), run('many'), run('one')])
  expect(order).toEqual(['many', 'many', 'one', 'many'])
})

test('a process that was held up does not pause for a multiple of that', async () => {
  const turns = new FairTurns()
  const heldUp = turns.run('one', () => holdUp(1_000))
  const next = turns.run('other', () => performance.now())
  await heldUp
  const start = performance.now()
  expect((await next) - start).toBeLessThan(2_500)
})
