import type { ObjectRef } from '@pothos/core'
import { builder } from './builder.ts'

type PageInfo = {
  hasNextPage: boolean
  hasPreviousPage: boolean
  startCursor: string | null
  endCursor: string | null
}

export const PageInfoRef = builder.objectRef<PageInfo>('PageInfo').implement({
  description: 'Where a page stands in its list.',
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', {
      description: 'Whether the list goes on behind this page.',
    }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', {
      description: 'Whether this page was asked for `after` another.',
    }),
    startCursor: t.exposeString('startCursor', {
      nullable: true,
      description: 'The cursor of the first of the page.',
    }),
    endCursor: t.exposeString('endCursor', {
      nullable: true,
      description:
        'The cursor of the last of the page: give it as `after` for the next one. Of an empty page it is the one that it was asked for behind.',
    }),
  }),
})

/** A page of a list. `after` is the cursor that it was asked for behind; null for the first. */
export type Page<Node> = { nodes: Node[]; after: string | null; hasNextPage: boolean }

/** A page of what was found, where one more than `first` was asked for so that it is known whether the list goes on. */
export const toPage = <Node>(found: Node[], first: number, after: string | null | undefined): Page<Node> => ({
  nodes: found.slice(0, first),
  after: after ?? null,
  hasNextPage: found.length > first,
})

/** The connection of a list, and its edges. `things` says in a description what is in it. A node in it may know more
 *  than one elsewhere, such as its cursor. */
export function connectionOf<Shape extends object, Node extends Shape = Shape>(
  name: string,
  node: ObjectRef<typeof builder.$inferSchemaTypes, Shape>,
  { things, description, toCursor }: { things: string; description: string; toCursor(node: Node): string },
) {
  const EdgeRef = builder.objectRef<{ node: Node }>(`${name}Edge`).implement({
    description: `One of the ${things}, in its list.`,
    fields: (t) => ({
      cursor: t.id({ description: 'Its place in the list.', resolve: ({ node }) => toCursor(node) }),
      // What a resolver of a node may give depends on the node, which is any.
      node: t.field({ type: node, description: 'What is there.', resolve: (edge) => edge.node as never }),
    }),
  })
  return builder.objectRef<Page<Node>>(`${name}Connection`).implement({
    description,
    fields: (t) => ({
      edges: t.field({
        type: [EdgeRef],
        complexity: { field: 1, multiplier: 1 },
        description: `The ${things} with their cursors.`,
        resolve: ({ nodes }) => nodes.map((node) => ({ node })),
      }),
      nodes: t.field({
        type: [node],
        complexity: { field: 1, multiplier: 1 },
        description: `The ${things}.`,
        resolve: ({ nodes }) => nodes as never,
      }),
      pageInfo: t.field({
        type: PageInfoRef,
        description: 'Where the page stands.',
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
