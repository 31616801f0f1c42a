import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
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
  /** CPU time of the longest turn of the event loop, in milliseconds, corrected for the load of the machine.
   *  */
  longest: number
}

export type HostileService = {
  /** Headers of a channel. */
  channel: Headers
  /** Sends one request. Resolves to its response and the longest turn of the event loop, or to null after
   *  `timeoutMs`, in which case the service is killed and restarted. */
  send(request: Hostile, headers?: Headers, timeoutMs?: number): Promise<Answer | null>
  /** Sends many requests, eight at a time, and resolves to the body of the last response. Measures nothing.
   *  */
  flood(requests: Hostile[], headers?: Headers): Promise<string>
  /** Resident memory of the process after a garbage collection, in bytes. */
  memory(): Promise<number>
  close(): Promise<void>
}

const program = fileURLToPath(new URL('measured-server.js', import.meta.url))

// As many as the largest page shows, so that the most expensive requests find data.
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

async function askChild<Reply>(child: ChildProcess, asked: string): Promise<Reply> {
  child.send(asked)
  const [reply] = await once(child, 'message')
  return reply
}

/** Starts the built service in its own process, with or without request limits. */
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
