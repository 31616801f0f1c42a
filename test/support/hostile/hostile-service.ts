import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { importCatalogue } from '../../../src/domain/catalogue/import-catalogue.ts'
import {
  aCatalogue,
  anEvent,
  aPrice,
  aQuestion,
  aRate,
  aRateOf,
  aSupplement,
  channelHeaders,
} from '../factories.ts'
import { createTestDatabase } from '../harness.ts'
import type { Hostile } from './corpus.ts'

type Headers = Record<string, string>
type Answer = {
  status: number
  text: string
  /** Milliseconds of the processor that the longest turn took, as if nobody else were at this machine. */
  longest: number
}

export type HostileService = {
  /** The headers of a channel. */
  channel: Headers
  /** Sends one request, and resolves to how long the service stood still and what it answered; to null where that took
   *  it `patienceMs` and more, after which it is killed and begins anew. */
  send(request: Hostile, headers?: Headers, timeoutMs?: number): Promise<Answer | null>
  /** Sends many, a few at a time, and resolves to the last answer's text. Nothing is measured. */
  flood(requests: Hostile[], headers?: Headers): Promise<string>
  /** How many bytes the process holds, once it has collected its garbage. */
  memory(): Promise<number>
  close(): Promise<void>
}

const program = fileURLToPath(new URL('measured-server.js', import.meta.url))

// As many as a page shows at most, so that what costs most is there to be asked for.
const rates = () =>
  Array.from({ length: 4 }, () =>
    aRate({ prices: [aPrice(), aPrice()], supplements: [aSupplement()], questions: [aQuestion()] }),
  )
const catalogue = () =>
  aCatalogue({
    events: [
      anEvent({ ticket_rates: [aRateOf(100)] }),
      ...Array.from({ length: 99 }, () => anEvent({ ticket_rates: rates() })),
    ],
  })

async function askChild<Told>(child: ChildProcess, asked: string): Promise<Told> {
  child.send(asked)
  const [told] = await once(child, 'message')
  return told
}

/** The built service in a process of its own, with the bounds of a request or without them. */
export async function openHostileService(bounds: 'bounded' | 'unbounded'): Promise<HostileService> {
  const database = await createTestDatabase()
  const opened = await database.open()
  await importCatalogue(opened.db, catalogue())
  const channel = await channelHeaders(opened.db)
  await opened.close()

  async function start() {
    const env = { PATH: process.env.PATH, ...database.settings }
    const child = fork(program, [bounds], { env, execArgv: ['--expose-gc', '--max-old-space-size=1024'] })
    const [{ url }] = await once(child, 'message')
    return { child, url: String(url) }
  }
  async function end({ child }: { child: ChildProcess }) {
    const ended = once(child, 'close')
    child.kill('SIGKILL')
    await ended
  }
  let service = await start()

  async function send({ method, url, headers, body }: Hostile, more: Headers = {}, timeoutMs = 30_000) {
    const { child } = service
    const { slowness } = await askChild<{ slowness: number }>(child, 'start')
    try {
      const signal = AbortSignal.timeout(timeoutMs)
      const init = { method, headers: { ...headers, ...more }, body, signal }
      const answer = await fetch(service.url + url, init)
      const text = await answer.text()
      const { longest } = await askChild<{ longest: number }>(child, 'stop')
      return { status: answer.status, text, longest: longest / slowness }
    } catch {
      await end(service)
      service = await start()
      return null
    }
  }

  async function flood(requests: Hostile[], more: Headers = {}) {
    const waiting = [...requests]
    let last = ''
    const next = async () => {
      for (let request = waiting.pop(); request; request = waiting.pop()) {
        const { method, url, headers, body } = request
        const answer = await fetch(service.url + url, { method, headers: { ...headers, ...more }, body })
        last = await answer.text()
      }
    }
    await Promise.all(Array.from({ length: 8 }, next))
    return last
  }

  return {
    channel,
    send,
    flood,
    memory: async () => (await askChild<{ memory: number }>(service.child, 'memory')).memory,
    async close() {
      await end(service)
      await database.drop()
    },
  }
}
