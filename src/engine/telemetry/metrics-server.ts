import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { explainListening, hostInUrl } from '../http/public-url.ts'

// A scraper needs one connection. Each request of this server is small, and none may linger.
const limits = {
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 8_192,
}
const maxConnections = 32

type Log = { info(message: string): void }

/** Serves `/metrics` on a port of its own, and nothing else. Scrapes at the same time share one collection.
 *  Throws an error that names the setting if the port can't be had. The returned function closes it. */
export async function serveMetrics(host: string, port: number, collect: () => Promise<string>, log: Log) {
  let running: Promise<string> | null = null
  async function answerTo({ method, url }: IncomingMessage): Promise<[status: number, body: string]> {
    if (url?.split('?', 1)[0] !== '/metrics') return [404, 'Not found\n']
    if (method !== 'GET' && method !== 'HEAD') return [405, 'Method not allowed\n']
    running ??= collect().finally(() => {
      running = null
    })
    return running.then(
      (body) => [200, body],
      () => [503, 'The metrics could not be collected\n'],
    )
  }
  const server = createServer(limits, async (request, response) => {
    const [status, body] = await answerTo(request)
    const type = status === 200 ? Registry.PROMETHEUS_CONTENT_TYPE : 'text/plain; charset=utf-8'
    response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' }).end(body)
  })
  server.maxConnections = maxConnections
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explainListening(error, { host, port, setting: 'METRICS_PORT' })))
    server.listen(port, host, resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  log.info(`Metrics at http://${hostInUrl(host)}:${bound}/metrics`)
  return () => {
    server.close()
    server.closeAllConnections()
  }
}
