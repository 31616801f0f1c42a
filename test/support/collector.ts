import { once } from 'node:events'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'

// A stub of an OpenTelemetry collector: decodes the spans of OTLP over HTTP (opentelemetry-proto,
// trace/v1/trace.proto), whose field numbers are part of its contract.

export type ReceivedSpan = {
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  attributes: Record<string, string | number>
  /** Identifiers of the spans that it is linked to. */
  links: string[]
}

type Field = { number: number; value: number | Buffer }

function readVarint(bytes: Buffer, at: number): [value: number, next: number] {
  let value = 0
  for (let shift = 0, index = at; ; shift += 7, index++) {
    const byte = bytes[index] ?? 0
    value += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) return [value, index + 1]
  }
}

/** Reads the fields of a protobuf message. */
function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = []
  for (let at = 0; at < bytes.length; ) {
    const [tag, start] = readVarint(bytes, at)
    const [number, type] = [tag >>> 3, tag & 7]
    if (type === 0) {
      const [value, next] = readVarint(bytes, start)
      fields.push({ number, value })
      at = next
    } else if (type === 1 || type === 5) {
      at = start + (type === 1 ? 8 : 4)
    } else if (type === 2) {
      const [length, from] = readVarint(bytes, start)
      fields.push({ number, value: bytes.subarray(from, from + length) })
      at = from + length
    } else throw new Error(`unknown wire type ${type}`)
  }
  return fields
}

const messagesOf = (bytes: Buffer, number: number): Buffer[] =>
  fieldsOf(bytes).flatMap((field) =>
    field.number === number && Buffer.isBuffer(field.value) ? [field.value] : [],
  )
const bytesOf = (bytes: Buffer, number: number): Buffer => messagesOf(bytes, number)[0] ?? Buffer.alloc(0)

function attributeOf(pair: Buffer): [name: string, value: string | number] {
  const [value] = fieldsOf(bytesOf(pair, 2))
  return [String(bytesOf(pair, 1)), typeof value?.value === 'number' ? value.value : String(value?.value)]
}

const toSpan = (span: Buffer): ReceivedSpan => ({
  traceId: bytesOf(span, 1).toString('hex'),
  spanId: bytesOf(span, 2).toString('hex'),
  parentSpanId: bytesOf(span, 4).toString('hex'),
  name: String(bytesOf(span, 5)),
  attributes: Object.fromEntries(messagesOf(span, 9).map(attributeOf)),
  links: messagesOf(span, 13).map((link) => bytesOf(link, 2).toString('hex')),
})

export type Collector = {
  url: string
  spans: ReceivedSpan[]
  /** Attributes of the services that sent spans. */
  services: Record<string, string | number>[]
  /** Everything that was received, as text. */
  received(): string
  close(): Promise<void>
}

/** Starts a collector on a free port. */
export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = []
  const services: Collector['services'] = []
  const bodies: Buffer[] = []
  const server = createServer(async (request, response) => {
    const sent = await buffer(request)
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
    if (request.url !== '/v1/traces' || request.headers['content-type'] !== 'application/x-protobuf')
      return response.writeHead(404).end()
    bodies.push(body)
    for (const resourceSpans of messagesOf(body, 1)) {
      const resource = bytesOf(resourceSpans, 1)
      services.push(Object.fromEntries(messagesOf(resource, 1).map(attributeOf)))
      for (const scope of messagesOf(resourceSpans, 2)) spans.push(...messagesOf(scope, 2).map(toSpan))
    }
    return response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    spans,
    services,
    received: () => Buffer.concat(bodies).toString('latin1'),
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
