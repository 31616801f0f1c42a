import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'

/** Proxy before a service that refuses each request once, with 503 and `Retry-After`, as a busy service does;
 *  streams pass. `refused` counts what it refused, `idempotencyKeys` lists those of the checkouts that passed. */
export async function openBusyProxy(target: string) {
  const seen = new Set<string>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const name = `${request.method} ${request.url} ${body}`
    // Clients that read answers as well accept more than a stream.
    const isStream = request.headers.accept === 'text/event-stream'
    if (!isStream && !seen.has(name)) {
      seen.add(name)
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' })
      response.end('{"errors":[{"message":"Busy"}]}')
      return
    }
    const headers = new Headers()
    for (const [header, value] of Object.entries(request.headers))
      if (!/^(host|connection|content-length|accept-encoding)$/.test(header))
        headers.set(header, String(value))
    const aborted = new AbortController()
    response.once('close', () => aborted.abort())
    try {
      const answer = await fetch(target + request.url, {
        method: request.method ?? 'GET',
        headers,
        ...(body.length > 0 && { body }),
        signal: aborted.signal,
      })
      const kept = [...answer.headers].filter(
        ([header]) => !/^(content-(length|encoding)|connection|transfer-encoding|keep-alive)$/.test(header),
      )
      response.writeHead(answer.status, Object.fromEntries(kept))
      if (answer.body)
        for await (const chunk of Readable.fromWeb(answer.body as ReadableStream)) response.write(chunk)
      response.end()
    } catch {
      response.destroy()
    }
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused: () => seen.size,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
