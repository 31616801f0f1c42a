// Runs in: postgres

import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assignPositions } from '../../src/domain/change/assign-positions.ts'
import { idsFrom } from '../../src/domain/contract/ids.ts'
import { readChangesPage } from '../support/change-feed.ts'
import { explain, explainByDefaults, type SeenStatement } from '../support/explain.ts'
import { anOrganization } from '../support/factories.ts'
import { openTestDatabase } from '../support/harness.ts'
import { openSale, type Sale } from '../support/sale.ts'

// Query plans of the change feed with many changes, for the service's exact statements and parameters.

const organizations = ['org_1', 'org_2', 'org_3']
const changesOfEach = 20_000

let sale: Sale
const seen: SeenStatement[] = []
let middle: string

beforeAll(async () => {
  const database = await openTestDatabase({
    onStatement: (text, parameters) => seen.push({ text, parameters }),
  })
  sale = await openSale({
    organizations: organizations.map((_id) => anOrganization({ _id, name: _id })),
    events: [],
    database: { settings: {}, open: async () => database, drop: async () => {} },
  })
  for (const organizationId of organizations) {
    await sale.db.execute(sql`insert into change_feeds values (${organizationId}, ${changesOfEach})`)
    await sale.db.execute(sql`insert into changes
      (id, type, subject_id, sequence, organization_id, channel_id, data, feed_position, created_at)
      select ${idsFrom('chg', Date.now())} || ${organizationId} || '_' || n, 'payment.paid', 'pay_' || ${organizationId} || '_' || n, 1, ${organizationId},
        case n % 10 when 0 then null when 1 then (select id from channels where id like 'chn_%') end, '{}', n, now() - interval '1 day' + n * interval '1 second'
      from generate_series(1, ${changesOfEach}::integer) as n`)
  }
  await sale.db.execute(sql`vacuum analyze`)
  middle = (await readChangesPage(sale, sale.channel, { first: 100 })).endCursor
})
afterAll(() => sale.close())

/** Plan of the last statement that contains `part`. */
async function planOf(part: string, explained: typeof explainByDefaults = explain): Promise<string> {
  const found = seen.findLast(({ text }) => text.includes(part))
  expect(found, part).toBeDefined()
  return explained(sale.db, found ?? { text: '', parameters: [] })
}
const page = (explained?: typeof explainByDefaults) => planOf('as reached', explained)

test('a page of a channel’s feed is read in index order', async () => {
  await readChangesPage(sale, sale.channel, { from: { after: middle } })
  const plan = await page()
  expect(plan).toContain('changes_of_audience')
  expect(plan).not.toContain('Seq Scan on changes')
})

test('a page of an integration’s feed is read in index order', async () => {
  const { endCursor } = await readChangesPage(sale, sale.integration.v2)
  await readChangesPage(sale, sale.integration.v2, { from: { after: endCursor } })
  const plan = await page()
  expect(plan).toContain('changes_in_feed')
  expect(plan).not.toContain('Seq Scan on changes')
})

test('positions are assigned by the index of changes without one', async () => {
  await sale.db.execute(sql`insert into changes (id, type, subject_id, sequence, organization_id, data)
    select ${idsFrom('chg', Date.now())} || '_new_' || n, 'payment.paid', 'new_' || n, 1, 'org_1', '{}' from generate_series(1, 500) as n`)
  await assignPositions(sale.db)
  const plans = [
    await planOf('as begun'),
    await planOf('select distinct organization_id as id from "changes"'),
  ]
  for (const plan of plans) {
    // Once per batch, not once per written row.
    expect(plan.match(/changes_without_position/g)).toHaveLength(1)
    expect(plan).not.toContain('Seq Scan on changes')
  }
  const written = await planOf('set feed_position')
  expect(written).toContain('changes_id_organization_id_pk')
  expect(written).not.toContain('Seq Scan on changes')
})

test('control: without indexes the whole table is read', async () => {
  await sale.db.execute(sql`drop index changes_of_audience_by_mode, changes_in_feed_by_mode`)
  await readChangesPage(sale, sale.channel, { from: { after: middle } })
  expect(await page(explainByDefaults)).toContain('Seq Scan on changes')
})
