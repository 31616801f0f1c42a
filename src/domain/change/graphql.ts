import { z } from 'zod'
import { pageSize } from '../../engine/base/input-types.ts'
import { parse } from '../../engine/base/parse.ts'
import {
  builder,
  enumOf,
  NodeRef,
  queryField,
  subscriptionField,
  time,
} from '../../engine/graphql/builder.ts'
import { connectionOf, costOfPage } from '../../engine/graphql/connection.ts'
import { argsOf, inputOf, inputTypes } from '../../engine/graphql/input-of.ts'
import { preload, viaId } from '../../engine/graphql/lookahead.ts'
import { ModeRef } from '../caller/roots-graphql.ts'
import { OrganizationRef } from '../organization/graphql.ts'
import { organizationById } from '../organization/loaders.ts'
import { changeTypes, type FeedChange, feedStart, readFeedPage } from './list-changes.ts'
import { changeById } from './loaders.ts'
import { type Change, changeDescriptions } from './table.ts'
import { watchChanges } from './watch-changes.ts'

// GraphQL names cannot contain the dot of the webhook's type.
export const ChangeTypeRef = enumOf(
  'ChangeType',
  'Type of a change. Webhooks name it in lower case with a dot, such as `payment.paid`. Values may be added: treat an unknown one as a change of its subject.',
  changeDescriptions,
)

export const ChangeRef = builder.objectRef<Change>('Change').implement({
  description: 'Change of a payment, ticket or rate, as the feed lists it and webhooks receive it.',
  interfaces: [NodeRef],
  extensions: { node: { prefix: 'chg', scope: 'tickets:read', load: changeById } },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Change identifier, which a webhook receives as `webhook-id`.' }),
    type: t.expose('type', { type: ChangeTypeRef, description: 'Type of the change.' }),
    mode: t.expose('mode', { type: ModeRef, description: 'Mode of what changed: that of the caller.' }),
    sequence: t.exposeInt('sequence', {
      description: 'Number of the change among those of its subject: 1, 2, 3.',
    }),
    organization: t.field({
      type: OrganizationRef,
      description: 'Organization of what changed.',
      ...viaId(organizationById, ({ organizationId }: Change) => organizationId),
    }),
    createdAt: t.expose('createdAt', time('Time of the change.')),
  }),
})

const FeedPositionRef = enumOf('FeedPosition', 'End of the feed.', {
  oldest: 'Before the oldest change that is kept.',
  now: 'After the newest change: an empty page, and a cursor to go on from.',
})

inputTypes.add(feedStart.shape.at, { type: FeedPositionRef })
inputOf('FeedStart', feedStart, { isOneOf: true })

inputTypes.add(changeTypes.element, { type: ChangeTypeRef })

const streamInput = z.object({
  from: feedStart,
  types: changeTypes.nullish().describe('Types of change to return; all if omitted.'),
})
const pageInput = streamInput.extend({ first: pageSize.default(50).describe('Page size, 1 to 100.') })

const toCursor = ({ cursor }: FeedChange) => cursor()
const list = connectionOf('Change', ChangeRef, {
  things: 'changes',
  toCursor,
  description:
    'Page of changes, oldest first. With `types` it looks through 100 changes, and may hold fewer than asked for, even none, although `hasNextPage` is true.',
})

queryField('changes', {
  type: list.connection,
  description:
    "Lists the changes that concern the caller, oldest first: those of a channel's payments and tickets and of the rates that it may sell, or all of an integration's organization. Keep `endCursor`, also of an empty page, and start after it next time: no change is missed or repeated. An unknown cursor is refused with `CURSOR_UNKNOWN`: then start from `OLDEST`, and skip changes whose `id` you know.",
  needs: { caller: 'confidential', scope: 'tickets:read' },
  complexity: costOfPage(1_000),
  args: argsOf(pageInput),
  resolve: async (_root, args, ctx, info) => {
    const page = await readFeedPage(parse(pageInput, args), ctx)
    await preload([page], info, ctx)
    return page
  },
})

subscriptionField('changes', {
  type: list.edge,
  description:
    'Streams the changes that concern the caller, as the query `changes` lists them, and then each new one. The cursor is also the `id` of the message, which a client may send as `Last-Event-ID` to go on. An unknown cursor is refused with `CURSOR_UNKNOWN`.',
  needs: { caller: 'confidential', scope: 'tickets:read', stream: { eventIdOf: toCursor } },
  complexity: { field: 1_000, multiplier: 1 },
  args: argsOf(streamInput),
  subscribe(_root, args, ctx) {
    const { from, types } = parse(streamInput, args)
    return watchChanges(ctx.lastEventId ? { after: ctx.lastEventId } : from, types, ctx)
  },
  resolve: (change) => change,
})
