import { builder, NodeRef } from '../../graphql/builder.ts'
import type { Organization } from './table.ts'

export const OrganizationRef = builder.objectRef<Organization>('Organization')

OrganizationRef.implement({
  description: 'Organizer of events, whose tickets are sold by the channels that it has given access.',
  interfaces: [NodeRef],
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Display name.' }),
    slug: t.exposeString('slug', { description: 'URL-friendly name.' }),
    currency: t.exposeString('currency', {
      description: 'Currency of all prices of the organization, as an ISO 4217 code.',
    }),
  }),
})
