import type { DuePayment, Provider } from './due-payments.ts'
import type { LoadResult } from './load.ts'
import type { Round, Side } from './measure.ts'
import type { PayTask } from './pay-driver.ts'
import type { PaymentLoad } from './payment-load.ts'
import { type Server, usageOf } from './server-process.ts'
import type { Transactions } from './transactions.ts'
import type { WholeSale } from './whole-sale.ts'
import type { Worker } from './worker.ts'

/** Makes enough payments due for this many seconds. Returns all due payments. */
export type MakeDue = (seconds: number) => Promise<DuePayment[]>

// Expected statuses: a redirect for a buyer, a 200 for Stripe's event.
const goodStatus: Record<Provider, string> = { sandbox: '303', stripe: '200' }

/** Returns what is wrong with the responses to payments, or null. */
export function paymentProblem(
  provider: Provider,
  { statuses, shortest, longest, ranOut }: LoadResult,
): string | null {
  const { [goodStatus[provider]]: good = 0, ...bad } = statuses
  if (good === 0 || Object.keys(bad).length > 0)
    return `answers other than ${goodStatus[provider]}: ${JSON.stringify(bad)}`
  if (shortest < longest / 2) return `answers of ${shortest} and of ${longest} bytes`
  return ranOut ? 'all payments that were due were paid before the time was over' : null
}

export type Paying = {
  server: Server
  load: Worker<PaymentLoad, LoadResult>
  provider: Provider
  buyers: number
  makeDue: MakeDue
}

/** The service, with concurrent buyers who pay each payment once. */
export const paymentSide = (name: string, { server, load, provider, buyers, makeDue }: Paying): Side => ({
  name,
  clients: buyers,
  residentMegabytes: async () => (await usageOf(server.pid))?.residentMegabytes ?? null,
  async run(seconds) {
    const due = await makeDue(seconds)
    const before = await usageOf(server.pid)
    const result = await load.run({ port: server.port, clients: buyers, seconds, provider, due })
    const after = await usageOf(server.pid)
    const problem = paymentProblem(provider, result)
    return {
      requests: result.answers,
      seconds: result.seconds,
      p50: result.p50,
      p99: result.p99,
      cpuSeconds: before && after ? after.cpuSeconds - before.cpuSeconds : null,
      problem: problem && `${name}: ${problem}`,
    }
  },
})

/** The service, with whole sales from the event list to the lookup at the door. Throws if a sale fails. */
export const saleSide = (
  name: string,
  server: Server,
  worker: Worker<WholeSale, Transactions>,
  task: Omit<WholeSale, 'seconds'>,
): Side => ({
  name,
  clients: task.clients,
  residentMegabytes: async () => (await usageOf(server.pid))?.residentMegabytes ?? null,
  async run(seconds) {
    const before = await usageOf(server.pid)
    const { transactions, ...result } = await worker.run({ ...task, seconds })
    const after = await usageOf(server.pid)
    const cpuSeconds = before && after ? after.cpuSeconds - before.cpuSeconds : null
    return { ...result, requests: transactions, cpuSeconds, problem: null }
  },
})

/** A side that repeats the bare payment on `clients` connections. */
export const barePaymentSide = (
  name: string,
  pay: (task: PayTask) => Promise<Transactions>,
  clients: number,
  makeDue: MakeDue,
): Side => ({
  name,
  clients,
  residentMegabytes: async () => null,
  async run(seconds) {
    await makeDue(seconds)
    const { transactions, ...result } = await pay({ clients, seconds })
    return { ...result, requests: transactions, cpuSeconds: null, problem: null }
  },
})

/** The fastest of several sides, so that the yardstick is as hard as possible. The first run, the warm-up,
 *  tries each of them; later runs use the one with the most requests per second. */
export function fastestOf(sides: [Side, ...Side[]]): Side {
  let [fastest] = sides
  let isChosen = false
  return {
    name: fastest.name,
    get clients() {
      return fastest.clients
    },
    residentMegabytes: () => fastest.residentMegabytes(),
    async run(seconds): Promise<Round> {
      if (isChosen) return fastest.run(seconds)
      isChosen = true
      const rounds: { side: Side; round: Round }[] = []
      for (const side of sides) rounds.push({ side, round: await side.run(seconds) })
      const [best] = rounds.toSorted(
        (one, other) => other.round.requests / other.round.seconds - one.round.requests / one.round.seconds,
      )
      if (!best) throw new Error('there is no side')
      fastest = best.side
      const failed = rounds.find(({ round }) => round.problem !== null)
      return { ...best.round, problem: failed?.round.problem ?? null }
    },
  }
}
