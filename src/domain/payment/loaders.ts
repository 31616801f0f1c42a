import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { loadOne, type Readers } from '../../data/batch-loader.ts'
import { readByOrganization } from '../../data/by-organization.ts'
import { rowsOf } from '../../data/json-rows.ts'
import { anyOf, inOrganization, query } from '../../data/query.ts'
import { soldBatch } from '../../data/sold-batch.ts'
import type { Database } from '../../database/database.ts'
import { isDistributed } from '../../database/distributed.ts'
import type { AddressToken } from '../../shared/ids.ts'
import { type Payment, payments } from './table.ts'

const rows = rowsOf(getTableColumns(payments))

const byId = soldBatch<Payment>({
  name: 'payment_by_id',
  ...{ rows, table: payments, column: payments.id },
  key: ({ id }) => id,
})

/** Loads payments that the caller made as a channel, or that its organization sold. */
export const paymentById = ({ own }: Readers) => loadOne(own, byId)

const anyById = query('any_payment_by_id', {
  rows,
  query: (select, keys) =>
    select.from(payments).where(and(inOrganization(payments.organizationId), anyOf(payments.id, keys))),
})

/** Finds a payment of an organization without permission checks. */
export const findPayment = readByOrganization<Payment>(async (db, organizationId, keys) => {
  const found = await anyById(db, { organizationId, keys })
  return new Map(found.map((payment) => [payment.id, payment]))
})

/** Finds the organization of a page: the one that its token names, else that of its payment, which any server
 *  of a distributed database may have. Null if there is none. */
export async function organizationOfPage(
  db: Database,
  { token, id, organizationId }: AddressToken,
): Promise<string | null> {
  if (organizationId !== null) return organizationId
  const found = db
    .select({ id: payments.organizationId })
    .from(payments)
    .where(and(eq(payments.pageToken, token), eq(payments.id, id)))
  return (await found)[0]?.id ?? null
}

const byToken = (name: string, isOf?: SQL) =>
  query<Payment>(name, {
    rows,
    query: (select) =>
      select
        .from(payments)
        .where(
          and(
            isOf,
            eq(payments.id, sql.placeholder('id')),
            eq(payments.pageToken, sql.placeholder('token')),
            eq(payments.channelId, sql.placeholder('channelId')),
            sql`${payments.mode} = ${sql.placeholder('mode')}::text::key_mode`,
          ),
        ),
  })
const ofChannelByToken = byToken('payment_of_channel_by_token')
const ownByToken = byToken('own_payment_by_token', inOrganization(payments.organizationId))

/** Finds the payment of a channel whose page has this token; null if there is none of the mode. */
export async function findPaymentByToken(
  db: Database,
  read: AddressToken,
  { channelId, mode }: Pick<Payment, 'channelId' | 'mode'>,
): Promise<Payment | null> {
  const { token, id } = read
  const organizationId = isDistributed(db) ? await organizationOfPage(db, read) : null
  const find = isDistributed(db) ? ownByToken : ofChannelByToken
  const [found] = await find(db, { token, id, channelId, mode, organizationId })
  return found ?? null
}
