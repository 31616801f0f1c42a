import { sql } from 'drizzle-orm'
import type { Mode } from '../../../src/domain/caller/mode.ts'
import type { Database } from '../../../src/engine/database/database.ts'
import type { Caller } from './callers.ts'
import type { Thing } from './world.ts'

// Test oracle of authorization: derives access from database rows, without any of the gateway's code
// (DECISIONS, access).

/** A channel sees the catalogues of its grants, an integration that of its organization. */
export const seesCatalogue = ({ organizations }: Caller, { organization }: Thing): boolean =>
  organizations.includes(organization)

/** What a sold ticket leads to is seen by its channel also after the grant was withdrawn. */
export const seesSold = (caller: Caller, thing: Thing): boolean =>
  seesCatalogue(caller, thing) || caller.soldFor.includes(thing.organization)

/** A channel sees itself, an integration the channels that its organization ever gave access. */
export const seesChannel = (
  { kind, channel, organizations }: Caller,
  { id, organization }: Thing,
): boolean => (kind === 'integration' ? organizations.includes(organization) : channel === id)

/** An integration sees itself alone. */
export const seesIntegration = ({ kind, principal }: Caller, { id }: Thing): boolean =>
  kind === 'integration' && principal === id

/** A channel sees its own sales, an integration all sales of its organization, each those of its mode. */
export const seesSale = (caller: Caller, { organization, principal, mode }: Thing): boolean => {
  if (caller.mode !== mode) return false
  return caller.kind === 'integration'
    ? caller.organizations.includes(organization)
    : caller.kind === 'channel' && caller.principal === principal
}

/** A webhook belongs to the caller that registered it, in that mode. */
export const ownsWebhook = ({ principal, mode }: Caller, thing: Thing): boolean =>
  principal !== null && principal === thing.principal && mode === thing.mode

/** A change of a sale is visible to its owners, a change of stock to everyone who sells for the organization.
 *  */
export const seesChange = (caller: Caller, thing: Thing): boolean =>
  thing.principal === null
    ? seesCatalogue(caller, thing) && caller.mode === thing.mode
    : seesSale(caller, thing)

/** Scans are shown to the organization alone, those of each mode to its keys. */
export const seesCheckIn = (caller: Caller, thing: Thing): boolean =>
  caller.kind === 'integration' && seesSale(caller, thing)

/** A change leads to what it is about, which is a sale or of the catalogue. */
const seesSubject = (caller: Caller, thing: Thing): boolean =>
  thing.principal === null ? seesCatalogue(caller, thing) : seesSale(caller, thing)

/** Discounts are shown to the organization alone. */
export const seesDiscount = (caller: Caller, thing: Thing): boolean =>
  caller.kind === 'integration' && seesCatalogue(caller, thing)

export const rules = {
  catalogue: seesCatalogue,
  sold: seesSold,
  channel: seesChannel,
  integration: seesIntegration,
  discount: seesDiscount,
  sale: seesSale,
  checkIn: seesCheckIn,
  webhook: ownsWebhook,
  change: seesChange,
  subject: seesSubject,
}
export type Rule = keyof typeof rules

const ofCatalogue = (table: string) => `select id, organization_id, null, null from ${table}`
const ofSale = (table: string) => `select id, organization_id, channel_id, mode::text from ${table}`
const ofRate = (table: string) =>
  `select part.id, organization_id, null, null
    from ${table} as part join ticket_rates on ticket_rates.id = ticket_rate_id`

// An organization that sells itself is a channel under its own identifier.
const everything = [
  'select id, id, null, null from organizations',
  ...['events', 'ticket_rates', 'locations', 'discounts', 'integrations'].map(ofCatalogue),
  `select id, coalesce(organization_id, ''), id, null
    from channels left join channel_organizations on channel_id = id
    where id not in (select id from organizations)`,
  ...['prices', 'supplements', 'questions'].map(ofRate),
  ...['payments', 'tickets', 'refunds', 'changes'].map(ofSale),
  'select id, organization_id, null, mode::text from check_ins',
  `select webhooks.id, coalesce(organization_id, ''), coalesce(channel_id, integration_id), mode::text
    from webhooks left join integrations on integrations.id = integration_id`,
].join(' union all ')

/** Reads the owner of every object in the database, by ID. */
export async function ownersIn(db: Database): Promise<Map<string, Thing>> {
  const rows = await db
    .select({
      id: sql<string>`id`,
      organization: sql<string>`organization`,
      principal: sql<string | null>`principal`,
      mode: sql<Mode | null>`mode`,
    })
    .from(sql`(${sql.raw(everything)}) as everything(id, organization, principal, mode)`)
  return new Map(rows.map((row) => [row.id, row]))
}

const tableNames = async (db: Database): Promise<string[]> => {
  const rows = await db
    .select({ name: sql<string>`relname::text` })
    .from(sql`pg_class`)
    .where(sql`relkind = 'r' and relnamespace = 'public'::regnamespace`)
  return rows.map(({ name }) => name)
}

/** Digests all rows, one line per table. Any write changes a line. */
export async function digestOf(db: Database, except: string[] = []): Promise<string> {
  const tables = (await tableNames(db)).filter((name) => !except.includes(name))
  const digests = tables.map(
    (
      name,
    ) => `select '${name} ' || md5(coalesce(string_agg(md5(row::text), '' order by md5(row::text)), '')) as line
      from "${name}" as row`,
  )
  const rows = await db
    .select({ line: sql<string>`line` })
    .from(sql`(${sql.raw(digests.join(' union all '))}) as digests`)
    .orderBy(sql`line`)
  return rows.map(({ line }) => line).join('\n')
}
