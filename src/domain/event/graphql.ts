import { z } from 'zod'
import * as scalars from '../../engine/base/input-types.ts'
import { parse } from '../../engine/base/parse.ts'
import {
  builder,
  enumOf,
  NodeRef,
  nullable,
  nullableTime,
  queryField,
  time,
} from '../../engine/graphql/builder.ts'
import { argsOf, inputOf } from '../../engine/graphql/input-of.ts'
import { viaId, viaLoader } from '../../engine/graphql/lookahead.ts'
import { loadNamed } from '../caller/context.ts'
import { LocationRef } from '../location/graphql.ts'
import { locationById } from '../location/loaders.ts'
import { OrganizationRef } from '../organization/graphql.ts'
import { organizationById } from '../organization/loaders.ts'
import { eventById, findEventBySlug } from './loaders.ts'
import { minimumAge } from './minimum-age.ts'
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

const EventStatusRef = enumOf(
  'EventStatus',
  'State of an event as a whole. Values may be added: treat an unknown one as not on sale.',
  {
    DRAFT: 'Reserved for an event that is not public yet.',
    PUBLISHED:
      'Public, and not over. It tells nothing of the sale: the `status` of each of its ticket rates says whether that is on sale now.',
    PAUSED: 'Reserved for an event whose sale the organization has paused.',
    ENDED: 'Over.',
    CALLED_OFF: 'Reserved for an event that does not take place.',
  },
)

const organizationOf = ({ organizationId }: Event) => organizationId

EventRef.implement({
  description: 'Event that tickets are sold for. What the organizer has not told is null.',
  interfaces: [NodeRef],
  extensions: { node: { scope: 'catalogue', load: eventById, organizationOf } },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Display name.' }),
    slug: t.exposeString('slug', { description: 'URL-friendly name.' }),
    status: t.field({
      type: EventStatusRef,
      description: 'Current status.',
      resolve: ({ endDate }, _args, { now }) => (endDate > now ? 'PUBLISHED' : 'ENDED'),
    }),
    description: t.exposeString('description', nullable('Description for the public.')),
    minimumAge: t.int({ ...nullable('Minimum age in years; null for any age.'), resolve: minimumAge }),
    outfit: t.exposeString('outfit', nullable('Dress code.')),
    ambiences: t.exposeStringList('ambiences', { description: 'Moods, such as `dancing` or `open air`.' }),
    musicGenres: t.exposeStringList('musicGenres', { description: 'Music genres.' }),
    artists: t.expose('artists', { type: [ArtistRef], description: 'Performers.' }),
    displayDate: t.expose(
      'displayDate',
      nullableTime(
        'Date to display if it is not that of the start, such as the evening before for a night that begins after midnight; else null.',
      ),
    ),
    startDate: t.expose('startDate', time('Start of the event, and end of its ticket sale.')),
    endDate: t.expose('endDate', time('End of the event.')),
    imageUrl: t.exposeString('imageUrl', nullable('URL of the poster.')),
    iframe: t.field({
      type: IframeRef,
      ...nullable('Embeddable sales widget; null if there is none.'),
      resolve: (event) => (event.iframeTagUrl || event.iframeScriptUrl ? event : null),
    }),
    organization: t.field({
      type: OrganizationRef,
      description: 'Organizer of the event.',
      ...viaId(organizationById, organizationOf),
    }),
    location: t.field({
      type: LocationRef,
      ...nullable('Venue of the event; null if it has none.'),
      ...viaLoader(locationById, ({ locationId }: Event) => locationId),
    }),
  }),
})

const eventSlug = z
  .object({
    organizationSlug: scalars.slug.describe('Slug of the organizer.'),
    slug: scalars.slug.describe('Slug of the event.'),
  })
  .describe(
    'Slugs of an event and its organizer. Of several such events, it is the next one that has not ended, else the last one that has.',
  )
inputOf('EventSlug', eventSlug)

const eventBy = z
  .object({
    id: scalars.id.nullish().describe('Event identifier.'),
    slug: eventSlug.nullish().describe('Slugs of the organizer and of the event.'),
  })
  .describe('Identifier or slugs of an event.')
const eventArgs = z.object({ by: eventBy.describe('Its identifier or slugs.') })
inputOf('EventBy', eventBy, { isOneOf: true })

queryField('event', {
  type: EventRef,
  description: 'Finds an event. Null if it does not exist or the caller does not see it.',
  needs: { caller: 'any', scope: 'catalogue', shared: true },
  args: argsOf(eventArgs),
  resolve(_root, args, ctx) {
    const { id, slug } = parse(eventArgs, args).by
    return slug ? findEventBySlug(slug, ctx) : loadNamed(ctx, eventById, id ?? '')
  },
})
