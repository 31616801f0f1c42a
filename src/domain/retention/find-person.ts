import { and, asc, gt, sql } from 'drizzle-orm'
import type { Database } from '../../engine/database/database.ts'
import { channelOrganizations } from '../caller/table.ts'
import { type Delivery, deliveries } from '../delivery/table.ts'
import { organizations } from '../organization/table.ts'
import { type Ticket, tickets } from '../ticket/table.ts'

// Indexes of tickets begin with organization, mode and channel: a condition that names all three leads to few
// tickets of an organization.

/** Condition that a ticket is of an organization, in either mode and of any channel that ever sold for it, itself among
 *  them. */
export const isOfOrganization = (organizationId: string) => sql`${tickets.organizationId} = ${organizationId}
  and ${tickets.mode} = any('{live,test}'::key_mode[])
  and ${tickets.channelId} = any(array(
    select ${channelOrganizations.channelId} from ${channelOrganizations}
      where ${channelOrganizations.organizationId} = ${organizationId}
    union select ${organizationId}))`

const pageSize = 200

// Reads rows a page at a time, by their identifiers: `read` finds those after the last one.
async function* inPages<Row extends { id: string }>(read: (last: string) => Promise<Row[]>) {
  let last = ''
  for (;;) {
    const page = await read(last)
    if (page.length > 0) yield page
    if (page.length < pageSize) return
    last = page.at(-1)?.id ?? ''
  }
}

/** Lists the identifiers of all organizations. Tickets are looked for in one after the other: their indexes
 *  begin with the organization. */
export async function listOrganizationIds(db: Database): Promise<string[]> {
  const rows = await db.select({ id: organizations.id }).from(organizations).orderBy(asc(organizations.id))
  return rows.map(({ id }) => id)
}

/** Finds the tickets of a person by the e-mail address, whatever its case, a page at a time. Tickets of a page
 *  are of one organization. */
export async function* findTicketsOfPerson(db: Database, email: string): AsyncGenerator<Ticket[]> {
  const isTheirs = sql`lower(${tickets.email}) = lower(${email})`
  for (const organizationId of await listOrganizationIds(db))
    yield* inPages((last) =>
      db
        .select()
        .from(tickets)
        .where(and(isOfOrganization(organizationId), isTheirs, gt(tickets.id, last)))
        .orderBy(asc(tickets.id))
        .limit(pageSize),
    )
}

/** Finds what was sent or is to be sent to an address, whatever its case and whoever has the ticket now, a
 *  page at a time. */
export const findDeliveriesTo = (db: Database, email: string): AsyncGenerator<Delivery[]> =>
  inPages((last) =>
    db
      .select()
      .from(deliveries)
      .where(and(sql`lower(${deliveries.recipient}) = lower(${email})`, gt(deliveries.id, last)))
      .orderBy(asc(deliveries.id))
      .limit(pageSize),
  )
