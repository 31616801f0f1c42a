import { builder, NodeRef } from '../../graphql/builder.ts'
import { viaLoader } from '../../graphql/lookahead.ts'
import { OrganizationRef } from '../organization/graphql.ts'
import { organizationById } from '../organization/loaders.ts'
import type { Location } from './table.ts'

export const LocationRef = builder.objectRef<Location>('Location')

LocationRef.implement({
  description: 'Where events take place.',
  interfaces: [NodeRef],
  fields: (t) => ({
    organizationId: t.exposeID('organizationId', { description: 'The organization that it belongs to.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    address: t.exposeString('address', { nullable: true, description: 'Street and number.' }),
    city: t.exposeString('city', { nullable: true, description: 'City.' }),
    countryCode: t.exposeString('countryCode', { nullable: true, description: 'ISO 3166 two-letter code.' }),
    latitude: t.exposeFloat('latitude', { nullable: true, description: 'Degrees north.' }),
    longitude: t.exposeFloat('longitude', { nullable: true, description: 'Degrees east.' }),
    timezone: t.exposeString('timezone', {
      description: 'IANA time zone: what the clock on its wall shows.',
    }),
    organization: t.field({
      type: OrganizationRef,
      nullable: true,
      description: 'The organization that it belongs to.',
      ...viaLoader(organizationById, (location: Location) => location.organizationId),
    }),
  }),
})
