import { builder, enumOf, NodeRef, nullable, queryField } from '../../engine/graphql/builder.ts'
import { viaId, viaLoader } from '../../engine/graphql/lookahead.ts'
import type { IntegrationScope } from '../caller/api-key.ts'
import type { Caller } from '../caller/caller.ts'
import { requireCaller } from '../caller/context.ts'
import { ModeRef } from '../caller/roots-graphql.ts'
import type { channels, integrations } from '../caller/table.ts'
import { OrganizationRef } from './graphql.ts'
import { channelById, findChannels, findIntegrations, integrationById, organizationById } from './loaders.ts'

export const ChannelRef = builder.objectRef<typeof channels.$inferSelect>('Channel').implement({
  description:
    'Client that sells tickets of the organizations that have given it access, such as a shop or a reseller.',
  interfaces: [NodeRef],
  extensions: { node: { scope: 'catalogue', find: findChannels } },
  fields: (t) => ({ name: t.exposeString('name', { description: 'Name that it was given.' }) }),
})

const IntegrationRef = builder.objectRef<typeof integrations.$inferSelect>('Integration').implement({
  description: 'Client of one organization, such as a scanner at the door or its own back office.',
  interfaces: [NodeRef],
  extensions: { node: { prefix: 'int', scope: 'catalogue', find: findIntegrations } },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name that it was given.' }),
    organization: t.field({
      type: OrganizationRef,
      description: 'Organization that it belongs to.',
      ...viaId(organizationById, ({ organizationId }: typeof integrations.$inferSelect) => organizationId),
    }),
  }),
})

const ViewerKindRef = enumOf<Caller['kind']>(
  'ViewerKind',
  'Kind of a caller. Values may be added: treat an unknown one as neither a channel nor an integration.',
  {
    channel: 'Channel, which sells tickets.',
    publishable: 'Publishable key of a channel, for browsers.',
    integration: 'Integration of an organization.',
  },
)

const ScopeRef = enumOf<IntegrationScope>(
  'IntegrationScope',
  "Right of an integration's key. Values may be added: treat an unknown one as a right that you do not use.",
  {
    'tickets:read': 'Reads tickets, payments, refunds and the feed, and manages webhooks.',
    door: 'Checks in at the door, and redeems supplements at the bar.',
    refunds: 'Refunds and cancels tickets.',
    sales:
      'Sells at the box office, gives tickets away, sends them again, changes attendees, and reads sums of sales.',
    catalogue: 'Reads events, rates and discounts.',
  },
)

const ViewerRef = builder.objectRef<Caller>('Viewer').implement({
  description: 'Caller, by its credentials.',
  fields: (t) => ({
    kind: t.field({ type: ViewerKindRef, description: 'Kind of caller.', resolve: ({ kind }) => kind }),
    channel: t.field({
      type: ChannelRef,
      ...nullable('Channel that the credentials are of; null for an integration.'),
      ...viaLoader(channelById, (caller: Caller) =>
        caller.kind === 'integration' ? null : caller.channelId,
      ),
    }),
    integration: t.field({
      type: IntegrationRef,
      ...nullable('Integration that the credentials are of; null for a channel.'),
      ...viaLoader(integrationById, (caller: Caller) =>
        caller.kind === 'integration' ? caller.integrationId : null,
      ),
    }),
    scopes: t.field({
      type: [ScopeRef],
      description: 'Rights of an integration; empty for others.',
      resolve: (caller) => (caller.kind === 'integration' ? [...caller.scopes] : []),
    }),
    mode: t.field({ type: ModeRef, description: 'Mode of its key.', resolve: ({ mode }) => mode }),
  }),
})

queryField('viewer', {
  type: ViewerRef,
  description: 'Tells who is calling, in which mode and with which rights.',
  needs: { caller: 'any', scope: 'none' },
  resolve: (_root, _args, ctx) => requireCaller(ctx),
})
