import { builder, NodeRef } from '../../graphql/builder.ts'
import { viaLoader } from '../../graphql/lookahead.ts'
import { requireCaller } from '../../request/context.ts'
import { LocationRef } from '../location/graphql.ts'
import { locationById } from '../location/loaders.ts'
import { OrganizationRef } from '../organization/graphql.ts'
import { organizationById } from '../organization/loaders.ts'
import { eventById } from './loaders.ts'
import type { Artist, Event } from './table.ts'

export const EventRef = builder.objectRef<Event>('Event')

const ArtistRef = builder.objectRef<Artist>('Artist').implement({
  description: 'Somebody who plays at an event.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name on the poster.' }),
    imageUrl: t.exposeString('imageUrl', { nullable: true, description: 'Address of a picture.' }),
  }),
})

const IframeRef = builder.objectRef<Event>('Iframe').implement({
  description: 'What a web page embeds to sell the event.',
  fields: (t) => ({
    tagUrl: t.exposeString('iframeTagUrl', { nullable: true, description: 'Address of the frame.' }),
    scriptUrl: t.exposeString('iframeScriptUrl', { nullable: true, description: 'Address of the script.' }),
  }),
})

EventRef.implement({
  description: 'Something that people buy tickets for.',
  interfaces: [NodeRef],
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    slug: t.exposeString('slug', { description: 'Its name as part of an address.' }),
    description: t.exposeString('description', { nullable: true, description: 'What awaits people.' }),
    age: t.exposeString('age', { nullable: true, description: 'Minimum age, as text.' }),
    outfit: t.exposeString('outfit', { nullable: true, description: 'Dress code.' }),
    ambiences: t.exposeStringList('ambiences', { description: 'Moods.' }),
    musicGenres: t.exposeStringList('musicGenres', { description: 'What is played.' }),
    artists: t.field({
      type: [ArtistRef],
      description: 'Who plays.',
      resolve: (event) => event.artists,
    }),
    displayDate: t.expose('displayDate', {
      type: 'DateTime',
      nullable: true,
      description: 'The date to print, where it differs from the start: a night that begins after midnight.',
    }),
    startDate: t.expose('startDate', { type: 'DateTime', description: 'When it starts. Sale ends then.' }),
    endDate: t.expose('endDate', { type: 'DateTime', description: 'When it ends.' }),
    organizationId: t.exposeID('organizationId', { description: 'The organization that holds it.' }),
    imageUrl: t.exposeString('imageUrl', { nullable: true, description: 'Address of its poster.' }),
    locationId: t.exposeID('locationId', { nullable: true, description: 'Where it takes place.' }),
    iframe: t.field({
      type: IframeRef,
      nullable: true,
      description: 'What a web page embeds to sell it.',
      resolve: (event) => (event.iframeTagUrl || event.iframeScriptUrl ? event : null),
    }),
    organization: t.field({
      type: OrganizationRef,
      nullable: true,
      description: 'The organization that holds it.',
      ...viaLoader(organizationById, (event: Event) => event.organizationId),
    }),
    location: t.field({
      type: LocationRef,
      nullable: true,
      description: 'Where it takes place.',
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
    extensions: { shared: true },
    description: 'One event.',
    args: { id: t.arg.id({ required: true, description: 'Its identifier.' }) },
    resolve: (_root, { id }, ctx) => requireCaller(ctx) && ctx.loaders.load(eventById, id),
  }),
}))
