import type { ObjectRef } from '@pothos/core'
import { z } from 'zod'
import { pageSize } from '../base/input-types.ts'
import { parse } from '../base/parse.ts'
import { builder, type Types } from './builder.ts'

type PageInfo = Required<Omit<Page<unknown>, 'nodes' | 'after'>>

const PageInfoRef = builder.objectRef<PageInfo>('PageInfo').implement({
  description: 'Cursors of a page, and whether more pages follow.',
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', {
      description: 'True if the list continues after this page.',
    }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', {
      description:
        'True if the list continues before this page, as far as is known: behind `after` it is true.',
    }),
    startCursor: t.exposeString('startCursor', {
      nullable: true,
      description:
        'Cursor of the first item of the page. An empty page of `events` has null; an empty page of any other list repeats the cursor that it was requested with, if any. The first page of `checkIns` always has one, to stream from.',
    }),
    endCursor: t.exposeString('endCursor', {
      nullable: true,
      description:
        'Cursor of the last item of the page, or where a short page has stopped; pass it as `after` to get the next page. An empty page at the end of `events` has null; an empty page of any other list has the cursor to go on from, or null if it is the first and has none.',
    }),
  }),
})

/** A page of a list. `after` is the cursor that it was requested with; null for the first page. */
export type Page<Node> = {
  nodes: Node[]
  after: string | null
  hasNextPage: boolean
  /** Set by lists that can be read backwards; by default true behind a cursor. */
  hasPreviousPage?: boolean
  /** Cursors of where the page begins and ends, if those are not of its first and last items. */
  startCursor?: string | null
  endCursor?: string | null
}

/** Makes a page of `first` items. Expects `found` to hold one item more if the list continues. */
export const toPage = <Node>(found: Node[], first: number, after: string | null | undefined): Page<Node> => ({
  nodes: found.slice(0, first),
  after: after || null,
  hasNextPage: found.length > first,
})

/** Arguments of a list that is read forward. `after` describes its cursor. */
export const forwardArgs = (after: string) =>
  builder.args((t) => ({
    first: t.int({ required: true, defaultValue: 50, description: 'Page size, 1 to 100.' }),
    after: t.string({ description: after }),
  }))

/** Cost of a field that reads a page. The size is clamped, so that one out of range is refused as invalid, and not as
 *  too complex. */
export const costOfPage =
  (field: number) =>
  ({ first, last }: { first?: number | null | undefined; last?: number | null | undefined }) => ({
    field,
    multiplier: Math.min(100, Math.max(1, first ?? last ?? 50)),
  })

const sizeInput = z.object({ first: pageSize })

/** Reads a page forward: by `find` one item more than it shows, and behind the position of its cursor, null without one.
 *  Refuses: INVALID, for a size out of range, and as `readCursor` does. */
export async function readForward<Node, Position>(
  { first, after }: { first: number; after?: string | null | undefined },
  readCursor: (cursor: string) => Position,
  find: (position: Position | null, limit: number) => Promise<Node[]>,
): Promise<Page<Node>> {
  const size = parse(sizeInput, { first }).first
  return toPage(await find(after ? readCursor(after) : null, size + 1), size, after)
}

type Options<Node> = {
  /** Names the items in descriptions. */
  things: string
  description: string
  toCursor(node: Node): string
}

/** Defines the type of a list's pages, `<name>Connection`, and that of its edges. A node may carry more than `Shape`, such
 *  as its cursor, and a page more than its nodes. */
export function connectionOf<
  Shape extends object,
  Node extends Shape = Shape,
  OnePage extends Page<Node> = Page<Node>,
>(name: string, node: ObjectRef<Types, Shape>, { things, description, toCursor }: Options<Node>) {
  const edge = builder.objectRef<Node>(`${name}Edge`).implement({
    description: `Item of a list of ${things}, with its cursor.`,
    fields: (t) => ({
      cursor: t.string({ description: 'Cursor of this edge, for `after`.', resolve: toCursor }),
      node: t.field({
        type: node,
        description: 'Item at this edge.',
        extensions: { preload: (nodes) => nodes },
        resolve: (node) => node as never,
      }),
    }),
  })
  // The types of these resolvers depend on `Shape`, which is open here.
  const nodesOf = {
    complexity: { field: 1, multiplier: 1 },
    extensions: { preload: (pages: OnePage[]) => pages.flatMap(({ nodes }) => nodes) },
    resolve: ({ nodes }: OnePage) => nodes as never,
  }
  const connection = builder.objectRef<OnePage>(`${name}Connection`).implement({
    description,
    fields: (t) => ({
      edges: t.field({ type: [edge], description: 'Items of the page with their cursors.', ...nodesOf }),
      nodes: t.field({ type: [node], description: 'Items of the page without cursors.', ...nodesOf }),
      pageInfo: t.field({
        type: PageInfoRef,
        description: 'Cursors of the page, and whether more pages follow.',
        resolve: ({ nodes, after, hasNextPage, ...page }) => {
          const [first, last] = [nodes[0], nodes.at(-1)]
          return {
            hasNextPage,
            hasPreviousPage: page.hasPreviousPage ?? after !== null,
            startCursor: page.startCursor ?? (first ? toCursor(first) : after),
            endCursor: page.endCursor ?? (last ? toCursor(last) : after),
          }
        },
      }),
    }),
  })
  return { connection, edge }
}
