import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import { type Batch, loadOne, type Readers } from '../../data/batch-loader.ts'
import { rowsOf } from '../../data/json-rows.ts'
import { anyOf, type Find, inOrganization, isOwn, rowStatement } from '../../data/prepared.ts'
import type { Database } from '../../database/database.ts'
import type { OrganizationToken } from '../../shared/ids.ts'
import { type Payment, payments } from './table.ts'

const rows = rowsOf(getTableColumns(payments))

const byId: Batch<Payment> = {
  name: 'payment_by_id',
  rows,
  query: (select, keys) => select.from(payments).where(and(anyOf(payments.id, keys), isOwn(payments))),
  key: ({ id }) => id,
}

/** Loads payments that the caller made as a channel, or that its organization sold. */
export const paymentById = ({ own }: Readers) => loadOne(own, byId)

const anyById: Find<Payment> = {
  rows,
  query: (select, keys) =>
    select.from(payments).where(and(inOrganization(payments.organizationId), anyOf(payments.id, keys))),
}

/** Finds a payment of an organization without permission checks. */
export async function findPayment(db: Database, organizationId: string, id: string): Promise<Payment | null> {
  const [found] = await rowStatement(db, 'any_payment_by_id', anyById).execute({ organizationId, keys: [id] })
  return found ?? null
}

const byToken: Find<Payment> = {
  rows,
  query: (select) =>
    select
      .from(payments)
      .where(
        and(
          inOrganization(payments.organizationId),
          eq(payments.pageToken, sql.placeholder('token')),
          eq(payments.channelId, sql.placeholder('channelId')),
          sql`${payments.mode} = ${sql.placeholder('mode')}::text::key_mode`,
        ),
      ),
}

/** Finds the payment of a channel whose page has this token; null if there is none of the mode. */
export async function findPaymentByToken(
  db: Database,
  { organizationId, secret }: OrganizationToken,
  { channelId, mode }: Pick<Payment, 'channelId' | 'mode'>,
): Promise<Payment | null> {
  const [found] = await rowStatement(db, 'payment_of_channel_by_token', byToken).execute({
    organizationId,
    token: secret,
    channelId,
    mode,
  })
  return found ?? null
}
