import type { FastifyReply } from 'fastify'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EventStream } from '../../src/engine/graphql-server/live/event-stream.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

// Opens a stream on a socket that only notes what is written to it.
function open() {
  const written: string[] = []
  const socket = { writableLength: 0, write: (bytes: Buffer | string) => written.push(String(bytes)) }
  const raw = { socket, removeHeader() {}, writeHead() {}, write() {}, once() {} }
  const stream = new EventStream({ raw, getHeaders: () => ({}), hijack() {} } as unknown as FastifyReply)
  return { stream, socket, written }
}

test('a heartbeat is a comment', () => {
  const { stream, written } = open()
  vi.advanceTimersByTime(15_000)
  stream.beat()
  expect(written).toEqual([':\n\n'])
})

test('a stream that was written in the last five seconds needs no heartbeat', () => {
  const { stream, written } = open()
  vi.advanceTimersByTime(15_000)
  stream.write('event')
  vi.advanceTimersByTime(4_999)
  stream.beat()
  expect(written).toEqual(['event'])
  vi.advanceTimersByTime(1)
  stream.beat()
  expect(written).toEqual(['event', ':\n\n'])
})

test('a client that does not read is sent no heartbeat', () => {
  const { stream, socket, written } = open()
  vi.advanceTimersByTime(15_000)
  socket.writableLength = 3
  stream.beat()
  expect(written).toEqual([])
})
