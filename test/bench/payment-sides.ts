import type { DuePayment, Provider } from './due-payments.ts'
import type { LoadResult } from './load.ts'
import type { Round, Side } from './measure.ts'
import type { PayTask } from './pay-driver.ts'
import type { PaymentLoad } from './payment-load.ts'
import { type Server, usageOf } from './server-process.ts'
import type { Transactions } from './transactions.ts'
import type { WholeSale } from './whole-sale.ts'
import type { Worker } from './worker.ts'

/** Makes enough payments due for so many seconds; gives all that are. */
export type MakeDue = (seconds: number) => Promise<DuePayment[]>

// A buyer is sent on to the channel, Stripe is told that it was heard.
const goodStatus: Record<Provider, string> = { sandbox: '303', stripe: '200' }

/** What speaks against the answers to payments; null where nothing does. */
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

/** The service, paid by many buyers at once, each payment once. */
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

/** The service, selling from the list to the door. Throws where a life goes wrong. */
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

/** The bare payment, again and again, by so many connections. */
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

/** The fastest of several ways to do the same. The first run, which warms up, tries each for as long as it was told to;
 *  from then on it is the one that did most a second. A yardstick is as hard as it can be made. */
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
