import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { DuePayment } from '../bench/due-payments.ts'
import type { Round, Side } from '../bench/measure.ts'
import { type PaymentLoad, runPayments } from '../bench/payment-load.ts'

// What the tests of the bench's parts put in the place of servers, sides and workers.

type Handler = (request: IncomingMessage, body: string) => { status: number; body?: string; waitMs?: number }

/** A server that answers as it is told to, and the number of its port. */
export async function serve(handle: Handler): Promise<number> {
  const server = createServer(async (request, response) => {
    const { status, body = '', waitMs = 0 } = handle(request, await text(request))
    setTimeout(() => {
      response.writeHead(status, { 'content-length': Buffer.byteLength(body), location: '/done' }).end(body)
    }, waitMs)
  })
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

/** Payments that are due at no database. */
export const duePaymentsOf = (count: number): DuePayment[] =>
  Array.from({ length: count }, (_, n) => ({
    id: `pay_${n}`,
    token: `token${n}`,
    sessionId: `cs_${n}`,
    amount: 1944,
    currency: 'EUR',
  }))

/** A round of a second. */
export const roundOf = (requests: number, more: Partial<Round> = {}): Round => ({
  ...{ requests, seconds: 1, p50: 1, p99: 2, cpuSeconds: null, problem: null },
  ...more,
})
/** A side that has these rounds, one after another. */
export const sideOf = (name: string, clients: number, rounds: Round[]): Side => ({
  name,
  clients,
  residentMegabytes: async () => null,
  run: async () => rounds.shift() ?? roundOf(0),
})
/** A worker in this process. */
export const workerOf = <Task, Result>(run: (task: Task) => Promise<Result>) => ({
  run,
  stop: async () => {},
})

const serverAt = (port: number) => ({ port, pid: process.pid, stop: async () => {} })
/** Five payments, each made once, by two buyers. */
export const payingFive = (port: number) => ({
  server: serverAt(port),
  // That they ran out is what ends it.
  load: workerOf(async (task: PaymentLoad) => ({ ...(await runPayments(task)), ranOut: false })),
  provider: 'sandbox' as const,
  buyers: 2,
  makeDue: async () => duePaymentsOf(5),
})
