import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import { groupBy } from '../../engine/base/group-by.ts'
import { instruments } from '../../engine/base/instruments.ts'
import { hasKey } from '../../engine/data/query.ts'
import { type Database, runSql } from '../../engine/database/database.ts'
import { transaction } from '../../engine/database/transaction.ts'
import { recordChanges } from '../change/record-changes.ts'
import { refusal } from '../contract/problem-codes.ts'
import { removeMails } from '../delivery/mail-folder.ts'
import { events } from '../event/table.ts'
import { lockPayments } from '../payment/lock-payment.ts'
import { isAnonymized } from '../ticket/anonymized.ts'
import { ticketChange } from '../ticket/body.ts'
import { type Ticket, tickets } from '../ticket/table.ts'
import { anonymizeTickets, clearRecipients } from './anonymize-tickets.ts'
import {
  findDeliveriesTo,
  findTicketsOfPerson,
  isOfOrganization,
  listOrganizationIds,
} from './find-person.ts'

/** Numbers of what was erased: tickets, deliveries whose recipient or mail named the person, files of mails,
 *  and tickets that named the person as referrer. */
export type Erased = { tickets: string[]; deliveries: number; mails: number; referrals: number }

/** `force` erases the person from tickets of events ahead as well. */
type EraseOptions = { mailFolder: string; force: boolean }

const maxListed = 20
const batchSize = 500

/** Refuses: ILLEGAL_TRANSITION if any of these tickets, pages of one organization each, is paid or being paid, and its
 *  event has not ended by the database's clock. */
async function refuseAhead(db: Database, pages: AsyncIterable<Ticket[]> | Ticket[][]): Promise<void> {
  const ahead: string[] = []
  for await (const page of pages) {
    const ids = page.map(({ id }) => id)
    const isAhead = and(
      hasKey(db, tickets.id, page[0]?.organizationId ?? '', ids),
      inArray(tickets.status, ['held', 'active']),
      sql`${events.endDate} > now()`,
    )
    const found = db
      .select({ id: tickets.id })
      .from(tickets)
      .innerJoin(events, eq(events.id, tickets.eventId))
    ahead.push(...(await found.where(isAhead).orderBy(asc(tickets.id))).map(({ id }) => id))
  }
  if (ahead.length === 0) return
  const listed = `${ahead.slice(0, maxListed).join(', ')}${ahead.length > maxListed ? ', …' : ''}`
  const message = `Nothing is erased: ${ahead.length} tickets are for events that have not ended (${listed}). Without a name and an address they still admit by their code, but can't be sent again. Cancel them first, or use --force.`
  throw refusal('ILLEGAL_TRANSITION', message, undefined, { from: 'activated', to: 'anonymized' })
}

/** Anonymizes tickets of an organization, and tells their clients by `ticket.updated`, so that they forget
 *  the person too. Returns the deliveries whose mails named the person. */
const eraseTickets = (db: Database, found: Ticket[]): Promise<{ ids: string[]; deliveryIds: string[] }> =>
  transaction(db, async (tx) => {
    const organizationId = found[0]?.organizationId ?? ''
    const paymentIds = [...new Set(found.map(({ paymentId }) => paymentId))]
    await lockPayments(tx, organizationId, paymentIds, 'wait')
    const ids = found.map(({ id }) => id)
    const { tickets, deliveryIds } = await anonymizeTickets(tx, organizationId, ids)
    await recordChanges(
      tx,
      tickets.map((ticket) => ticketChange('ticket.updated', ticket)),
    )
    return { ids: tickets.map(({ id }) => id), deliveryIds }
  })

