import type { QueryFieldBuilder } from '@pothos/core'
import { z } from 'zod'
import type { builder } from '../../graphql/builder.ts'
import type { Page } from '../../graphql/connection.ts'
import { Refusal } from '../../shared/errors.ts'
import * as scalars from '../../shared/input-types.ts'
import { type Placed, toPlaceCursor } from './list-cursor.ts'
import type { ListPage, PageRequest } from './list-request.ts'

type Types = typeof builder.$inferSchemaTypes

/** Arguments of a list that is read in either direction. */
export const pageArgs = (t: QueryFieldBuilder<Types, Types['Root']>, things: string) => ({
  first: t.arg.int({ description: 'Page size from the front, 1 to 100; 50 without `last`.' }),
  after: t.arg.string({ description: `Returns ${things} after this cursor.` }),
  last: t.arg.int({ description: 'Page size from the end, 1 to 100.' }),
  before: t.arg.string({ description: `Returns ${things} before this cursor.` }),
})

type PageArgs = {
  first?: number | null | undefined
  after?: string | null | undefined
  last?: number | null | undefined
  before?: string | null | undefined
}

const sizes = z.object({ first: scalars.pageSize.nullish(), last: scalars.pageSize.nullish() })

function toRequest({ after, before, ...given }: PageArgs): PageRequest {
  const { first, last } = scalars.parse(sizes, given)
  if (first && last)
    throw new Refusal({ code: 'INVALID', message: 'last goes without first.', path: ['last'] })
  return {
    after: after || null,
    before: before || null,
    size: first ?? last ?? 50,
    isBackward: Boolean(last),
  }
}

/** Reads a page of a list as a connection. Refuses: INVALID, for `first` with `last`, or out of bounds. */
export async function toConnection<Row>(
  args: PageArgs,
  read: (page: PageRequest) => Promise<ListPage<Row>>,
): Promise<Page<Placed<Row>>> {
  const page = toRequest(args)
  const { sortKey, rows, hasNextPage, hasPreviousPage, start, end } = await read(page)
  const cursorOf = (place: typeof start) => place && toPlaceCursor(sortKey, place)
  return {
    nodes: rows,
    after: page.after ?? page.before ?? null,
    hasNextPage,
    hasPreviousPage,
    startCursor: cursorOf(start),
    endCursor: cursorOf(end),
  }
}
