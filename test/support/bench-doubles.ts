import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { DuePayment } from '../bench/due-payments.ts'
import type { Round, Side } from '../bench/measure.ts'
import { type PaymentLoad, runPayments } from '../bench/payment-load.ts'

// Test doubles for the bench's servers, sides and workers.

type Handler = (request: IncomingMessage, body: string) => { status: number; body?: string; waitMs?: number }

/** Starts a server that answers with `handle`. Returns its port. */
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

/** Due payments that exist in no database. */
export const duePaymentsOf = (count: number): DuePayment[] =>
  Array.from({ length: count }, (_, n) => ({
    id: `pay_${n}`,
    organizationId: 'org_1',
    token: `token${n}`,
    sessionId: `cs_${n}`,
    amount: 1944,
    currency: 'EUR',
  }))

/** A round that took one second. */
export const roundOf = (requests: number, more: Partial<Round> = {}): Round => ({
  ...{ requests, seconds: 1, p50: 1, p99: 2, cpuSeconds: null, problem: null },
  ...more,
})
/** A side that returns these rounds in order. */
export const sideOf = (name: string, clients: number, rounds: Round[]): Side => ({
  name,
  clients,
  residentMegabytes: async () => null,
  run: async () => rounds.shift() ?? roundOf(0),
})
/** A worker that runs in this process. */
export const workerOf = <Task, Result>(run: (task: Task) => Promise<Result>) => ({
  run,
  stop: async () => {},
})

const serverAt = (port: number) => ({ port, pid: process.pid, stop: async () => {} })
/** Options of a payment side that pays five payments once each, with two buyers. */
export const payingFive = (port: number) => ({
  server: serverAt(port),
  // Running out of payments is the expected end here, not a problem.
  load: workerOf(async (task: PaymentLoad) => ({ ...(await runPayments(task)), ranOut: false })),
  provider: 'sandbox' as const,
  buyers: 2,
  makeDue: async () => duePaymentsOf(5),
})
