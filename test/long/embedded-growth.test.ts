// Runs in: long, first

import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { eq, sql } from 'drizzle-orm'
import { expect, onTestFinished, test } from 'vitest'
import { assignPositions } from '../../src/domain/change/assign-positions.ts'
import { payments } from '../../src/domain/payment/table.ts'
import { sweepHolds } from '../../src/domain/sale/release/expire-holds.ts'
import { openDatabase } from '../../src/engine/database/open.ts'
import type { Checkout } from '../support/checkouts.ts'
import { watchSales } from '../support/copied-sales.ts'
import { sendDeliveriesOnce } from '../support/deliveries.ts'
import { anEventAtDoor, openDoors, scanTicket } from '../support/door.ts'
import { aRateOf } from '../support/factories.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { openPageBuyer } from '../support/payment-page-buyer.ts'
import { endHolds } from '../support/queued-payments.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { makeDatabaseFolder } from '../support/setup/temporary-folder.ts'
import { holdTickets } from '../support/tickets.ts'
import { sendDueWebhooks, startReceiver, webhooksOf } from '../support/webhooks.ts'

// The embedded database while it sells in one process: for each sale a checkout that expires, a mail, webhooks and a scan.
// GROWN_SALES names the number of sales (docs/operations.md, The embedded database); UPKEEP=off shows the same without the
// database's upkeep. Times are those of this process's processor, which others lengthen less: its statements run in it.
// Among other tests they still vary by half, so only a run that names the number is held to a tenth.

const few = 1_000
const many = Number(process.env.GROWN_SALES ?? 10_000)
const leastSpeed = process.env.GROWN_SALES ? 0.9 : 0.5
const hasUpkeep = process.env.UPKEEP !== 'off'
// Sales between two runs of all jobs for each of their steps, which takes a process that sells alone some five seconds.
const inRound = 500

async function processorMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Opens a sale in an embedded database, with a webhook. `keepUp` does the jobs of a second, and keeps the time that the upkeep
 *  took in `steps`, in milliseconds. */
async function openWorld(name: string) {
  const folder = await makeDatabaseFolder(name)
  const open = async (options = {}) => {
    const opened = await openDatabase({ databaseUrl: undefined, dataDir: folder }, options)
    await opened.migrate()
    return opened
  }
  const event = anEventAtDoor({ ticket_rates: [aRateOf(many * 3)] })
  const database = { settings: {}, open, drop: async () => {} }
  const settings = { ...openDoors, WEBHOOKS_TO_PRIVATE_ADDRESSES: 'true' }
  const sale = await openSale({ events: [event], database, settings })
  onTestFinished(async () => {
    await sale.close()
    await rm(folder, { recursive: true, force: true })
  })
  const steps: number[] = []
  const runJobs = async () => {
    await sweepHolds(sale.db)
    await assignPositions(sale.db)
    if (hasUpkeep) steps.push(await processorMs(async () => sale.database.keepUp?.()))
  }
  return { folder, sale, steps, runJobs }
}
type World = Awaited<ReturnType<typeof openWorld>>

const checkOut = (sale: Sale) => holdTickets(sale, { send_resourcers: true })
const scan = (sale: Sale, { tickets: [ticket] }: Checkout) => scanTicket(sale, { ticketId: ticket?._id })

/** Lets one checkout expire and sells another, step by step. Returns a function that makes copies of both until that many are
 *  sold. */
