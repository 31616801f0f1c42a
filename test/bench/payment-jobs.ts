import type { Provider } from './due-payments.ts'
import type { JobPlan } from './job-plan.ts'
import type { LoadResult } from './load.ts'
import type { Reach, Side } from './measure.ts'
import type { Pace, Paced } from './pace.ts'
import type { PayTask } from './pay-driver.ts'
import { type BesideKind, besideAsks, besideKinds, busySide, quietSide } from './payment-beside.ts'
import type { PaymentDatabase } from './payment-database.ts'
import type { PaymentLoad } from './payment-load.ts'
import { barePaymentSide, fastestOf, paymentSide, saleSide } from './payment-sides.ts'
import type { Target } from './requests.ts'
import type { Server } from './server-process.ts'
import { withHoldCheck } from './sides.ts'
import type { Transactions } from './transactions.ts'
import type { WholeSale } from './whole-sale.ts'
import type { Worker } from './worker.ts'

/** Connection of the service to its database: direct, or through PgBouncer in transaction mode. */
export type Connected = 'direct' | 'pgbouncer'

/** A rate with due payments, in the service's database and in an equal copy for the yardstick. */
export type PaymentSale = {
  gateway: Server
  /** Starts the service once more, on the same database, without an optimisation. */
  startWithout(optimisation: string): Promise<Server>
  database: PaymentDatabase
  bare: { name: string; database: PaymentDatabase; pay(task: PayTask): Promise<Transactions> }
}

/** Resources of the payment jobs. */
export type PaymentStage = {
  /** Keys of channels with the same grants. */
  keys: string[]
  /** Integration key, tickets and rates of the organization that sold most. */
  tickets: { key: string; ids: string[] }
  targets: Target[]
  /** A rate without due payments. */
  otherTarget: Target
  payments: Worker<PaymentLoad, LoadResult>
  pace: Worker<Pace, Record<string, Paced>>
  wholeSale: Worker<WholeSale, Transactions>
  /** Opens a sale with its own databases and closes the previous one, unless it is the same. */
  openSale(provider: Provider, connected: Connected): Promise<PaymentSale>
  /** Reason why payments cannot be compared, or null. */
  holdProblem: string | null
}

type Plan = JobPlan<PaymentStage>

/** Number of concurrent buyers. */
export const buyers = 300

// Connection counts to try with pgbench. All transactions lock the same three rows, so few connections are
// best.
const bareClients = [10, 4, 16, 64] as const

const bareSideOf = ({ bare: { name, pay, database } }: PaymentSale): Side => {
  const by = (clients: number) =>
    withHoldCheck(barePaymentSide(name, pay, clients, database.makeDue), database.countPaid)
  const [first, ...others] = bareClients
  return fastestOf([by(first), ...others.map(by)])
}

const channels: Record<Provider, string> = { sandbox: 'by the page', stripe: 'by signed Stripe webhooks' }
const inWords: Record<Connected, string> = { direct: '', pgbouncer: ', through PgBouncer' }
const shortName: Record<Provider, string> = { sandbox: 'page', stripe: 'stripe' }

const paymentJob = (provider: Provider, connected: Connected, reach: Reach): Plan => ({
  name: ['payments', shortName[provider], ...(connected === 'direct' ? [] : [connected])].join('-'),
  description: `payments of one rate, ${buyers} buyers, ${channels[provider]}${inWords[connected]}`,
  reach,
  async on({ payments, openSale, holdProblem }) {
    const sale = await openSale(provider, connected)
    const { gateway, database, bare } = sale
    const { makeDue, countPaid } = database
    return {
      gateway: withHoldCheck(
        paymentSide('gateway', { server: gateway, load: payments, provider, buyers, makeDue }),
        countPaid,
      ),
      // The yardstick always connects directly.
      yardstick: bareSideOf(sale),
      disagreement: async () =>
        holdProblem ?? (await database.findBroken()) ?? (await bare.database.findBroken()),
    }
  },
})

const besideWords: Record<BesideKind, string> = {
  ready: '`/ready`',
  lookup: 'lookup of a ticket, REST',
  checkout: 'checkout of another rate, REST',
  events: 'nested page, REST, shared',
}

const besideJob = (kind: BesideKind): Plan => ({
  name: `payments-beside-${kind}`,
  description: `${besideWords[kind]}, while ${buyers} buyers pay by the page`,
  reach: { atMost: 3, by: 'medians' },
  async on({ keys: [key = ''], tickets, otherTarget, payments, pace, openSale, holdProblem }) {
    const { gateway, database } = await openSale('sandbox', 'direct')
    const { makeDue, countPaid, findBroken } = database
    const beside = { port: gateway.port, pace, kinds: besideAsks(key, tickets, otherTarget) }
    const sale = { server: gateway, load: payments, provider: 'sandbox' as const, buyers, makeDue }
    return {
      gateway: busySide('gateway', beside, kind, sale, countPaid),
      yardstick: quietSide('itself, quiet', beside, kind),
      disagreement: async () => holdProblem ?? (await findBroken()),
    }
  },
})

const wholeClients = 64

const wholeJob: Plan = {
  name: 'sale-whole',
  description: 'whole sales: list, quote, check out, pay, look up',
  reach: null,
  async on({ keys, tickets, targets, wholeSale, openSale, holdProblem }) {
    const { gateway, database } = await openSale('sandbox', 'direct')
    const task = { port: gateway.port, clients: wholeClients, keys, integrationKey: tickets.key, targets }
    return {
      gateway: withHoldCheck(saleSide('gateway', gateway, wholeSale, task), database.countPaid),
      yardstick: null,
      disagreement: async () => holdProblem ?? (await database.findBroken()),
    }
  },
}

/** Payment jobs in order. Jobs on the same databases are adjacent. */
export const paymentPlans = ({ hasPgbouncer }: { hasPgbouncer: boolean }): Plan[] => [
  paymentJob('sandbox', 'direct', { atLeast: 2 }),
  ...besideKinds.map(besideJob),
  wholeJob,
  paymentJob('stripe', 'direct', { atLeast: 2 }),
  ...(hasPgbouncer
    ? [paymentJob('sandbox', 'pgbouncer', { atLeast: 1 }), paymentJob('stripe', 'pgbouncer', { atLeast: 1 })]
    : []),
]
