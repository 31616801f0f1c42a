import { connect, type Socket } from 'node:net'

/** Idempotency key in the body of a request, in whose place each sending has one of its own. */
export const freshKey = '00000000-0000-4000-8000-000000000000'

/** A request of a load. */
export type Ask = {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  headers: Record<string, string>
  body?: string
}

/** Serializes a request once, to be sent many times. */
export function toBytes({ method, path, headers, body }: Ask, port: number): Buffer {
  const all: Record<string, string> = { host: `127.0.0.1:${port}`, ...headers }
  if (body !== undefined) all['content-length'] = String(Buffer.byteLength(body))
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`)
}

/** A response; `length` is that of the body in bytes. `head` and `body` are set if the client keeps text. */
export type Answer = { status: number; length: number; head?: string; body?: string }

export type Client = { send(bytes: Buffer): Promise<Answer>; close(): void }

/** `keepsText`: true to decode head and body of responses, which takes time from what is measured. */
type ClientOptions = { keepsText?: boolean }

const endOfHead = Buffer.from('\r\n\r\n')

// Parses only what is needed to find the end of a response, because the generator shares the machine with the
// server: http.request costs as much as some responses.
function readHead(head: string): Answer {
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (!status || !length) throw new Error(`an answer without a status or a content-length:\n${head}`)
  return { status: Number(status), length: Number(length) }
}

/** Opens a client with one keep-alive connection and one request in flight. `send` resolves after the whole
 *  response and rejects if the connection ends before. */
export function openClient(port: number, { keepsText = false }: ClientOptions = {}): Promise<Client> {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let pending: { resolve(answer: Answer): void; reject(error: Error): void } | null = null
  let head: Buffer = Buffer.alloc(0)
  let answer: Answer = { status: 0, length: 0 }
  let missing = -1
  const kept: Buffer[] = []

  const fail = (error: Error) => {
    pending?.reject(error)
    pending = null
    socket.destroy()
  }
  const read = (chunk: Buffer) => {
    let body = chunk
    if (missing < 0) {
      const seen = head.length
      head = seen === 0 ? chunk : Buffer.concat([head, chunk])
      const end = head.indexOf(endOfHead)
      if (end < 0) return
      answer = readHead(head.toString('latin1', 0, end))
      missing = answer.length
      if (keepsText) answer.head = head.toString('latin1', 0, end)
      body = head.subarray(end + endOfHead.length)
    }
    missing -= body.length
    if (keepsText) kept.push(body)
    if (missing > 0) return
    if (missing < 0) throw new Error('more than one answer came')
    missing = -1
    head = Buffer.alloc(0)
    if (keepsText) answer.body = Buffer.concat(kept.splice(0)).toString()
    const answered = pending
    pending = null
    answered?.resolve(answer)
  }
  socket.on('data', (chunk) => {
    try {
      read(chunk)
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)))
    }
  })
  return new Promise((opened, refused) => {
    socket.once('error', refused)
    socket.once('connect', () => {
      socket.off('error', refused)
      socket.on('error', fail)
      socket.on('close', () => fail(new Error('the connection ended')))
      opened({
        send: (bytes) =>
          new Promise((resolve, reject) => {
            if (socket.destroyed) return reject(new Error('the connection ended'))
            pending = { resolve, reject }
            socket.write(bytes)
          }),
        close: () => socket.destroy(),
      })
    })
  })
}
