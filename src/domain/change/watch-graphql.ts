import { builder } from '../../graphql/builder.ts'
import type { Live } from '../../graphql/live.ts'
import { requireCaller } from '../../request/context.ts'
import { changeFields } from './graphql.ts'
import type { FeedChange } from './list-changes.ts'
import { watchChanges } from './watch-changes.ts'

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
    extensions: { live: { eventIdOf: (change) => change.cursor() } satisfies Live<FeedChange> },
    complexity: { field: 1_000, multiplier: 1 },
    args: {
      after: t.arg.string({
        description: 'Streams changes after this cursor; from the oldest if omitted.',
      }),
    },
    subscribe: (_root, { after }, ctx) => {
      requireCaller(ctx)
      return watchChanges(ctx.lastEventId || after || null, ctx)
    },
    resolve: (change) => change,
  }),
)
