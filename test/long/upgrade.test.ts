// Runs in: long, first

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { changes } from '../../src/domain/change/table.ts'
import { payments } from '../../src/domain/payment/table.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { settleSale } from '../support/settled-sale.ts'
import { openUpgrade, type Upgrade } from '../support/upgrade.ts'

// The built service of the previous release runs on the tables of this one (docs/operations.md, Upgrade): its
// processes sell before, while and after the database is migrated, beside a process of this release.

let upgrade: Upgrade
beforeAll(async () => {
  upgrade = await openUpgrade()
})
afterEach(() => expect(upgrade.errors()).toEqual([]))
afterAll(() => upgrade?.close())

test('the previous release sells on while the database is migrated', async () => {
  const { old } = upgrade
  await upgrade.walk([old], 3)
  let isMigrated = false
  const migrating = upgrade.migrate().finally(() => {
    isMigrated = true
  })
  // At least one walk begins before the migration, and one after it.
  for (let isOver = false; !isOver; ) {
    isOver = isMigrated
    await upgrade.walk([old], 3)
  }
  await migrating
  expect(await upgrade.opened.whyUnready()).toBe(null)
  expect(await upgrade.statusOf(old)).toBe(200)
})

test('processes of both releases sell, pay, check in and refund together', async () => {
  const { old } = upgrade
  await upgrade.importByPrevious()
  // Rolled back: a process of the previous release is started on the migrated database.
  const rolledBack = await upgrade.start('previous')
  const current = await upgrade.start('this')
  for (const url of [rolledBack, current]) expect(await upgrade.statusOf(url)).toBe(200)
  await Promise.all([
    upgrade.runCrowds([old, current]),
    ...[
      [rolledBack],
      [current],
      [old, current],
      [current, rolledBack],
      // Two requests in a row to each.
      [old, old, current, current],
    ].map((urls) => upgrade.walk(urls, 4)),
  ])
})

test('together they leave a consistent database, with each payment once', async () => {
  await upgrade.waitForStripeEvents()
  await settleSale(upgrade.db)
  expect(await brokenInvariants(upgrade.db)).toEqual([])
  const rows = await upgrade.db.select({ id: payments.id }).from(payments)
  expect(rows.map(({ id }) => id).sort()).toEqual(upgrade.paymentIds().sort())
  const told = new Set(upgrade.receiver.received.map(({ headers }) => headers['webhook-id']))
  const happened = await upgrade.db.select().from(changes)
  // The webhook is the channel's, which doesn't hear of sales by the organization itself.
  const ofChannel = happened.filter(({ channelId }) => channelId !== 'org_1')
  expect([...told].sort()).toEqual(ofChannel.map(({ id }) => id).sort())
})
