import type { LightMyRequestResponse as Answer, FastifyInstance } from 'fastify'
import type { Ask } from './matrix-row.ts'

// Time for the first event of a stream that may have none. Another answer has an end.
const waitMs = 1_000

const addressOf = async (app: FastifyInstance): Promise<string> => {
  const address = app.server.address()
  if (address === null) return app.listen({ host: '127.0.0.1', port: 0 })
  return typeof address === 'string' ? address : `http://127.0.0.1:${address.port}`
}

/** Sends a subscription and returns its stream up to the first event, without the pause that is random, in the
 *  form of an injected response. */
export async function sendStream(
  app: FastifyInstance,
  { method, url, body }: Ask,
  headers: Record<string, string>,
): Promise<Answer> {
  const controller = new AbortController()
  const response = await fetch(`${await addressOf(app)}${url}`, {
    method,
    headers: { accept: 'text/event-stream', 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: controller.signal,
  })
  let text = ''
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  const timer = isStream ? setTimeout(() => controller.abort(), waitMs) : undefined
  try {
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString()
      if (/^event: .*\n(.*\n)*\n/m.test(text)) break
    }
  } catch (error) {
    if (!controller.signal.aborted) throw error
  } finally {
    clearTimeout(timer)
    controller.abort()
  }
  const sent = text.replace(/^retry: \d+\n\n/, '')
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: sent,
    json: () => JSON.parse(sent),
  } as Answer
}
