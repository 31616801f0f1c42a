import { builder, NodeRef, nullable } from '../../graphql/builder.ts'
import { viaLoader } from '../../graphql/lookahead.ts'
import { OrganizationRef } from '../organization/graphql.ts'
import { organizationById } from '../organization/loaders.ts'
import { locationById } from './loaders.ts'
import type { Location } from './table.ts'

export const LocationRef = builder.objectRef<Location>('Location')

LocationRef.implement({
  description: 'Venue where events take place.',
  interfaces: [NodeRef],
  extensions: { node: { scope: 'catalogue', load: locationById } },
  fields: (t) => ({
    organizationId: t.exposeID('organizationId', {
      description: 'Identifier of the organization that the venue belongs to.',
    }),
    name: t.exposeString('name', { description: 'Display name.' }),
    address: t.exposeString('address', nullable('Street and number.')),
    city: t.exposeString('city', nullable('City.')),
    countryCode: t.exposeString('countryCode', nullable('Two-letter ISO 3166 country code.')),
    latitude: t.exposeFloat('latitude', nullable('Latitude in degrees, positive to the north.')),
    longitude: t.exposeFloat('longitude', nullable('Longitude in degrees, positive to the east.')),
    timezone: t.exposeString('timezone', {
      description: 'IANA time zone of the venue, such as `Europe/Madrid`.',
    }),
    organization: t.field({
      type: OrganizationRef,
      ...nullable('Organization that the venue belongs to.'),
      ...viaLoader(organizationById, (location: Location) => location.organizationId),
    }),
  }),
})
