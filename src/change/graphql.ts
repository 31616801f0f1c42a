import { z } from 'zod'
import { builder } from '../builder.ts'
import { PageInfoRef } from '../page-info.ts'
import * as scalars from '../scalars.ts'
import { readCursor, start, toCursor } from './cursor.ts'
import { listChanges } from './list-changes.ts'
import { type Change, changeType } from './table.ts'

// A name can't hold the dot that the type has on its way to a webhook.
export const ChangeTypeRef = builder.enumType('ChangeType', {
  description: 'What can change. On its way to a webhook it has a dot: `payment.paid`.',
  values: Object.fromEntries(
    changeType.enumValues.map((value) => [value.replace('.', '_').toUpperCase(), { value }]),
  ) as Record<string, { value: Change['type'] }>,
})

export const ChangeRef = builder.objectRef<Change>('Change').implement({
  description: 'Something that has changed. What a webhook is sent, and what the feed tells.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its identifier, the `webhook-id` of a webhook.' }),
    type: t.expose('type', { type: ChangeTypeRef, description: 'What has changed.' }),
    subjectId: t.exposeID('subjectId', { description: 'The payment, ticket or rate that has.' }),
    sequence: t.exposeInt('sequence', { description: 'Counts the changes of one subject: 1, 2, 3.' }),
    organizationId: t.exposeID('organizationId', { description: 'The organization that it is of.' }),
    data: t.expose('data', {
      type: 'JSON',
      description: 'How it stood then, in the words of REST. Nothing of a person.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was.' }),
  }),
})

type ChangePage = { nodes: Change[]; after: string | null; hasNextPage: boolean }

const ChangeEdgeRef = builder.objectRef<Change>('ChangeEdge').implement({
  description: 'A change in the feed.',
  fields: (t) => ({
    cursor: t.id({ description: 'Its place in the feed.', resolve: toCursor }),
    node: t.field({ type: ChangeRef, description: 'The change.', resolve: (change) => change }),
  }),
})

const ChangeConnectionRef = builder.objectRef<ChangePage>('ChangeConnection').implement({
  description: 'A page of the feed, the oldest first.',
  fields: (t) => ({
    edges: t.field({
      type: [ChangeEdgeRef],
      complexity: { field: 1, multiplier: 1 },
      description: 'The changes with their cursors.',
      resolve: ({ nodes }) => nodes,
    }),
    nodes: t.field({
      type: [ChangeRef],
      complexity: { field: 1, multiplier: 1 },
      description: 'The changes.',
      resolve: ({ nodes }) => nodes,
    }),
    pageInfo: t.field({
      type: PageInfoRef,
      description: 'Where the page stands. Behind the newest, `endCursor` stays where it was.',
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

builder.queryField('changes', (t) =>
  t.field({
    type: ChangeConnectionRef,
    nullable: true,
    description:
      'What has changed for the caller, the oldest first: keep `endCursor` and ask again with it, and nothing is missed and nothing told twice. A channel hears of its payments and tickets and of the rates of organizations that granted it, an integration of its organization’s.',
    complexity: ({ first }) => ({ field: 1_000, multiplier: Math.min(100, Math.max(1, first)) }),
    args: {
      after: t.arg.id({ description: 'Behind the change with this cursor; from the beginning without it.' }),
      first: t.arg.int({ required: true, defaultValue: 50, description: 'How many, 1 to 100.' }),
    },
    resolve: async (_root, { after, first }, ctx) => {
      const { first: limit } = scalars.parse(z.object({ first: scalars.pageSize }), { first })
      const found = await listChanges(after ? readCursor(after) : start, limit + 1, ctx)
      return { nodes: found.slice(0, limit), after: after ?? null, hasNextPage: found.length > limit }
    },
  }),
)
