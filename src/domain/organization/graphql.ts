import type { IntegrationScope } from '../../auth/api-key.ts'
import { type Caller, findCallerName } from '../../auth/caller.ts'
import { builder, enumOf, ModeRef, NodeRef } from '../../graphql/builder.ts'
import { connectionOf, costOfPage, forwardArgs, sizeOf, toPage } from '../../graphql/connection.ts'
import { requireCaller } from '../../request/context.ts'
import { decodeCursor, encodeCursor } from '../../shared/cursor.ts'
import { isIdentifier } from '../../shared/ids.ts'
import { listOrganizations, organizationById } from './loaders.ts'
import type { Organization } from './table.ts'

export const OrganizationRef = builder.objectRef<Organization>('Organization')

OrganizationRef.implement({
  description: 'Organizer of events, whose tickets are sold by the channels that it has given access.',
  interfaces: [NodeRef],
  extensions: { node: { scope: 'catalogue', load: organizationById } },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Display name.' }),
    slug: t.exposeString('slug', { description: 'URL-friendly name.' }),
    currency: t.exposeString('currency', {
      description: 'Currency of all prices of the organization, as an ISO 4217 code.',
    }),
  }),
})

const OrganizationConnectionRef = connectionOf<Organization>('Organization', OrganizationRef, {
  things: 'organizations',
  description: 'Page of organizations, ordered by id.',
  toCursor: ({ id }) => encodeCursor(id),
})

builder.queryField('organizations', (t) =>
  t.field({
    type: OrganizationConnectionRef,
    nullable: true,
    extensions: { needs: { caller: 'any', scope: 'catalogue', shared: true } },
    description:
      "Lists the organizations that have given the channel access, or the integration's own, ordered by id.",
    complexity: costOfPage(100),
    args: forwardArgs(t, 'Returns organizations after this cursor; from the first if omitted.'),
    resolve: async (_root, { first, after }, ctx) => {
      const { organizationIds } = requireCaller(ctx)
      const size = sizeOf({ first })
      const readId = (id: string) => (isIdentifier(id) ? id : null)
      const page = { organizationIds, after: after ? decodeCursor(after, readId) : '', limit: size + 1 }
      return toPage(await listOrganizations(ctx.catalogue, page), size, after || null)
    },
  }),
)

const ViewerKindRef = enumOf<Caller['kind']>('ViewerKind', 'Kind of a caller.', {
  channel: 'Channel, which sells tickets.',
  publishable: 'Publishable key of a channel, for browsers.',
  integration: 'Integration of an organization.',
})

const ScopeRef = enumOf<IntegrationScope>('IntegrationScope', "Right of an integration's key.", {
  'tickets:read': 'Reads tickets, payments, refunds, the feed and webhooks.',
  door: 'Checks in at the door, and redeems supplements at the bar.',
  refunds: 'Refunds and cancels tickets.',
  sales: 'Sells at the box office, gives away, changes holders, and sums sales up.',
  catalogue: 'Reads events, rates and discounts.',
})

const ViewerRef = builder.objectRef<Caller>('Viewer').implement({
  description: 'Caller, by its credentials.',
  fields: (t) => ({
    kind: t.field({ type: ViewerKindRef, description: 'Kind of caller.', resolve: ({ kind }) => kind }),
    id: t.id({
      description: 'Identifier of the channel or of the integration.',
      resolve: (caller) => (caller.kind === 'integration' ? caller.integrationId : caller.channelId),
    }),
    name: t.string({
      description: 'Name that the channel or the integration was given.',
      resolve: (caller, _args, { db }) => findCallerName(db, caller),
    }),
    organizations: t.field({
      type: [OrganizationRef],
      complexity: { field: 100, multiplier: 20 },
      description: 'Organizations that it may act for, ordered by id; the first 100.',
      resolve: ({ organizationIds }, _args, ctx) =>
        listOrganizations(ctx.db, { organizationIds, after: '', limit: 100 }),
    }),
    scopes: t.field({
      type: [ScopeRef],
      description: 'Rights of an integration; empty for others.',
      resolve: (caller) => (caller.kind === 'integration' ? [...caller.scopes] : []),
    }),
    mode: t.field({ type: ModeRef, description: 'Mode of its key.', resolve: ({ mode }) => mode }),
  }),
})

builder.queryField('viewer', (t) =>
  t.field({
    type: ViewerRef,
    extensions: { needs: { caller: 'any', scope: 'none' } },
    description: 'Caller: who the credentials belong to, and what they are good for.',
    resolve: (_root, _args, ctx) => requireCaller(ctx),
  }),
)
