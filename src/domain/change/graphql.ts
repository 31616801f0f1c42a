import { z } from 'zod'
import { builder, enumOf, ModeRef, NodeRef, time } from '../../graphql/builder.ts'
import { connectionOf, costOfPage } from '../../graphql/connection.ts'
import { argsOf, inputOf, inputTypes } from '../../graphql/input-of.ts'
import { preload, viaId } from '../../graphql/lookahead.ts'
import { pageSize } from '../../shared/input-types.ts'
import { parse } from '../../shared/parse.ts'
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
      description: 'Organization concerned.',
      ...viaId(organizationById, ({ organizationId }: Change) => organizationId),
    }),
    webhookData: t.expose('data', {
      type: 'JSON',
      description:
        'What webhooks receive as `data`: state of the subject right after the change. Contains no personal data.',
    }),
    createdAt: t.expose('createdAt', time('Time of the change.')),
  }),
})

const FeedPositionRef = enumOf('FeedPosition', 'Position in the feed.', {
  oldest: 'Before the oldest change that is kept.',
  now: 'After the newest change that the caller may see now.',
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
  description: 'Page of the feed, oldest change first.',
})

builder.queryField('changes', (t) =>
  t.field({
    type: list.connection,
    nullable: true,
    description:
      'Lists the changes that concern the caller, oldest first. Store `endCursor` and begin after it next time, also after an empty page: no change is missed or repeated, even after a move to another database server. `NOW` is an empty page with the present cursor. With `types` a page looks through 100 changes, and may hold fewer than asked for, even none, although `hasNextPage` is true. Changes of one organization keep their order; those of several are merged by time. A channel sees changes of its payments and tickets, and of the rates of organizations that have given it access; an integration sees all changes of its organization. Refuses an unknown cursor with `CURSOR_UNKNOWN`: then start again from `OLDEST`, and skip the changes whose `id` is already known.',
    extensions: { needs: { caller: 'confidential', scope: 'tickets:read' } },
    complexity: costOfPage(1_000),
    args: argsOf(t.arg, pageInput),
    resolve: async (_root, args, ctx, info) => {
      const page = await readFeedPage(parse(pageInput, args), ctx)
      await preload([page], info, ctx)
      return page
    },
  }),
)

builder.subscriptionField('changes', (t) =>
  t.field({
    type: list.edge,
    description:
      'Streams the changes that concern the caller, as the query `changes` lists them: those from the start, and then each new one. Go on after the `cursor` of the last one; it is also the `id` of its event in the stream, which a client may send as `Last-Event-ID`. Refuses an unknown cursor with `CURSOR_UNKNOWN`.',
    extensions: {
      needs: { caller: 'confidential', scope: 'tickets:read', stream: { eventIdOf: toCursor } },
    },
    complexity: { field: 1_000, multiplier: 1 },
    args: argsOf(t.arg, streamInput),
    subscribe(_root, args, ctx) {
      const { from, types } = parse(streamInput, args)
      return watchChanges(ctx.lastEventId ? { after: ctx.lastEventId } : from, types, ctx)
    },
    resolve: (change) => change,
  }),
)
