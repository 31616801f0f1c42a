import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ResponseBuffer } from '../../../src/engine/graphql-server/compiler/response-buffer.ts'

// An unhandled rejection ends the process.

const unhandled: unknown[] = []
const note = (reason: unknown) => void unhandled.push(reason)
let others: NodeJS.UnhandledRejectionListener[]
beforeAll(() => {
  others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', note)
})
afterAll(() => {
  process.removeListener('unhandledRejection', note)
  for (const other of others) process.on('unhandledRejection', other)
})

test('failures below one field reject once, after all fields have ended', async () => {
  const response = new ResponseBuffer({}, {})
  const ended: string[] = []
  const below = async () => {
    await pause(1)
    throw new Error('the database went away')
  }
  response.write(() => {
    response.defer(Promise.resolve(), () => {
      for (let count = 0; count < 3; count++) response.defer(below(), () => {})
    })
    response.defer(pause(50), () => void ended.push('slow'))
  })
  await expect(response.settle()).rejects.toThrow('the database went away')
  expect(ended).toEqual(['slow'])
  await pause(10)
  expect(unhandled).toEqual([])
})

test('control: an unhandled rejection is seen here', async () => {
  Promise.reject(new Error('nobody'))
  await pause(10)
  expect(unhandled).toEqual([new Error('nobody')])
})
