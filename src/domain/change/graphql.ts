import type { ObjectFieldBuilder } from '@pothos/core'
import { builder, enumOf, ModeRef, NodeRef, time } from '../../graphql/builder.ts'
import { connectionOf, costOfPage, forwardArgs, sizeOf, toPage } from '../../graphql/connection.ts'
import { type FeedChange, listChanges } from './list-changes.ts'
import { changeById } from './loaders.ts'
import { type Change, changeDescriptions } from './table.ts'
import { watchChanges } from './watch-changes.ts'

// GraphQL names cannot contain the dot of the webhook's type.
export const ChangeTypeRef = enumOf(
  'ChangeType',
  'Type of a change. Webhooks name it in lower case with a dot, such as `payment.paid`.',
  changeDescriptions,
)

type Types = typeof builder.$inferSchemaTypes

/** Fields of a change, wherever it is shown. */
const changeFields = (t: ObjectFieldBuilder<Types, Change>) => ({
  id: t.exposeID('id', { description: 'Change identifier, which a webhook receives as `webhook-id`.' }),
  type: t.expose('type', { type: ChangeTypeRef, description: 'Type of the change.' }),
  subjectId: t.exposeID('subjectId', {
    description: 'Identifier of the payment, ticket or rate that changed.',
  }),
  mode: t.expose('mode', { type: ModeRef, description: 'Mode of what changed: that of the caller.' }),
  sequence: t.exposeInt('sequence', {
    description: 'Number of the change among those of its subject: 1, 2, 3.',
  }),
  organizationId: t.exposeID('organizationId', { description: 'Identifier of the organization concerned.' }),
  data: t.expose('data', {
    type: 'JSON',
    description:
      'State of the subject right after the change, with REST field names. Contains no personal data.',
  }),
  createdAt: t.expose('createdAt', time('Time of the change.')),
})

export const ChangeRef = builder.objectRef<Change>('Change').implement({
  description: 'Change of a payment, ticket or rate, as the feed lists it and webhooks receive it.',
  interfaces: [NodeRef],
  extensions: { node: { prefix: 'chg', scope: 'tickets:read', load: changeById } },
  fields: changeFields,
})

const ChangeConnectionRef = connectionOf('Change', ChangeRef, {
  things: 'changes',
  description: 'Page of the feed, oldest change first.',
  toCursor: ({ cursor }: FeedChange) => cursor(),
})

builder.queryField('changes', (t) =>
  t.field({
    type: ChangeConnectionRef,
    nullable: true,
    description:
      'Lists the changes that concern the caller, oldest first. Store `endCursor` and pass it as `after` next time: no change is missed or repeated, even after a move to another database server. Changes of one organization keep their order; those of several are merged by time. A channel sees changes of its payments and tickets, and of the rates of organizations that have given it access; an integration sees all changes of its organization. Refuses an unknown cursor with `CURSOR_UNKNOWN`: then start again without `after`, and skip the changes whose `id` is already known.',
    extensions: { needs: { caller: 'confidential', scope: 'tickets:read' } },
    complexity: costOfPage(1_000),
    args: forwardArgs(
      t,
      'Returns changes after this cursor; from the oldest if omitted. A cursor is valid only for the caller that received it.',
    ),
    resolve: async (_root, { after, first }, ctx) => {
      const limit = sizeOf({ first })
      const found = await listChanges(after || null, limit + 1, ctx)
      return toPage(found, limit, after)
    },
  }),
)

const FeedChangeRef = builder.objectRef<FeedChange>('FeedChange').implement({
  description: 'Change in the feed, and the cursor after it.',
  fields: (t) => ({
    ...changeFields(t),
    cursor: t.string({
      description: 'Cursor after this change, for `after` here and in the query `changes`.',
      resolve: (change) => change.cursor(),
    }),
  }),
})

builder.subscriptionField('changes', (t) =>
  t.field({
    type: FeedChangeRef,
    description:
      'Streams the changes that concern the caller, as the query `changes` lists them: those after the cursor, and then each new one. The `id` of an event in the stream is its cursor: a client that sends it as `Last-Event-ID` goes on there. Refuses an unknown cursor with `CURSOR_UNKNOWN`.',
    extensions: {
      needs: {
        caller: 'confidential',
        scope: 'tickets:read',
        stream: { eventIdOf: (change: FeedChange) => change.cursor() },
      },
    },
    complexity: { field: 1_000, multiplier: 1 },
    args: {
      after: t.arg.string({ description: 'Streams changes after this cursor; from the oldest if omitted.' }),
    },
    subscribe: (_root, { after }, ctx) => watchChanges(ctx.lastEventId || after || null, ctx),
    resolve: (change) => change,
  }),
)