// Mails to a former attendee, or to an address that was corrected since.
async function eraseDeliveries(db: Database, email: string): Promise<string[]> {
  const cleared: string[] = []
  for await (const page of findDeliveriesTo(db, email))
    for (const [organizationId, own] of groupBy(page, ({ organizationId }) => organizationId)) {
      const paymentIds = [...new Set(own.map(({ paymentId }) => paymentId))]
      const recipients = own.map(({ recipient }) => recipient)
      const ids = await transaction(db, async (tx) => {
        await lockPayments(tx, organizationId, paymentIds, 'wait')
        return clearRecipients({ tx, organizationId, paymentIds }, recipients)
      })
      cleared.push(...ids)
    }
  return cleared
}

// Tickets of others that name the address as who referred them, in one of these spellings.
async function eraseReferrals(db: Database, spellings: Iterable<string>): Promise<number> {
  let count = 0
  const organizationIds = await listOrganizationIds(db)
  for (const [done, organizationId] of organizationIds.entries()) {
    instruments.progress?.('organizations', done, organizationIds.length)
    const found = db
      .select({ id: tickets.id })
      .from(tickets)
      .where(and(isOfOrganization(organizationId), inArray(tickets.referralId, [...spellings])))
      .limit(batchSize)
    for (;;) {
      const cleared = await db
        .update(tickets)
        .set({ referralId: null })
        .where(sql`${tickets.organizationId} = ${organizationId} and ${tickets.id} = any(array(${found}))`)
        .returning({ id: tickets.id })
      count += cleared.length
      if (cleared.length < batchSize) break
    }
  }
  return count
}

// The planner's statistics hold samples of names and addresses. A role that owns no table only gets a warning.
async function renewStatistics(db: Database): Promise<void> {
  for (const table of ['tickets', 'deliveries']) await runSql(db, `analyze ${table}`)
}

/** Erases one ticket's attendee. Refuses: NOT_FOUND, ILLEGAL_TRANSITION if its event is ahead, unless forced
 *  (DECISIONS 171). */
export async function eraseTicket(db: Database, ticketId: string, { mailFolder, force }: EraseOptions) {
  const [ticket] = await db.select().from(tickets).where(eq(tickets.id, ticketId))
  if (!ticket) throw refusal('NOT_FOUND', 'There is no such ticket.')
  if (isAnonymized(ticket)) return { tickets: [], deliveries: 0, mails: 0, referrals: 0 }
  if (!force) await refuseAhead(db, [[ticket]])
  const { ids, deliveryIds } = await eraseTickets(db, [ticket])
  const mails = await removeMails(mailFolder, deliveryIds)
  await renewStatistics(db)
  return { tickets: ids, deliveries: deliveryIds.length, mails, referrals: 0 }
}

/** Erases a person by the e-mail address, whatever its case: from all tickets that bear it, in every
 *  organization and mode, from what was sent there, and as somebody who referred others. Payments, invoices,
 *  amounts and codes stay. Safe to repeat, also after an interruption. Refuses: ILLEGAL_TRANSITION, with
 *  nothing erased, if an event of a ticket is ahead, unless forced (DECISIONS 171). */
export async function erasePerson(db: Database, email: string, { mailFolder, force }: EraseOptions) {
  if (!force) await refuseAhead(db, findTicketsOfPerson(db, email))
  const erased: Erased = { tickets: [], deliveries: 0, mails: 0, referrals: 0 }
  const forgetMails = async (deliveryIds: string[]) => {
    erased.deliveries += deliveryIds.length
    erased.mails += await removeMails(mailFolder, deliveryIds)
  }
  const spellings = new Set([email, email.toLowerCase()])
  for await (const page of findTicketsOfPerson(db, email)) {
    for (const ticket of page) spellings.add(ticket.email)
    const { ids, deliveryIds } = await eraseTickets(db, page)
    erased.tickets.push(...ids)
    instruments.progress?.('tickets', erased.tickets.length, erased.tickets.length)
    await forgetMails(deliveryIds)
  }
  await forgetMails(await eraseDeliveries(db, email))
  erased.referrals = await eraseReferrals(db, spellings)
  if (erased.tickets.length + erased.deliveries + erased.referrals > 0) await renewStatistics(db)
  return erased
}
