import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { and, asc, desc, eq, gt, isNull, like, not, or, sql } from 'drizzle-orm'
import { z } from 'zod'
import { issueChannelKey, issueIntegrationKey, issuePublishableKey } from '../../../auth/issue-key.ts'
import { loopbackOrigins } from '../../../auth/publishable-origins.ts'
import { revokeKey } from '../../../auth/revoke-key.ts'
import type { Database } from '../../../database/database.ts'
import { errorCode } from '../../../shared/errors.ts'
import { events } from '../../event/table.ts'
import { organizations } from '../../organization/table.ts'
import { tickets } from '../../ticket/table.ts'
import { prices } from '../../ticket-rate/table.ts'
import { seedDemo } from './catalogue.ts'

const credentials = z.object({
  channel_id: z.string(),
  key: z.string(),
  integration_id: z.string(),
  secret: z.string(),
  integration_key: z.string(),
  /** Key of the shop, and the origin of its pages; issued once the service knows its address. */
  publishable_key: z.string().optional(),
  publishable_origin: z.string().optional(),
})

/** Credentials of the demo, with the field names of the command line. */
export type DemoCredentials = z.output<typeof credentials>

const fileName = 'demo.json'

// The organizer of the first listed event, so that the integration sees what a newcomer buys.
const firstOrganization = 'org_demo_luna'

async function read(file: string): Promise<DemoCredentials | null> {
  try {
    return credentials.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw new Error(`${file} is damaged: delete it to get new demo keys`, { cause: error })
  }
}

async function issue(db: Database): Promise<DemoCredentials> {
  const granting = await db.select({ id: organizations.id }).from(organizations)
  const organizationIds = granting.map(({ id }) => id)
  const channel = await issueChannelKey(db, { name: 'Demo channel', organizationIds, mode: 'live' })
  const integration = await issueIntegrationKey(db, {
    name: 'Demo integration',
    organizationId: firstOrganization,
    mode: 'live',
  })
  return {
    channel_id: channel.channelId,
    key: channel.key,
    integration_id: integration.integrationId,
    secret: integration.secret ?? '',
    integration_key: integration.key,
  }
}

/** Finds a rate of the demo's integration that is on sale for some days, with its current price, and the
 *  newest ticket that the integration sold. Null after that; seeding again moves the demo to today. */
export async function demoOffer(db: Database): Promise<{
  eventId: string
  ticketRateId: string
  priceId: string
  ticketId: string | null
  paymentId: string | null
} | null> {
  const [eventId, ticketRateId] = ['evt_demo_8', 'rate_demo_8_1']
  const [price] = await db
    .select({ id: prices.id })
    .from(prices)
    .where(
      and(
        eq(prices.ticketRateId, ticketRateId),
        or(isNull(prices.validUntil), gt(prices.validUntil, sql`now()`)),
      ),
    )
    .orderBy(asc(prices.position))
    .limit(1)
  const [ticket] = await db
    .select({ ticketId: tickets.id, paymentId: tickets.paymentId })
    .from(tickets)
    .where(and(eq(tickets.ticketRateId, ticketRateId), eq(tickets.saleType, 'box_office')))
    .orderBy(desc(tickets.createdAt), desc(tickets.id))
    .limit(1)
  const sold = ticket ?? { ticketId: null, paymentId: null }
  return price ? { eventId, ticketRateId, priceId: price.id, ...sold } : null
}

/** Puts the addresses of the posters into the demo's events, whose catalogue is older than the address that
 *  the service listens on. */
export async function setPosters(db: Database, publicUrl: string): Promise<void> {
  const url = sql<string>`${`${publicUrl}/shop/posters/`} || ${events.id} || '.svg'`
  await db
    .update(events)
    .set({ imageUrl: url })
    .where(and(like(events.id, 'evt\\_demo\\_%'), sql`${events.imageUrl} is distinct from ${url}`))
}

/** Seeds an empty database with the demo catalogue, once, and issues keys for it. Stores the keys beside the
 *  data in a file that only its owner can read, because the database keeps only their hashes. Returns null if
 *  the catalogue is not the demo's. */
export async function openDemo(db: Database, folder: string): Promise<DemoCredentials | null> {
  const file = join(folder, fileName)
  const saved = await read(file)
  if (saved) return saved
  if ((await db.$count(organizations, not(like(organizations.id, 'org\\_demo\\_%')))) > 0) return null
  await seedDemo(db)
  const issued = await issue(db)
  await save(file, issued)
  return issued
}

// Renamed once it is whole: a process that dies while it writes would lose the keys.
async function save(file: string, credentials: DemoCredentials): Promise<void> {
  const whole = `${file}.new`
  await writeFile(whole, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 })
  await rename(whole, file)
}

/** Returns the publishable key of the demo, for pages of this origin, the shop and GraphiQL, and
 *  of this machine, so that a front end can be begun. At another address than before it issues a new one, and revokes
 *  the former. */
export async function openShopKey(db: Database, folder: string, origin: string): Promise<string> {
  const file = join(folder, fileName)
  const saved = await read(file)
  if (!saved) throw new Error(`${file} is missing: start again`)
  const { publishable_key: former, publishable_origin: formerOrigin } = saved
  if (former && formerOrigin === origin) return former
  const { channel_id: channelId } = saved
  const { key } = await issuePublishableKey(db, {
    channelId,
    origins: [origin, ...loopbackOrigins],
    mode: 'live',
  })
  await save(file, { ...saved, publishable_key: key, publishable_origin: origin })
  if (former) await revokeKey(db, former)
  return key
}
