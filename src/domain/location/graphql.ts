import { builder, NodeRef, nullable } from '../../engine/graphql/builder.ts'
import { viaId } from '../../engine/graphql/lookahead.ts'
import { OrganizationRef } from '../organization/graphql.ts'
import { organizationById } from '../organization/loaders.ts'
import { locationById } from './loaders.ts'
import type { Location } from './table.ts'

const organizationOf = ({ organizationId }: Location) => organizationId

export const LocationRef = builder.objectRef<Location>('Location')

LocationRef.implement({
  description: 'Venue where events take place. What is not known of it is null.',
  interfaces: [NodeRef],
  extensions: { node: { scope: 'catalogue', load: locationById, organizationOf } },
  fields: (t) => ({
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
      description: 'Organization that the venue belongs to.',
      ...viaId(organizationById, organizationOf),
    }),
  }),
})
