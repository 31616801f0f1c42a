import type { Ask } from './http-client.ts'
import type { Load } from './load.ts'
import type { Job } from './measure.ts'
import type { Server } from './server-process.ts'

type Named = Pick<Job, 'name' | 'description' | 'reach'>

/** A job that is not yet bound to a stage. */
export type JobPlan<Stage> = Named & { on(stage: Stage): Promise<Omit<Job, keyof Named>> }

/** Requests of a side, and its number of clients. */
export type Asks = Pick<Load, 'clients' | 'asks' | 'stay'>

/** Enough clients to keep two CPUs busy. */
export const clients = 16

/** Gives each client its own key, so that requests cannot share work. */
export function eachWithItsOwn(keys: string[], ask: (key: string) => Ask): Asks {
  if (keys.length < clients) throw new Error('each client needs a key of its own')
  return { clients, asks: keys.map(ask), stay: true }
}

/** Makes all clients send the same request. */
export const allTheSame = (ask: Ask): Asks => ({ clients, asks: [ask] })

/** Sends a request and returns the body. Throws unless it succeeds. */
export async function answerOf(
  { port }: Server,
  { method, path, headers, body }: Ask,
): Promise<{ body: string; type: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body })
  if (!response.ok) throw new Error(`${method} ${path} is answered with ${response.status}`)
  return { body: await response.text(), type: response.headers.get('content-type') ?? '' }
}

/** Sends a request and parses its JSON response. */
export const jsonOf = async (server: Server, ask: Ask): Promise<unknown> =>
  JSON.parse((await answerOf(server, ask)).body)