async function watchWorld({ sale, folder, runJobs }: World) {
  const { db } = sale
  const receiver = await startReceiver()
  onTestFinished(receiver.close)
  await webhooksOf(sale).register(receiver.url)
  const notify = async () => {
    await assignPositions(db)
    await sendDueWebhooks(sale)
  }
  const stepSince = await watchSales(db, ['feed_position'])
  const left = await checkOut(sale)
  const leave = await stepSince()
  await endHolds(db, eq(payments.id, left.payment_id))
  await sweepHolds(db)
  await notify()
  const expire = await stepSince()
  const bought = await checkOut(sale)
  const hold = await stepSince()
  await openPageBuyer(sale).pay(bought)
  const pay = await stepSince()
  await sendDeliveriesOnce(sale, { MAIL_DIR: folder })
  await notify()
  const send = await stepSince()
  await scan(sale, bought)
  const enter = await stepSince()
  await notify()
  const sendEntry = await stepSince()
  // Counters that sales share.
  const move = (one: string) => `update stock set ${one} where mode = 'live'`
  const steps = [
    { step: leave, counts: [move('held = held + 1')] },
    { step: hold, counts: [move('held = held + 1')] },
    {
      step: pay,
      counts: [move('held = held - 1, sold = sold + 1'), 'update invoice_series set last = last + 1'],
    },
    { step: send, counts: [] },
    { step: enter, counts: [] },
    { step: sendEntry, counts: [] },
    { step: expire, counts: [move('held = held - 1')] },
  ]
  let made = 0
  return async (wanted: number) => {
    for (; made < wanted; made += inRound)
      for (const { step, counts } of steps) {
        await step(made + 1, made + inRound)
        for (const one of counts) await db.execute(sql.raw(one.replaceAll('1', `${inRound}`)))
        await runJobs()
      }
  }
}

const measured = 100
const together = 20
async function each<Item>(list: Item[], act: (item: Item) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < list.length; from += together)
    await Promise.all(list.slice(from, from + together).map(act))
}

type Times = { pay: number; scan: number }
const slowest: Times = { pay: Number.POSITIVE_INFINITY, scan: Number.POSITIVE_INFINITY }

/** Sells and scans a hundred tickets. Returns the least milliseconds for one, now or before. */
async function sell({ sale, runJobs }: World, before: Times): Promise<Times> {
  const bought: Checkout[] = []
  await each(Array.from({ length: measured }), async () => bought.push(await checkOut(sale)))
  const pay = await processorMs(() => each(bought, openPageBuyer(sale).pay))
  const scans = await processorMs(() => each(bought, (checkout) => scan(sale, checkout)))
  await runJobs()
  return { pay: Math.min(before.pay, pay / measured), scan: Math.min(before.scan, scans / measured) }
}

async function megabytesIn(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const stats = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))))
  return stats.reduce((sum, { size }) => sum + size, 0) / 1e6
}

async function sizesOf({ folder }: World) {
  const wal = await megabytesIn(join(folder, 'postgres/pg_wal'))
  return { tables: (await megabytesIn(join(folder, 'postgres'))) - wal, wal }
}

const say = (name: string, values: Record<string, number>) =>
  process.stdout.write(
    `${name}: ${Object.entries(values)
      .map(([of, value]) => `${of} ${value.toFixed(2)}`)
      .join(', ')}\n`,
  )

test('the folder and a sale grow with what is sold, and not with what is over', async () => {
  const small = await openWorld('few')
  await (await watchWorld(small))(few)
  const large = await openWorld('many')
  const empty = await sizesOf(large)
  await (await watchWorld(large))(many)
  // By turns, so that a busy machine is so for both; the first time both grow warm.
  let [ofFew, ofMany] = [slowest, slowest]
  const isAsFast = () => ofMany.pay * leastSpeed <= ofFew.pay && ofMany.scan * leastSpeed <= ofFew.scan
  for (let time = 0; time < 5 || (time < 20 && !isAsFast()); time++) {
    ofFew = await sell(small, ofFew)
    ofMany = await sell(large, ofMany)
  }
  const [longest = 0, ...others] = large.steps.toSorted((one, other) => other - one)
  say(`${few} sales, in milliseconds`, ofFew)
  say(`${many} sales`, { ...ofMany, longest, 'nine of ten': others[(others.length / 10) | 0] ?? 0 })
  // The copies are sales as the product makes them.
  expect(await brokenInvariants(large.sale.db)).toEqual([])
  const statuses = ['pending', 'expired'] as const
  const counts = statuses.map((status) => large.sale.db.$count(payments, eq(payments.status, status)))
  expect(await Promise.all(counts)).toEqual([0, many + 1])
  const grown = await sizesOf(large)
  await large.sale.db.execute(sql`vacuum full`)
  const whole = await sizesOf(large)
  say('megabytes', grown)
  say('written anew', whole)
  expect(isAsFast(), 'payments and scans among many are as fast as among few').toBe(true)
  expect(longest).toBeLessThan(100)
  expect((grown.tables - empty.tables) / (whole.tables - empty.tables)).toBeLessThan(1.5)
  expect(grown.wal).toBeLessThan(100)
}, 3_600_000)
