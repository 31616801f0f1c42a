import { and, eq } from 'drizzle-orm'
import { sha256 } from '../../engine/base/ids.ts'
import type { Connection } from '../../engine/database/database.ts'
import { aloneOnRow, boundedTransactions } from '../../engine/database/transaction.ts'
import { type Context, requireIntegration } from '../caller/context.ts'
import { checkReplay, retryOnDuplicate } from '../caller/idempotency.ts'
import { nameInMode } from '../caller/mode.ts'
import { recordChanges } from '../change/record-changes.ts'
import { ticketChange } from '../ticket/body.ts'
import { isTicket, ticketLock } from '../ticket/require-ticket.ts'
import { type Ticket, tickets } from '../ticket/table.ts'
import type { RedeemInput } from './check-in-input.ts'
import { findScans, type ScannedTicket } from './find-scans.ts'
import { type Redemption, redemptions } from './table.ts'

// Many bars work at the same time: a bound leaves the other connections to everybody else.
const redemptionTransaction = boundedTransactions({ maxAtOnce: 4, maxOfOwner: 2, maxWaiting: 500 })

const { id, status, qrCode, entered, supplements } = tickets

// Columns of a ticket that others may have changed since it was found, with those that are left at the bar.
const lockAtBar = ticketLock('lock_ticket_at_bar', { id, status, qrCode, entered, supplements })

type LockedTicket = ScannedTicket & Pick<Ticket, 'supplements'>

type Decided = Pick<Redemption, 'outcome' | 'redeemed' | 'left'>

const nothing = (outcome: Redemption['outcome'], left = 0): Decided => ({ outcome, redeemed: 0, left })

/** Decides what a bar may hand out: all items or none, never more than were bought and not yet redeemed. */
function decideOutcome(ticket: LockedTicket, { eventId, supplementId, quantity }: RedeemInput): Decided {
  if (ticket.eventId !== eventId) return nothing('WRONG_EVENT')
  if (ticket.status === 'cancelled') return nothing('CANCELLED')
  if (ticket.status !== 'active') return nothing('UNPAID')
  const sold = ticket.supplements.find((supplement) => supplement.supplementId === supplementId)
  if (!sold) return nothing('NOT_BOUGHT')
  const left = sold.productQuantity - sold.used
  return quantity > left
    ? nothing('USED_UP', left)
    : { outcome: 'OK', redeemed: quantity, left: left - quantity }
}

/** Counts items as redeemed and records the change. Requires this transaction to hold the ticket's row lock. */
async function handOut(
  tx: Connection,
  ticket: LockedTicket,
  { supplementId, redeemed, left }: Pick<Redemption, 'supplementId' | 'redeemed' | 'left'>,
): Promise<void> {
  const supplements = ticket.supplements.map((sold) =>
    sold.supplementId === supplementId ? { ...sold, used: sold.used + redeemed } : sold,
  )
  await tx.update(tickets).set({ supplements }).where(isTicket(ticket))
  const facts = { supplement_id: supplementId, redeemed, left }
  await recordChanges(tx, [ticketChange('ticket.supplement_redeemed', ticket, facts)])
}

/** Redeems items of a supplement that was bought with a ticket of the integration's organization. Returns a
 *  rejection as a result and not as a refusal, because the bar must show it. Idempotent by key, whatever
 *  happened to the ticket since: `replayed` is true if it was used before. However many bars work at once, no more items
 *  are redeemed than were bought. Refuses: FORBIDDEN for a channel, INVALID, IDEMPOTENCY_KEY_REUSED (DECISIONS,
 *  supplements at the bar). */
export async function redeemSupplement(input: RedeemInput, ctx: Context) {
  const { integrationId, organizationIds } = requireIntegration(ctx)
  const [organizationId] = organizationIds
  const { supplementId } = input
  const idempotencyKey = nameInMode(ctx, input.idempotencyKey)
  // A key in live mode and the same one in test mode name different requests.
  const requestHash = nameInMode(ctx, sha256(JSON.stringify(input)))

  const redeem = () =>
    redemptionTransaction(ctx.db, async (tx) => {
      const isSame = and(
        eq(redemptions.organizationId, organizationId),
        eq(redemptions.integrationId, integrationId),
        eq(redemptions.idempotencyKey, idempotencyKey),
      )
      const [made] = await tx.select().from(redemptions).where(isSame)
      const earlier = checkReplay(made, requestHash, 'This key was used for another redemption.')
      if (earlier) return { ...earlier, replayed: true }
      const scanned = (await findScans(tx, [input], ctx)).tickets.get(0)
      const [locked] = scanned ? await lockAtBar(tx, { organizationId, keys: [scanned.id] }) : []
      // A code that was transferred meanwhile is nobody's any more.
      const isSold = scanned && locked && (input.ticketId || locked.qrCode === input.qrCode)
      const ticket = isSold ? { ...scanned, ...locked } : null
      const decided = ticket ? decideOutcome(ticket, input) : nothing('NOT_FOUND')
      if (ticket && decided.outcome === 'OK') await handOut(tx, ticket, { supplementId, ...decided })
      const sent = { organizationId, integrationId, idempotencyKey, requestHash, supplementId }
      const [redemption] = await tx
        .insert(redemptions)
        .values({ ...sent, ...decided, ticketId: ticket?.id ?? null })
        .returning()
      if (!redemption) throw new Error('the insert returned no redemption')
      return { ...redemption, replayed: false }
    })
  const row = `redeem ${organizationId} ${input.ticketId ?? input.qrCode}`
  return aloneOnRow(ctx.db, row, () => retryOnDuplicate(redeem)).finally(() => ctx.loaders.clear())
}
