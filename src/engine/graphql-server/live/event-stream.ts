import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import { refusal } from '../../base/errors.ts'

// Events of the protocol «GraphQL over Server-Sent Events», distinct connections mode.

/** Serializes a `next` event. `json` is one line. */
export const nextEvent = (json: string, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: next\ndata: ${json}\n\n`

/** The `complete` event, after which a client does not connect again. */
export const completeEvent = 'event: complete\ndata:\n\n'

const heartbeat = Buffer.from(':\n\n')
// Time without a write after which a stream is quiet.
const quietMs = 5_000

const contentType = 'text/event-stream; charset=utf-8'

/** Sends a single result as an event stream that is complete. */
export const sendOneEvent = (reply: FastifyReply, json: string): FastifyReply =>
  reply
    .code(200)
    .header('content-type', contentType)
    .send(nextEvent(json) + completeEvent)

// Clients that lose their connections together come back spread over this time.
const retryMs = () => 1_000 + Math.floor(Math.random() * 3_000)

/** An open event stream. It buffers nothing: write only while it is not blocked. */
export class EventStream {
  /** Number of the newest event that was sent, among those of its audience. */
  seen = 0
  /** Identifier of the last event that was sent, if events have any. */
  lastEventId: string | undefined
  /** Time since which the client has read nothing, while it is blocked. */
  blockedAt: number | null = null
  /** Called once it is no longer blocked. */
  onWritable: (() => void) | null = null
  /** Called once it is over, whoever ended it. */
  onClose: () => void = () => {}
  isOver = false
  readonly #response: ServerResponse
  readonly #socket: Socket
  #writtenAt = performance.now()

  /** Takes over a response, and sends its headers. Refuses: BAD_REQUEST behind a request that is not answered
   *  yet, because the stream has no end; BAD_REQUEST if the client left meanwhile, because nothing would tell of the
   *  stream's end. */
  constructor(reply: FastifyReply) {
    const { raw: response } = reply
    const { socket } = response
    if (response.closed) throw refusal('BAD_REQUEST', 'The client has left.')
    if (!socket) throw refusal('BAD_REQUEST', 'Open an event stream on a connection of its own.')
    this.#response = response
    this.#socket = socket
    const headers = reply.getHeaders()
    reply.hijack()
    // Ends with the connection: the same bytes go to every client, without a length of each chunk.
    response.removeHeader('transfer-encoding')
    response.writeHead(200, {
      ...headers,
      'content-type': contentType,
      // Keeps nginx from buffering.
      'x-accel-buffering': 'no',
      connection: 'close',
    } as Record<string, string>)
    response.write(`retry: ${retryMs()}\n\n`)
    response.once('close', () => {
      this.isOver = true
      this.onWritable?.()
      this.onClose()
    })
  }

  /** True while the client has not read what was sent before. */
  get isBlocked(): boolean {
    return this.#socket.writableLength > 0
  }

  write(bytes: Buffer | string): void {
    if (this.isOver) return
    this.#writtenAt = performance.now()
    this.#socket.write(bytes)
  }

  /** Writes to a quiet stream, which keeps proxies from closing its connection and shows whether the client is
   *  still there. */
  beat(): void {
    if (!this.isBlocked && performance.now() - this.#writtenAt >= quietMs) this.write(heartbeat)
  }

  /** Ends the stream after these events. A client that does not read is cut off. */
  end(events = ''): void {
    if (this.isOver) return
    if (this.isBlocked) return void this.#socket.destroy()
    this.write(events)
    this.isOver = true
    this.#response.end()
  }

  /** Cuts the connection. */
  destroy(): void {
    this.#socket.destroy()
  }
}
