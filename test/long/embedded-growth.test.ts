import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/database/open.ts'
import { assignPositions } from '../../src/domain/change/assign-positions.ts'
import { payments } from '../../src/domain/payment/table.ts'
import { sweepHolds } from '../../src/domain/sale/release/expire-holds.ts'
import { anEntry, type Checkout, mustCheckOut } from '../support/checkouts.ts'
import { anEventAtDoor, scanTicket } from '../support/door.ts'
import { aCatalogue, aRateOf } from '../support/factories.ts'
import { openPageBuyer } from '../support/payment-page-buyer.ts'
import { endHolds } from '../support/queued-payments.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { makeDatabaseFolder } from '../support/setup/temporary-folder.ts'

// The embedded database while it sells: for each payment a checkout that expires. GROWN_SALES names the number of both
// (docs/operations.md, The embedded database); UPKEEP=off shows the same without the database's upkeep. Times are those of
// this process's processor, which other processes don't lengthen: its statements run in this process.

const sales = Number(process.env.GROWN_SALES ?? 1_500)
const hasUpkeep = process.env.UPKEEP !== 'off'
const round = 100
const together = 20

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
  sale = await openSale(aCatalogue({ events: [event] }), { database })
}, 60_000)
afterAll(async () => {
  await sale?.close()
  await rm(folder, { recursive: true, force: true })
})

async function megabytesIn(path: string): Promise<number> {
  const files = (await readdir(path, { recursive: true, withFileTypes: true })).filter((file) =>
    file.isFile(),
  )
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

async function checkOut(): Promise<Checkout[]> {
  const made: Checkout[] = []
  const body = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] }
  await each(Array.from({ length: round }), async () => made.push(await mustCheckOut(sale, body)))
  return made
}

const median = (values: number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0
const shown = (values: Record<string, number>) =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${value.toFixed(2)}`)
    .join(', ')

test('the folder and a sale grow with what is sold, and not with what is over', async () => {
  let longest = 0
  // Jobs as a second of such sales has them.
  const work = async () => {
    await sweepHolds(sale.db)
    await assignPositions(sale.db)
    if (hasUpkeep) longest = Math.max(longest, await processorMs(async () => sale.database.keepUp?.()))
  }
  const buyer = openPageBuyer(sale)
  const times: { pay: number; scan: number }[] = []
  const medians = (of: typeof times) => ({
    pay: median(of.map(({ pay }) => pay)),
    scan: median(of.map(({ scan }) => scan)),
  })
  const empty = await sizes()
  for (let sold = round; sold <= sales; sold += round) {
    const [bought, left] = [await checkOut(), await checkOut()]
    await work()
    const pay = (await processorMs(() => each(bought, (checkout) => buyer.pay(checkout)))) / round
    await work()
    await endHolds(sale.db, sql`${payments.id} in ${left.map(({ payment_id }) => payment_id)}`)
    await work()
    const scanned = bought.slice(0, round / 5)
    const scan = await processorMs(() =>
      each(scanned, ({ tickets: [ticket] }) => scanTicket(sale, { ticketId: ticket?._id })),
    )
    await work()
    times.push({ pay, scan: scan / scanned.length })
    if (sold % Math.max(500, sales / 10) > 0) continue
    const now = { ...(await sizes()), ...medians(times.slice(-10)), longest }
    process.stdout.write(`${sold} sales: ${shown(now)}\n`)
  }
  const grown = await sizes()
  await sale.db.execute(sql`vacuum full`)
  const whole = await sizes()
  process.stdout.write(`${shown(grown)}; written anew: ${shown(whole)}\n`)
  expect(longest).toBeLessThan(100)
  expect(await sale.db.$count(payments, sql`status = 'pending'`)).toBe(0)
  expect((grown.tables - empty.tables) / (whole.tables - empty.tables)).toBeLessThan(1.5)
  expect(grown.wal).toBeLessThan(100)
}, 7_200_000)
