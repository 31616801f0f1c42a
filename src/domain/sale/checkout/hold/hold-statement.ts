import { type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { type ArrayRows, arrayRows, columnsOf, list, typesOf } from '../../../../data/array-params.ts'
import { isInMode, preparedSql } from '../../../../data/prepared.ts'
import { nowMs } from '../../../../database/clock.ts'
import type { Connection } from '../../../../database/database.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { holds } from '../../../payment/queue/table.ts'
import { idempotencyKeys, payments } from '../../../payment/table.ts'
import { tickets } from '../../../ticket/table.ts'
import { isOfSale, lockedStock, movedStock } from '../../../ticket-rate/move-stock.ts'
import { stock } from '../../../ticket-rate/table.ts'
import {
  type Checkout,
  defaultedPaymentColumns,
  defaultedTicketColumns,
  type HoldJob,
  modeOf,
  movesOf,
  organizationOf,
  setTimes,
  toCheckout,
} from './hold-rows.ts'

// Inserts the rows of the rates that are held, and none of the others.
function insertHeld(table: PgTable, { rows }: ArrayRows, cells: Record<string, SQL>): SQL {
  return sql`insert into ${table} (${columnsOf(table, cells)})
    select ${list(Object.values(cells))} from ${rows} join held using ("ticketRateId")`
}

const moves = arrayRows('moves', { ticketRateId: 'text', kind: 'stock_kind', id: 'text', held: 'integer' })
const keys = arrayRows('keys', {
  ticketRateId: 'text',
  ...typesOf(idempotencyKeys, { except: ['createdAt'] }),
})
const newPayments = arrayRows('payments', {
  ...typesOf(payments, { except: [...defaultedPaymentColumns, 'createdAt', 'expiresAt', 'paidAt'] }),
  holdMinutes: 'integer',
})
// Columns of the same rows: a statement of a cluster can't take them from what it inserts.
const newHolds = arrayRows('payments', {
  organizationId: 'text',
  ticketRateId: 'text',
  id: 'text',
  holdMinutes: 'integer',
})
const holdLengths = arrayRows('payments', { holdMinutes: 'integer' })
const { id: paymentId, holdMinutes, ...holdCells } = newHolds.cells
const expiresAt = sql`${nowMs} + ${holdMinutes} * interval '1 minute'`
const newTickets = arrayRows(
  'tickets',
  typesOf(tickets, { except: [...defaultedTicketColumns, 'createdAt', 'activatedAt'] }),
)

const added = { held: sql.raw('moves.held'), sold: sql.raw('0') }

// The statement's snapshot is older than the locks that it waits for. PostgreSQL reads the counters again
// under the lock, but a key or a code that another transaction has committed since stays unseen: it violates
// a unique index, which fails the whole statement.
function holdStatement(onLocked: 'wait' | 'skip', fits: '<' | '<=', condition = isOfSale): SQL {
  const { holdMinutes: _minutes, ...paymentCells } = newPayments.cells
  const { ticketRateId: _, ...keyCells } = keys.cells
  return sql`
  with moves as (select ${list(Object.values(moves.cells))} from ${moves.rows}),
  locked as (${lockedStock('moves_id', onLocked, condition)}),
  unused as (
    select "ticketRateId", bool_and(pg_try_advisory_xact_lock(hashtextextended("id", 0))) as keys
    from ${keys.rows} group by "ticketRateId"
  ),
  held as materialized (
    select "ticketRateId" from moves left join locked using ("kind", "id") left join unused using ("ticketRateId")
    group by "ticketRateId"
    having bool_and(coalesce((unlimited or moves.held ${sql.raw(fits)} "left") and keys is not false, false))
  ),
  new_payments as (${insertHeld(payments, newPayments, {
    ...paymentCells,
    createdAt: nowMs,
    expiresAt,
  })}),
  new_holds as (${insertHeld(holds, newHolds, { ...holdCells, paymentId: sql`${paymentId}`, expiresAt })}),
  new_tickets as (${insertHeld(tickets, newTickets, {
    ...newTickets.cells,
    createdAt: nowMs,
  })} order by ${newTickets.cells.qrCode}),
  new_keys as (${insertHeld(idempotencyKeys, keys, { ...keyCells, createdAt: nowMs })}),
  moved as (
    update ${stock} set ${movedStock(added)}
    from moves join held using ("ticketRateId") join locked using ("kind", "id")
    where ${condition} and ${stock.id} = moves.id and ${stock.kind} = moves.kind
  )
  select "ticketRateId", (extract(epoch from ${nowMs}) * 1000)::float8 as now from held`
}

type Held = { ticketRateId: string; now: number }
const statements = {
  optimistic: preparedSql<Held>('hold_optimistic', () => holdStatement('wait', '<')),
  optimisticSkipLocked: preparedSql<Held>('hold_optimistic_skip_locked', () => holdStatement('skip', '<')),
  optimisticOfMany: preparedSql<Held>('hold_optimistic_of_many', () =>
    holdStatement('skip', '<', isInMode(stock.mode)),
  ),
  exact: preparedSql<Held>('hold_exact', () => holdStatement('wait', '<=')),
}

/** Modes of `writeHolds`.
 *  `optimistic` waits for locked stock. It holds all jobs of a rate if some of the rate and of each price
 *  remains, and else none of them: whoever takes the last place must also record that the rate is sold out.
 *  `optimisticSkipLocked` does the same, and holds nothing of a rate whose stock is locked.
 *  `optimisticOfMany` does so for jobs of several organizations, on a database that is not distributed.
 *  `exact` may take the last place. The caller has locked the stock, checked that the jobs fit, and records
 *  what they use up. */
type HoldMode = keyof typeof statements

const ofRate = ({ id, organizationId }: HoldJob['plan']['rate']) => ({ ticketRateId: id, organizationId })

/** Holds the stock of planned checkouts of one mode, and of one organization unless the mode says otherwise,
 *  and writes their rows, in one statement. Holds all jobs of a rate or, if the mode does not allow it or an
 *  idempotency key is locked, none of them. Returns the checkout of each job, in order, or null. Fails as a
 *  whole on a duplicate idempotency key or ticket code. */
export async function writeHolds(
  connection: Connection,
  jobs: HoldJob[],
  mode: HoldMode,
): Promise<(Checkout | null)[]> {
  const drafts = jobs.map(toCheckout)
  const held = await statements[mode](connection, {
    ...(mode !== 'optimisticOfMany' && { organizationId: organizationOf(jobs) }),
    mode: modeOf(jobs),
    ...moves.values(
      [...groupBy(jobs, ({ plan }) => plan.rate.id)].flatMap(([ticketRateId, jobs]) =>
        movesOf(jobs).map((move) => ({ ...move, ticketRateId })),
      ),
    ),
    ...keys.values(
      jobs.flatMap(({ idempotency, plan }, index) =>
        idempotency ? [{ ...idempotency, ...ofRate(plan.rate), paymentId: drafts[index]?.payment.id }] : [],
      ),
    ),
    ...newPayments.values(drafts.map(({ payment }) => payment)),
    ...holdLengths.values(jobs),
    ...newTickets.values(drafts.flatMap(({ tickets }) => tickets)),
  })
  const times = new Map(held.map(({ ticketRateId, now }) => [ticketRateId, new Date(now)]))
  return jobs.map(({ plan, holdMinutes }, index) => {
    const [at, checkout] = [times.get(plan.rate.id), drafts[index]]
    if (!at || !checkout) return null
    setTimes(checkout, holdMinutes, at)
    return checkout
  })
}
