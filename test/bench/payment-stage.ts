import { startStubStripe, stripeSettings } from '../support/stub-stripe.ts'
import { startPgbouncer } from '../system/pgbouncer-server.ts'
import { fillDatabase, sell, targetsOf, ticketsOf } from './database.ts'
import type { Provider } from './due-payments.ts'
import { clients } from './job-plan.ts'
import type { LoadResult } from './load.ts'
import type { Pace, Paced } from './pace.ts'
import type { PayTask } from './pay-driver.ts'
import { payWithPgbench } from './pay-pgbench.ts'
import { openPaymentDatabase } from './payment-database.ts'
import type { Connected, PaymentSale, PaymentStage } from './payment-jobs.ts'
import type { PaymentLoad } from './payment-load.ts'
import { openScope, type Scope } from './scope.ts'
import { gatewaySettings, type SetUp, service, starterOf, startTasks } from './set-up.ts'
import type { Transactions } from './transactions.ts'
import type { WholeSale } from './whole-sale.ts'

// Tickets sold in advance, to be looked up.
const soldTickets = 5000

// Same size as the service's own pool.
const pooledConnections = 10

/** Opens one catalogue. Each sale gets two equal copies, for the service and for the yardstick. */
export async function openPaymentStage({
  scope,
  server,
  options,
  hasPgbench,
  say,
}: SetUp): Promise<PaymentStage> {
  say(`Seeding ${options.events} events to be paid for…`)
  const base = await scope.keep(server.create(), (database) => database.drop())
  const { keys } = await fillDatabase(base, { events: options.events, channels: clients })
  await sell(base, soldTickets)
  const tickets = await ticketsOf(base)
  const [, otherTarget] = await targetsOf(base)
  if (!otherTarget) throw new Error('the catalogue has one rate that can be bought, and no other')
  const targets = await targetsOf(base, tickets.organizationId)
  const stripe = await scope.keep(startStubStripe(), (fake) => fake.close())
  let current: { name: string; scope: Scope; sale: PaymentSale } | null = null

  const settingsOf: Record<Provider, Record<string, string>> = {
    sandbox: gatewaySettings,
    stripe: { ...gatewaySettings, ...stripeSettings(stripe.url) },
  }
  async function startGateway(own: Scope, url: string, provider: Provider, connected: Connected) {
    const start = starterOf(own)
    if (connected === 'direct') return start(service, { url }, settingsOf[provider])
    const pooler = await own.keep(startPgbouncer(url, pooledConnections), (pooler) => pooler.stop())
    const pooled = { DATABASE_POOLER: 'transaction', DIRECT_DATABASE_URL: url }
    return start(service, pooler, { ...settingsOf[provider], ...pooled })
  }
  async function startSale(own: Scope, provider: Provider, connected: Connected): Promise<PaymentSale> {
    const copy = () => own.keep(server.create(base), (database) => database.drop())
    const [sold, bare] = [await copy(), await copy()]
    const seconds = Math.max(options.seconds, options.warmUpSeconds)
    const driver = hasPgbench
      ? null
      : await startTasks<PayTask, Transactions>(own, './pay-worker.js', { DATABASE_URL: bare.url })
    return {
      database: await openPaymentDatabase(sold, provider, seconds),
      bare: {
        name: driver ? 'postgres.js' : 'pgbench',
        database: await openPaymentDatabase(bare, provider, seconds),
        pay: driver ? driver.run : (task) => payWithPgbench(bare.url, task),
      },
      gateway: await startGateway(own, sold.url, provider, connected),
      startWithout: (optimisation) =>
        starterOf(own)(service, sold, { ...settingsOf[provider], FAST: `-${optimisation}` }),
    }
  }
  return {
    keys,
    tickets,
    targets,
    otherTarget,
    pace: await startTasks<Pace, Record<string, Paced>>(scope, './pace-worker.js'),
    wholeSale: await startTasks<WholeSale, Transactions>(scope, './whole-sale-worker.js'),
    payments: await startTasks<PaymentLoad, LoadResult>(scope, './payment-load-worker.js'),
    async openSale(provider, connected) {
      const name = `${provider} ${connected}`
      if (current?.name === name) return current.sale
      await current?.scope.stop()
      current = null
      const own = await scope.keep(Promise.resolve(openScope()), (scope) => scope.stop())
      current = { name, scope: own, sale: await startSale(own, provider, connected) }
      return current.sale
    },
    holdProblem: server.problem,
  }
}
