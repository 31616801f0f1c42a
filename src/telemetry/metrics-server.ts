import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Registry } from 'prom-client'
import { explainListening } from '../http/public-url.ts'

/** Address of the metrics. */
export type MetricsAddress = { host: string; metricsPort: number }

// A scraper needs one connection. Each request of this server is small, and none may linger.
const limits = {
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 8_192,
}
const maxConnections = 32

const plain = 'text/plain; charset=utf-8'

function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' }).end(body)
}

/** Serves `/metrics` on a port of its own, and nothing else. Scrapes at the same time share one collection.
 *  Throws an error that names the setting if the port can't be had. The returned function closes it. */
export async function serveMetrics(
  { host, metricsPort: port }: MetricsAddress,
  collect: () => Promise<string>,
  log: { info(message: string): void },
): Promise<() => void> {
  let running: Promise<string> | null = null
  const collectOnce = () => {
    running ??= collect().finally(() => {
      running = null
    })
    return running
  }
  const handle = ({ method, url }: IncomingMessage, response: ServerResponse): void => {
    if (url?.split('?', 1)[0] !== '/metrics') answer(response, 404, plain, 'Not found\n')
    else if (method !== 'GET' && method !== 'HEAD') answer(response, 405, plain, 'Method not allowed\n')
    else send(response)
  }
  const send = (response: ServerResponse): void => {
    collectOnce().then(
      (body) => answer(response, 200, Registry.PROMETHEUS_CONTENT_TYPE, body),
      () => answer(response, 503, plain, 'The metrics could not be collected\n'),
    )
  }
  const server = createServer(limits, handle)
  server.maxConnections = maxConnections
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explainListening(error, { host, port, setting: 'METRICS_PORT' })))
    server.listen(port, host, resolve)
  })
  const address = server.address()
  const bound = typeof address === 'object' && address ? address.port : port
  log.info(`Metrics at http://${host.includes(':') ? `[${host}]` : host}:${bound}/metrics`)
  return () => {
    server.close()
    server.closeAllConnections()
  }
}
