import { and, getTableColumns, isNull, or } from 'drizzle-orm'
import { type Batch, loadOne, type Readers } from '../../data/batch-loader.ts'
import { rowsOf } from '../../data/json-rows.ts'
import { anyOf, isInMode, isOwn } from '../../data/prepared.ts'
import { type Change, changes } from './table.ts'

const byId: Batch<Change> = {
  name: 'change_by_id',
  rows: rowsOf(getTableColumns(changes)),
  query: (select, keys) =>
    select
      .from(changes)
      .where(
        and(
          anyOf(changes.id, keys),
          or(
            isOwn(changes),
            and(
              isNull(changes.channelId),
              anyOf(changes.organizationId, 'organizationIds'),
              isInMode(changes.mode),
            ),
          ),
        ),
      ),
  key: ({ id }) => id,
}

/** Loads changes that the caller's feed has: of its own sales, or of stock that it sees. */
export const changeById = ({ own }: Readers) => loadOne(own, byId)
