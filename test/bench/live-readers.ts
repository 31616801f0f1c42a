import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { answerTasks } from './worker.ts'

/** Opens streams of a rate, or waits until all of them have seen how many places are left. */
export type ReadersTask =
  | { open: { port: number; key: string; rateId: string; count: number } }
  | { until: { left: number; timeoutMs: number } }

/** `milliseconds` until all readers were there; null if some were not in time. */
export type ReadersResult = { readers: number; behind: number; milliseconds: number | null }

type Reader = { left: number | null; isOver: boolean }

const readers: Reader[] = []
const openedAtOnce = 100
const field = '"available":'
// Shared by all readers, because each chunk is read at once: ten thousand of them must take little of the
// machine that the service is measured on.
const chunk = Buffer.alloc(64 * 1024)

function newestLeft(length: number): number | null {
  const at = chunk.subarray(0, length).lastIndexOf(field)
  return at < 0 ? null : Number.parseInt(chunk.toString('latin1', at + field.length, length), 10)
}

function openReader(port: number, request: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const reader: Reader = { left: null, isOver: false }
    readers.push(reader)
    const callback = (length: number): boolean => {
      reader.left = newestLeft(length) ?? reader.left
      if (reader.left !== null) resolve()
      return true
    }
    const socket = connect({ port, host: '127.0.0.1', onread: { buffer: chunk, callback } })
    socket.on('error', reject)
    socket.on('close', () => {
      reader.isOver = true
      reject(new Error('a stream ended'))
    })
    socket.write(request)
  })
}

async function open({
  port,
  key,
  rateId,
  count,
}: {
  port: number
  key: string
  rateId: string
  count: number
}) {
  const body = JSON.stringify({
    query: 'subscription ($ids: [ID!]!) { ticketRates(of: { ids: $ids }) { id availability { available } } }',
    variables: { ids: [rateId] },
  })
  const head = [
    'POST /graphql HTTP/1.1',
    `host: 127.0.0.1:${port}`,
    'accept: text/event-stream',
    'content-type: application/json',
    `x-api-key: ${key}`,
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  const request = `${head.join('\r\n')}\r\n\r\n${body}`
  const start = performance.now()
  for (let opened = 0; opened < count; opened += openedAtOnce)
    await Promise.all(Array.from({ length: openedAtOnce }, () => openReader(port, request)))
  return { readers: readers.length, behind: 0, milliseconds: performance.now() - start }
}

async function until({ left, timeoutMs }: { left: number; timeoutMs: number }): Promise<ReadersResult> {
  const start = performance.now()
  for (;;) {
    const behind = readers.filter((reader) => reader.isOver || reader.left !== left).length
    const milliseconds = performance.now() - start
    if (behind === 0) return { readers: readers.length, behind, milliseconds }
    if (milliseconds > timeoutMs) return { readers: readers.length, behind, milliseconds: null }
    await wait(5)
  }
}

answerTasks<ReadersTask, ReadersResult>((task) => ('open' in task ? open(task.open) : until(task.until)))
