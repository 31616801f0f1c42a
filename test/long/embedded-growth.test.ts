import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/database/open.ts'
import { assignPositions } from '../../src/domain/change/assign-positions.ts'
import { payments } from '../../src/domain/payment/table.ts'
import { sweepHolds } from '../../src/domain/sale/release/expire-holds.ts'
import { anEntry, type Checkout, mustCheckOut } from '../support/checkouts.ts'
import { watchSales } from '../support/copied-sales.ts'
import { sendDeliveriesOnce } from '../support/deliveries.ts'
import { anEventAtDoor, openDoors, scanTicket } from '../support/door.ts'
import { aCatalogue, aRateOf } from '../support/factories.ts'
import { openPageBuyer } from '../support/payment-page-buyer.ts'
import { endHolds } from '../support/queued-payments.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { makeDatabaseFolder } from '../support/setup/temporary-folder.ts'
import { sendDueWebhooks, startReceiver, webhooksOf } from '../support/webhooks.ts'

// The embedded database while it sells in one process: for each sale a checkout that expires, mails, webhooks and a scan.
// GROWN_SALES names the number of sales (docs/operations.md, The embedded database); UPKEEP=off shows the same without the
// database's upkeep. Times are those of this process's processor, which other processes lengthen little: its statements run
// in this process.

const sales = Number(process.env.GROWN_SALES ?? 50_000)
const hasUpkeep = process.env.UPKEEP !== 'off'
const few = 1_000
const many = Math.min(20_000, sales)
const together = 20
// Sales between two times at which all jobs run, which takes a process some five seconds or more.
const inRound = 500

let folder: string
let sale: Sale
beforeAll(async () => {
  folder = await makeDatabaseFolder('growth')
  const open = async (options = {}) => {
    const opened = await openDatabase({ databaseUrl: undefined, dataDir: folder }, options)
    await opened.migrate()
    return opened
  }
  const event = anEventAtDoor({ ticket_rates: [aRateOf(sales * 3)] })
  const database = { settings: {}, open, drop: async () => {} }
  const settings = { ...openDoors, WEBHOOKS_TO_PRIVATE_ADDRESSES: 'true' }
  sale = await openSale(aCatalogue({ events: [event] }), { database, settings })
}, 60_000)
afterAll(async () => {
  await sale?.close()
  await rm(folder, { recursive: true, force: true })
})

async function megabytesIn(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const stats = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))))
  return stats.reduce((sum, { size }) => sum + size, 0) / 1e6
}

const sizes = async () => {
  const wal = await megabytesIn(join(folder, 'postgres/pg_wal'))
  return { tables: (await megabytesIn(join(folder, 'postgres'))) - wal, wal }
}

async function processorMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

async function each<Item>(list: Item[], act: (item: Item) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < list.length; from += together)
    await Promise.all(list.slice(from, from + together).map(act))
}

const checkOut = () =>
  mustCheckOut(sale, { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')], send_resourcers: true })
const scan = ({ tickets: [ticket] }: Checkout) => scanTicket(sale, { ticketId: ticket?._id })

const steps: number[] = []
/** Jobs as a second of sales has them. */
async function runJobs(): Promise<void> {
  await sweepHolds(sale.db)
  await assignPositions(sale.db)
  if (hasUpkeep) steps.push(await processorMs(async () => sale.database.keepUp?.()))
}

const endHoldsOf = ({ payment_id }: Checkout) => endHolds(sale.db, eq(payments.id, payment_id))

/** Lets one checkout expire and sells another, and returns a function that makes copies of both until that many are sold. */
async function watchSale() {
  const receiver = await startReceiver()
  await webhooksOf(sale).register(receiver.url)
  // Positions are given to copies by the product itself.
  const stepSince = await watchSales(sale.db, ['feed_position'])
  const notify = async () => {
    await assignPositions(sale.db)
    await sendDueWebhooks(sale)
  }
  const left = await checkOut()
  const leave = await stepSince()
  await endHoldsOf(left)
  await sweepHolds(sale.db)
  await notify()
  const expire = await stepSince()
  const bought = await checkOut()
  const hold = await stepSince()
  await openPageBuyer(sale).pay(bought)
  const pay = await stepSince()
  await sendDeliveriesOnce(sale, { MAIL_DIR: folder })
  await notify()
  const send = await stepSince()
  await scan(bought)
  const enter = await stepSince()
  await notify()
  const sendAgain = await stepSince()
  receiver.close()
  let made = 0
  return async (wanted: number) => {
    for (; made < wanted; made += inRound) {
      for (const [step, moves] of [
        [leave, `held = held + ${inRound}`],
        [hold, `held = held + ${inRound}`],
        [pay, `held = held - ${inRound}, sold = sold + ${inRound}`],
        [send, ''],
        [enter, ''],
        [sendAgain, ''],
        [expire, `held = held - ${inRound}`],
      ] as const) {
        await step(made + 1, made + inRound)
        if (moves) await sale.db.execute(sql.raw(`update stock set ${moves}`))
        await runJobs()
      }
    }
  }
}

const measured = 100
/** Least time in which the processor pays and scans one of a hundred, of some tries. */
async function fastest(tries: number) {
  const buyer = openPageBuyer(sale)
  const least = { pay: Number.POSITIVE_INFINITY, scan: Number.POSITIVE_INFINITY }
  for (let time = 0; time < tries; time++) {
    const bought: Checkout[] = []
    await each(Array.from({ length: measured }), async () => bought.push(await checkOut()))
    const pay = await processorMs(() => each(bought, buyer.pay))
    const scans = await processorMs(() => each(bought, scan))
    least.pay = Math.min(least.pay, pay / measured)
    least.scan = Math.min(least.scan, scans / measured)
    await runJobs()
  }
  return least
}

const shown = (values: Record<string, number>) =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${value.toFixed(2)}`)
    .join(', ')

test('the folder and a sale grow with what is sold, and not with what is over', async () => {
  const empty = await sizes()
  const sellUpTo = await watchSale()
  const report = async (sold: number, values: Record<string, number>) => {
    const most = Math.max(...steps)
    process.stdout.write(`${sold} sales: ${shown({ ...(await sizes()), ...values, longest: most })}\n`)
  }
  await sellUpTo(few)
  await fastest(3)
  const atFew = await fastest(5)
  await report(few, atFew)
  await sellUpTo(many)
  const atMany = await fastest(5)
  await report(many, atMany)
  await sellUpTo(sales)
  await report(sales, await fastest(5))
  const grown = await sizes()
  process.stdout.write(
    `steps: ${steps
      .toSorted((a, b) => b - a)
      .slice(0, 10)
      .map((s) => s.toFixed(0))}\n`,
  )
  await sale.db.execute(sql`vacuum full`)
  const whole = await sizes()
  process.stdout.write(`${shown(grown)}; written anew: ${shown(whole)}\n`)
  expect(await sale.db.$count(payments, sql`status = 'pending'`)).toBe(0)
  expect((grown.tables - empty.tables) / (whole.tables - empty.tables)).toBeLessThan(1.5)
  expect(grown.wal).toBeLessThan(100)
}, 7_200_000)
