import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { anOrganization, channelHeaders } from '../../support/factories.ts'
import { sharedSale } from '../../support/sale.ts'

// Organizations of a channel, which a process remembers by the revision that whoever changes them renews.

const organizations = ['1', '2'].map((name) => anOrganization({ _id: `org_${name}`, slug: `slug-${name}` }))
const sale = sharedSale({ organizations })

type Headers = Record<string, string>
const channelOf = (headers: Headers) =>
  sql`(select channel_id from keys where id = ${headers['x-api-key']?.split('_')[2]})`

/** Names some of the organizations that a request sees. */
async function reached(headers: Headers, first = 5): Promise<string[] | undefined> {
  const query = `{ organizations(first: ${first}) { nodes { id } } }`
  const { data } = await sale.graphql<{ organizations: { nodes: { id: string }[] } }>(query, {}, headers)
  return data?.organizations.nodes.map(({ id }) => id)
}

const grant = async (headers: Headers, from: ReturnType<typeof sql>) => {
  for (const table of ['channel_organizations', 'grants'])
    await sale.db.execute(sql`insert into ${sql.identifier(table)} (channel_id, organization_id)
      select ${channelOf(headers)}, id from ${from} as granted(id) on conflict do nothing`)
}

test('a grant that another process adds or revokes is seen by the next request', async () => {
  const headers = await channelHeaders(sale.db, 'org_1')
  for (let again = 0; again < 2; again++) {
    expect(await reached(headers)).toEqual(['org_1'])
    await grant(headers, sql`(values ('org_2'))`)
    expect(await reached(headers)).toEqual(['org_1', 'org_2'])
    await sale.db.execute(
      sql`delete from grants where organization_id = 'org_2' and channel_id = ${channelOf(headers)}`,
    )
  }
})
