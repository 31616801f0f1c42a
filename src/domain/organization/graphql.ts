import { builder, NodeRef } from '../../graphql/builder.ts'
import type { Organization } from './table.ts'

export const OrganizationRef = builder.objectRef<Organization>('Organization')

OrganizationRef.implement({
  description: 'Sells tickets for its events, by itself and through channels that it grants.',
  interfaces: [NodeRef],
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    slug: t.exposeString('slug', { description: 'Its name as part of an address.' }),
    currency: t.exposeString('currency', { description: 'ISO 4217 code of the currency that it sells in.' }),
  }),
})
