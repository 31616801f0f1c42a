import { sql } from 'drizzle-orm'
import { type Database, runSql } from '../../src/engine/database/database.ts'
import { aLargeRate } from './door.ts'
import { anEvent, anOrganization, aSupplement } from './factories.ts'
import { createTestDatabase, type GatewayOptions } from './harness.ts'
import { openSale } from './sale.ts'

// A sale of several organizations on a cluster, and what the coordinator sends to its servers.

/** A server of the cluster. */
type Server = { id: number; address: string; port: number }

/** Server that has an organization's rows. */
export async function serverOf(db: Database, organizationId: string): Promise<Server> {
  const [server] = await runSql<Server>(
    db,
    sql`select nodeid as id, nodename || ':' || nodeport as address, nodeport as port
      from pg_dist_placement join pg_dist_node using (groupid)
      where shardid = get_shard_id_for_distribution_column('payments', ${organizationId}::text)`,
  )
  if (!server) throw new Error(`no server has ${organizationId}`)
  return server
}

/** Opens a sale of organizations, the first two of which lie on different servers. Each has a rate of 10,000 places. */
export async function openClusterSale(options: Omit<GatewayOptions, 'database' | 'onNotice'> = {}) {
  const database = await createTestDatabase()
  const { db, close } = await database.open()
  const first = await serverOf(db, 'org_1')
  let number = 2
  while ((await serverOf(db, `org_${number}`)).id === first.id) number++
  const [{ name } = { name: '' }] = await runSql<{ name: string }>(db, sql`select current_database() as name`)
  await runSql(db, `alter database ${name} set citus.log_remote_commands = on`)
  await close()
  const organizationIds = ['org_1', `org_${number}`]
  const noticed: { message?: string; detail?: string }[] = []
  const sale = await openSale({
    organizations: organizationIds.map((_id) => anOrganization({ _id })),
    events: organizationIds.map((organization_id) =>
      anEvent({
        _id: `evt_${organization_id}`,
        organization_id,
        location_id: undefined,
        ticket_rates: [
          aLargeRate(organization_id, {
            availability: { sold: 0, available: 10_000 },
            supplements: [aSupplement({ _id: `sup_${organization_id}` })],
          }),
        ],
      }),
    ),
    ...options,
    database,
    onNotice: (notice) => void noticed.push(notice),
  })
  return {
    sale,
    organizationIds,
    /** Commands that some work sent to servers. */
    async commandsOf(work: () => Promise<unknown>) {
      noticed.length = 0
      await work()
      const sent = noticed.filter(({ message }) => message?.startsWith('issuing'))
      const texts = sent.map(({ message = '' }) => message.slice('issuing '.length))
      return {
        servers: [...new Set(sent.map(({ detail = '' }) => /@(\S+:\d+)/.exec(detail)?.[1] ?? ''))].sort(),
        texts,
        inTwoPhases: texts.some((text) => text.startsWith('PREPARE TRANSACTION')),
      }
    },
    async close() {
      await sale.close()
      await database.drop()
    },
  }
}
