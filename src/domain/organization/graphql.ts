import { z } from 'zod'
import { cursorReader, encodeCursor } from '../../engine/base/cursor.ts'
import { identifierPattern } from '../../engine/base/ids.ts'
import * as scalars from '../../engine/base/input-types.ts'
import { parse } from '../../engine/base/parse.ts'
import { builder, NodeRef, queryField } from '../../engine/graphql/builder.ts'
import { connectionOf, costOfPage, forwardArgs, readForward } from '../../engine/graphql/connection.ts'
import { argsOf, inputOf } from '../../engine/graphql/input-of.ts'
import { requireCaller } from '../caller/context.ts'
import { findOrganizationBySlug, listOrganizations, organizationById } from './loaders.ts'
import type { Organization } from './table.ts'

export const OrganizationRef = builder.objectRef<Organization>('Organization')

OrganizationRef.implement({
  description: 'Organizer of events, whose tickets are sold by the channels that it has given access.',
  interfaces: [NodeRef],
  extensions: {
    node: { scope: 'catalogue', load: organizationById, organizationOf: ({ id }: Organization) => id },
  },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Display name.' }),
    slug: t.exposeString('slug', { description: 'URL-friendly name.' }),
    currency: t.expose('currency', {
      type: 'CurrencyCode',
      description: 'Currency of all prices of the organization.',
    }),
  }),
})

const { connection: OrganizationConnectionRef } = connectionOf('Organization', OrganizationRef, {
  things: 'organizations',
  description: 'Page of organizations, ordered by id.',
  toCursor: ({ id }) => encodeCursor(id),
})

const readCursor = cursorReader(new RegExp(`^(${identifierPattern})$`), String)

queryField('organizations', {
  type: OrganizationConnectionRef,
  needs: { caller: 'any', scope: 'catalogue', shared: true },
  description:
    "Lists the organizations that have given the channel access, or the integration's own, ordered by id.",
  complexity: costOfPage(100),
  args: forwardArgs('Returns organizations after this cursor; from the first if omitted.'),
  resolve(_root, args, ctx) {
    const { organizationIds } = requireCaller(ctx)
    return readForward(args, readCursor, (after, limit) =>
      listOrganizations(ctx.shared, { organizationIds, after: after ?? '', limit }),
    )
  },
})

const organizationBy = z
  .object({
    id: scalars.id.nullish().describe('Organization identifier.'),
    slug: scalars.slug.nullish().describe('Slug of the organization.'),
  })
  .describe('Identifier or slug of an organization.')
const organizationArgs = z.object({ by: organizationBy.describe('Its identifier or slug.') })
inputOf('OrganizationBy', organizationBy, { isOneOf: true })

queryField('organization', {
  type: OrganizationRef,
  description: 'Finds an organization. Null if it does not exist or the caller does not see it.',
  needs: { caller: 'any', scope: 'catalogue', shared: true },
  args: argsOf(organizationArgs),
  async resolve(_root, args, ctx) {
    const { organizationIds } = requireCaller(ctx)
    const { id, slug } = parse(organizationArgs, args).by
    if (slug) return findOrganizationBySlug(ctx.shared, organizationIds, slug)
    return organizationIds.includes(id ?? '') ? ctx.loaders.load(organizationById, id ?? '') : null
  },
})
