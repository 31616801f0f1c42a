import { builder } from '../../graphql/builder.ts'
import { PageInfoRef } from '../../graphql/connection.ts'
import { preload } from '../../graphql/lookahead.ts'
import { type Context, requireChannel } from '../../request/context.ts'
import * as scalars from '../../shared/input-types.ts'
import { readCursor, toCursor } from './cursor.ts'
import { EventRef } from './graphql.ts'
import { countEvents, type EventCount, type EventFilter, eventFilter, searchEvents } from './search-events.ts'
import type { Event } from './table.ts'

type EventConnection = {
  filter: EventFilter
  nodes: Event[]
  hasNextPage: boolean
  hasPreviousPage: boolean
  /** Once it was asked for: two fields tell of it. */
  counted?: Promise<EventCount>
}

function counted(page: EventConnection, ctx: Context): Promise<EventCount> {
  page.counted ??= countEvents(page.filter, ctx)
  return page.counted
}

const EventEdgeRef = builder.objectRef<Event>('EventEdge').implement({
  description: 'An event in a list.',
  fields: (t) => ({
    cursor: t.id({ description: 'Its place in the list.', resolve: (event) => toCursor(event) ?? '' }),
    node: t.field({
      type: EventRef,
      description: 'The event.',
      extensions: { preload: (events) => events },
      resolve: (event) => event,
    }),
  }),
})

const EventConnectionRef = builder.objectRef<EventConnection>('EventConnection').implement({
  description: 'A page of events, by `startDate` and id.',
  fields: (t) => ({
    edges: t.field({
      type: [EventEdgeRef],
      complexity: { field: 1, multiplier: 1 },
      description: 'The events with their cursors.',
      extensions: { preload: (pages) => pages.flatMap(({ nodes }) => nodes) },
      resolve: ({ nodes }) => nodes,
    }),
    nodes: t.field({
      type: [EventRef],
      complexity: { field: 1, multiplier: 1 },
      description: 'The events.',
      extensions: { preload: (pages) => pages.flatMap(({ nodes }) => nodes) },
      resolve: ({ nodes }) => nodes,
    }),
    pageInfo: t.field({
      type: PageInfoRef,
      description: 'Where the page stands.',
      resolve: ({ nodes, hasNextPage, hasPreviousPage }) => ({
        hasNextPage,
        hasPreviousPage,
        startCursor: toCursor(nodes[0]),
        endCursor: toCursor(nodes.at(-1)),
      }),
    }),
    totalCount: t.int({
      complexity: 100,
      description:
        'How many events there are in all, at most 10000: see `totalCountIsCapped`. Counted only when it is asked for.',
      resolve: async (page, _args, ctx) => (await counted(page, ctx)).count,
    }),
    totalCountIsCapped: t.boolean({
      complexity: 100,
      description:
        'Whether there are more events than `totalCount` says, because no more than 10000 are counted. Pages go on all the same.',
      resolve: async (page, _args, ctx) => (await counted(page, ctx)).isCapped,
    }),
  }),
})

// Made once: a schema that is made for each request is compiled for each request.
const pageInput = eventFilter.extend({ first: scalars.pageSize })

const NearInput = builder.inputType('NearInput', {
  description: 'A circle on the globe.',
  fields: (t) => ({
    lat: t.float({ required: true, description: 'Latitude of its centre, in degrees.' }),
    lng: t.float({ required: true, description: 'Longitude of its centre, in degrees.' }),
    radius: t.float({
      required: true,
      defaultValue: 5,
      description: 'Kilometres, more than 0 and at most 500.',
    }),
  }),
})

builder.queryFields((t) => ({
  events: t.field({
    type: EventConnectionRef,
    nullable: true,
    extensions: { shared: true },
    description:
      'The events of the organizations that granted the channel, by `startDate` and id. Without a date only those that have not ended. Null together with an error, so that the other fields of a query keep their values.',
    // The database does for a search what the rest of the house does for thousands of fields. A `first` that is out of
    // its limits is refused for that, and not for what it would cost.
    complexity: ({ first }) => ({ field: 5_000, multiplier: Math.min(100, Math.max(1, first)) }),
    args: {
      organizationId: t.arg.id({ description: 'Only of this organization.' }),
      locationId: t.arg.id({ description: 'Only at this location.' }),
      startDate: t.arg({ type: 'DateTime', description: 'Only those that start at or after it.' }),
      endDate: t.arg({ type: 'DateTime', description: 'Only those that end at or before it.' }),
      search: t.arg.string({
        description: 'Each word must begin a word of the name; case and accents do not count.',
      }),
      near: t.arg({ type: NearInput, description: 'Only those in this circle.' }),
      first: t.arg.int({ required: true, defaultValue: 50, description: 'How many, 1 to 100.' }),
      after: t.arg.id({ description: 'Behind the event with this cursor.' }),
    },
    resolve: async (_root, { after, ...given }, ctx, info) => {
      requireChannel(ctx)
      const { first, ...filter } = scalars.parse(pageInput, given)
      const found = await searchEvents(filter, { first, after: after ? readCursor(after) : null }, ctx)
      const page: EventConnection = {
        filter,
        nodes: found.slice(0, first),
        hasNextPage: found.length > first,
        hasPreviousPage: Boolean(after),
      }
      await preload([page], info, ctx)
      return page
    },
  }),
}))
