import { builder, NodeRef, nullable, nullableTime, time } from '../../graphql/builder.ts'
import { viaLoader } from '../../graphql/lookahead.ts'
import { refusal } from '../../shared/errors.ts'
import { LocationRef } from '../location/graphql.ts'
import { locationById } from '../location/loaders.ts'
import { OrganizationRef } from '../organization/graphql.ts'
import { organizationById } from '../organization/loaders.ts'
import { eventById, findEventBySlug } from './loaders.ts'
import type { Artist, Event } from './table.ts'

export const EventRef = builder.objectRef<Event>('Event')

const ArtistRef = builder.objectRef<Artist>('Artist').implement({
  description: 'Performer at an event.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Stage name.' }),
    imageUrl: t.exposeString('imageUrl', nullable('URL of a picture.')),
  }),
})

const IframeRef = builder.objectRef<Event>('Iframe').implement({
  description: 'Embeddable sales widget.',
  fields: (t) => ({
    tagUrl: t.exposeString('iframeTagUrl', nullable('URL of the frame.')),
    scriptUrl: t.exposeString('iframeScriptUrl', nullable('URL of the script.')),
  }),
})

EventRef.implement({
  description: 'Event that tickets are sold for.',
  interfaces: [NodeRef],
  extensions: { node: { scope: 'catalogue', load: eventById } },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Display name.' }),
    slug: t.exposeString('slug', { description: 'URL-friendly name.' }),
    description: t.exposeString('description', nullable('Description for the public.')),
    age: t.exposeString('age', nullable('Minimum age, as text; null for any age.')),
    outfit: t.exposeString('outfit', nullable('Dress code.')),
    ambiences: t.exposeStringList('ambiences', { description: 'Moods, such as `dancing` or `open air`.' }),
    musicGenres: t.exposeStringList('musicGenres', { description: 'Music genres.' }),
    artists: t.expose('artists', { type: [ArtistRef], description: 'Performers.' }),
    displayDate: t.expose(
      'displayDate',
      nullableTime(
        'Date to display if it differs from the start, such as the evening before for a night that begins after midnight.',
      ),
    ),
    startDate: t.expose('startDate', time('Start of the event, and end of its ticket sale.')),
    endDate: t.expose('endDate', time('End of the event.')),
    organizationId: t.exposeID('organizationId', { description: 'Identifier of the organizer.' }),
    imageUrl: t.exposeString('imageUrl', nullable('URL of the poster.')),
    locationId: t.exposeID('locationId', nullable('Identifier of the venue.')),
    iframe: t.field({
      type: IframeRef,
      ...nullable('Embeddable sales widget; null if there is none.'),
      resolve: (event) => (event.iframeTagUrl || event.iframeScriptUrl ? event : null),
    }),
    organization: t.field({
      type: OrganizationRef,
      ...nullable('Organizer of the event.'),
      ...viaLoader(organizationById, (event: Event) => event.organizationId),
    }),
    location: t.field({
      type: LocationRef,
      ...nullable('Venue of the event.'),
      extensions: {
        preload: (events, { loaders }) =>
          loaders.get(locationById).loadAll(events.flatMap(({ locationId }) => locationId ?? [])),
      },
      resolve: (event, _args, { loaders }) =>
        event.locationId ? loaders.get(locationById).get(event.locationId) : null,
    }),
  }),
})

builder.queryFields((t) => ({
  event: t.field({
    type: EventRef,
    nullable: true,
    extensions: { needs: { caller: 'any', scope: 'catalogue', shared: true } },
    description:
      'Finds an event by its identifier, or by its slug and organization. Null if it does not exist or is not visible to the caller.',
    args: {
      id: t.arg.id({ description: 'Event identifier. Exactly one of `id` and `slug` is required.' }),
      slug: t.arg.string({
        description:
          'Slug of the event. Of several events with it, finds the next one that has not ended, else the last one that has.',
      }),
      organizationId: t.arg.id({ description: 'Organization of the event. Required with `slug`.' }),
    },
    resolve: (_root, { id, slug, organizationId }, ctx) => {
      if (typeof id === 'string' && typeof slug !== 'string') return ctx.loaders.load(eventById, id)
      if (typeof id === 'string') throw refusal('INVALID', 'slug goes without id.', ['slug'])
      if (typeof slug !== 'string') throw refusal('REQUIRED', 'id or slug is required.', ['id'])
      if (typeof organizationId !== 'string')
        throw refusal('REQUIRED', 'organizationId is required with slug.', ['organizationId'])
      return findEventBySlug({ slug, organizationId }, ctx)
    },
  }),
}))
