import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { anOrganization, channelHeaders } from '../support/factories.ts'
import { openSale } from '../support/sale.ts'

test('organizations of keys that are too many to be remembered beside each other are all read', async () => {
  const own = ['org_1', 'org_2']
  const organizations = own.map((_id) => anOrganization({ _id, slug: _id.replace('_', '-') }))
  const sale = await openSale({ organizations })
  const callers = await Promise.all(own.map((id) => channelHeaders(sale.db, id)))
  await sale.db.execute(sql`insert into organizations (id, name, slug, currency, decimals)
    select 'org_9_' || n, 'Many', 'many-' || n, 'EUR', 2 from generate_series(1, 60000) as n`)
  for (const table of ['channel_organizations', 'grants'])
    await sale.db.execute(sql`insert into ${sql.identifier(table)} (channel_id, organization_id)
      select channel_id, organizations.id from keys, organizations where channel_id is not null and organizations.id like 'org_9%'
      on conflict do nothing`)
  const first = async (headers: Record<string, string>) =>
    (await sale.graphql('{ organizations(first: 1) { nodes { id } } }', {}, headers)).data
  for (let again = 0; again < 3; again++)
    expect(await Promise.all(callers.map(first))).toEqual(
      own.map((id) => ({ organizations: { nodes: [{ id }] } })),
    )
  await sale.close()
}, 120_000)
