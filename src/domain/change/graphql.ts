import { z } from 'zod'
import { builder } from '../../graphql/builder.ts'
import { connectionOf, toPage } from '../../graphql/connection.ts'
import { requireCaller } from '../../request/context.ts'
import * as scalars from '../../shared/input-types.ts'
import { type FeedChange, listChanges } from './list-changes.ts'
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

const ChangeConnectionRef = connectionOf('Change', ChangeRef, {
  things: 'changes',
  description: 'A page of the feed, the oldest first.',
  toCursor: ({ cursor }: FeedChange) => cursor(),
})

builder.queryField('changes', (t) =>
  t.field({
    type: ChangeConnectionRef,
    nullable: true,
    description:
      'What has changed for the caller, the oldest first: keep `endCursor` and ask again with it, and nothing is missed and nothing told twice, also after the database has moved. The changes of one organization are in its order, those of several by time. A channel hears of its payments and tickets and of the rates of organizations that granted it, an integration of its organization’s. Refuses `CURSOR_UNKNOWN`: then ask without `after`, and tell by `id` what was heard before.',
    complexity: ({ first }) => ({ field: 1_000, multiplier: Math.min(100, Math.max(1, first)) }),
    args: {
      after: t.arg.id({
        description:
          'Returns changes after this cursor; from the oldest if omitted. A cursor is good for the caller that was given it.',
      }),
      first: t.arg.int({ required: true, defaultValue: 50, description: 'How many, 1 to 100.' }),
    },
    resolve: async (_root, { after, first }, ctx) => {
      requireCaller(ctx)
      const { first: limit } = scalars.parse(z.object({ first: scalars.pageSize }), { first })
      const found = await listChanges(after || null, limit + 1, ctx)
      return toPage(found, limit, after)
    },
  }),
)
