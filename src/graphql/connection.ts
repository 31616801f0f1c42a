import type { ObjectRef } from '@pothos/core'
import { builder } from './builder.ts'

type PageInfo = {
  hasNextPage: boolean
  hasPreviousPage: boolean
  startCursor: string | null
  endCursor: string | null
}

export const PageInfoRef = builder.objectRef<PageInfo>('PageInfo').implement({
  description: 'Cursors of a page, and whether more pages follow.',
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', {
      description: 'True if the list continues after this page.',
    }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', {
      description: 'True if this page was requested with `after`.',
    }),
    startCursor: t.exposeString('startCursor', {
      nullable: true,
      description:
        'Cursor of the first item of the page. An empty page of `events` has null; an empty page of any other list repeats the cursor that it was requested with.',
    }),
    endCursor: t.exposeString('endCursor', {
      nullable: true,
      description:
        'Cursor of the last item of the page; pass it as `after` to get the next page. An empty page of `events` has null; an empty page of any other list repeats the cursor that it was requested with.',
    }),
  }),
})

/** A page of a list. `after` is the cursor that it was requested with; null for the first page. */
export type Page<Node> = { nodes: Node[]; after: string | null; hasNextPage: boolean }

/** Makes a page of `first` items. Expects `found` to hold one item more if the list continues. */
export const toPage = <Node>(found: Node[], first: number, after: string | null | undefined): Page<Node> => ({
  nodes: found.slice(0, first),
  after: after ?? null,
  hasNextPage: found.length > first,
})

/** Defines the connection and edge types of a list. `things` names its items in the descriptions. A node of
 *  the list may carry more than `Shape`, such as its cursor. */
export function connectionOf<Shape extends object, Node extends Shape = Shape>(
  name: string,
  node: ObjectRef<typeof builder.$inferSchemaTypes, Shape>,
  { things, description, toCursor }: { things: string; description: string; toCursor(node: Node): string },
) {
  const EdgeRef = builder.objectRef<{ node: Node }>(`${name}Edge`).implement({
    description: `Item and its cursor in a list of ${things}.`,
    fields: (t) => ({
      cursor: t.id({
        description: 'Cursor of this edge, for `after`.',
        resolve: ({ node }) => toCursor(node),
      }),
      // The resolver's type depends on `Shape`, which is open here.
      node: t.field({ type: node, description: 'Item at this edge.', resolve: (edge) => edge.node as never }),
    }),
  })
  return builder.objectRef<Page<Node>>(`${name}Connection`).implement({
    description,
    fields: (t) => ({
      edges: t.field({
        type: [EdgeRef],
        complexity: { field: 1, multiplier: 1 },
        description: `Page of ${things} with their cursors.`,
        resolve: ({ nodes }) => nodes.map((node) => ({ node })),
      }),
      nodes: t.field({
        type: [node],
        complexity: { field: 1, multiplier: 1 },
        description: `Page of ${things} without cursors.`,
        resolve: ({ nodes }) => nodes as never,
      }),
      pageInfo: t.field({
        type: PageInfoRef,
        description: 'Cursors of the page, and whether more pages follow.',
        resolve: ({ nodes, after, hasNextPage }) => {
          const [first, last] = [nodes[0], nodes.at(-1)]
          return {
            hasNextPage,
            hasPreviousPage: after !== null,
            startCursor: first ? toCursor(first) : after,
            endCursor: last ? toCursor(last) : after,
          }
        },
      }),
    }),
  })
}
