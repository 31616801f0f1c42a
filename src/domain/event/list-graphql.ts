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
  /** Cached on first use, because two fields share it. */
  counted?: Promise<EventCount>
}

function countOnce(page: EventConnection, ctx: Context): Promise<EventCount> {
  page.counted ??= countEvents(page.filter, ctx)
  return page.counted
}

const EventEdgeRef = builder.objectRef<Event>('EventEdge').implement({
  description: 'Event and its cursor in a list.',
  fields: (t) => ({
    cursor: t.id({
      description: 'Cursor of this edge, for `after`.',
      resolve: (event) => toCursor(event) ?? '',
    }),
    node: t.field({
      type: EventRef,
      description: 'Event at this edge.',
      extensions: { preload: (events) => events },
      resolve: (event) => event,
    }),
  }),
})

const EventConnectionRef = builder.objectRef<EventConnection>('EventConnection').implement({
  description: 'Page of events, ordered by `startDate` and then by id.',
  fields: (t) => ({
    edges: t.field({
      type: [EventEdgeRef],
      complexity: { field: 1, multiplier: 1 },
      description: 'Events with their cursors.',
      extensions: { preload: (pages) => pages.flatMap(({ nodes }) => nodes) },
      resolve: ({ nodes }) => nodes,
    }),
    nodes: t.field({
      type: [EventRef],
      complexity: { field: 1, multiplier: 1 },
      description: 'Events without cursors.',
      extensions: { preload: (pages) => pages.flatMap(({ nodes }) => nodes) },
      resolve: ({ nodes }) => nodes,
    }),
    pageInfo: t.field({
      type: PageInfoRef,
      description: 'Cursors of the page, and whether more pages follow.',
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
        'Number of events that match the filter, counted up to 10000 (see `totalCountIsCapped`). The count runs only if this field is selected.',
      resolve: async (page, _args, ctx) => (await countOnce(page, ctx)).count,
    }),
    totalCountIsCapped: t.boolean({
      complexity: 100,
      description:
        'True if more than 10000 events match, so that `totalCount` is a lower bound. Pagination still reaches all of them.',
      resolve: async (page, _args, ctx) => (await countOnce(page, ctx)).isCapped,
    }),
  }),
})

// Built once, because zod compiles each new schema.
const pageInput = eventFilter.extend({ first: scalars.pageSize })

const NearInput = builder.inputType('NearInput', {
  description: 'Circle around a point, measured along the great circle.',
  fields: (t) => ({
    lat: t.float({ required: true, description: 'Latitude of the centre, in degrees.' }),
    lng: t.float({ required: true, description: 'Longitude of the centre, in degrees.' }),
    radius: t.float({
      required: true,
      defaultValue: 5,
      description: 'Radius in kilometres, more than 0 and at most 500.',
    }),
  }),
})

builder.queryFields((t) => ({
  events: t.field({
    type: EventConnectionRef,
    nullable: true,
    extensions: { shared: true },
    description:
      'Lists the events of the organizations that have given the channel access, ordered by `startDate` and then by id. Channels only. Without `startDate` and `endDate`, lists only events that have not ended. Null if the field fails, so that an error here leaves the rest of the query intact.',
    // A search costs the database about as much as resolving thousands of fields. `first` is clamped here so
    // that a value out of range is refused as invalid, and not as too complex.
    complexity: ({ first }) => ({ field: 5_000, multiplier: Math.min(100, Math.max(1, first)) }),
    args: {
      organizationId: t.arg.id({ description: 'Returns only events of this organization.' }),
      locationId: t.arg.id({ description: 'Returns only events at this location.' }),
      startDate: t.arg({
        type: 'DateTime',
        description: 'Returns only events that start at or after this time.',
      }),
      endDate: t.arg({
        type: 'DateTime',
        description: 'Returns only events that end at or before this time.',
      }),
      search: t.arg.string({
        description:
          'Returns only events whose name has, for each word of the search, a word that starts with it. Ignores case and accents.',
      }),
      near: t.arg({ type: NearInput, description: 'Returns only events at locations within this circle.' }),
      first: t.arg.int({ required: true, defaultValue: 50, description: 'Page size, 1 to 100.' }),
      after: t.arg.id({ description: 'Returns events after this cursor; from the first if omitted.' }),
    },
    resolve: async (_root, { after, ...args }, ctx, info) => {
      requireChannel(ctx)
      const { first, ...filter } = scalars.parse(pageInput, args)
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
