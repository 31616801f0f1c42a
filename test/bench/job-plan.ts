import type { Ask } from './http-client.ts'
import type { Load } from './load.ts'
import type { Job } from './measure.ts'
import type { Server } from './server-process.ts'

type Named = Pick<Job, 'name' | 'description' | 'reach'>

/** What is measured, before there is anything to measure it on. */
export type JobPlan<Stage> = Named & { on(stage: Stage): Promise<Omit<Job, keyof Named>> }

/** What a side is asked, and by how many. */
export type Asks = Pick<Load, 'clients' | 'asks' | 'stay'>

/** Enough to keep two processors busy. */
export const clients = 16

/** Each client asks with a key of its own, so that no two requests have anything in common. */
export function eachWithItsOwn(keys: string[], ask: (key: string) => Ask): Asks {
  if (keys.length < clients) throw new Error('each client needs a key of its own')
  return { clients, asks: keys.map(ask), stay: true }
}

/** All of them ask for the same thing. */
export const allTheSame = (ask: Ask): Asks => ({ clients, asks: [ask] })

/** What a server answers; throws where it doesn't. */
export async function answerOf(
  { port }: Server,
  { method, path, headers, body }: Ask,
): Promise<{ body: string; type: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body })
  if (!response.ok) throw new Error(`${method} ${path} is answered with ${response.status}`)
  return { body: await response.text(), type: response.headers.get('content-type') ?? '' }
}

/** The same, of JSON. */
export const jsonOf = async (server: Server, ask: Ask): Promise<unknown> =>
  JSON.parse((await answerOf(server, ask)).body)
