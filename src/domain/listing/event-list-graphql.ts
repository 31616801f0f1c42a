import type { GraphQLResolveInfo } from 'graphql'
import { z } from 'zod'
import * as scalars from '../../engine/base/input-types.ts'
import { makeOnce } from '../../engine/base/make-once.ts'
import { parse } from '../../engine/base/parse.ts'
import { builder, enumOf, fieldOf, queryField } from '../../engine/graphql/builder.ts'
import { connectionOf, costOfPage, type Page, toPage } from '../../engine/graphql/connection.ts'
import { argsOf, inputOf, inputTypes } from '../../engine/graphql/input-of.ts'
import { preload } from '../../engine/graphql/lookahead.ts'
import { type Context, type Needs, requireNeeds } from '../caller/context.ts'
import { EventRef } from '../event/graphql.ts'
import type { Event } from '../event/table.ts'
import { OrganizationRef } from '../organization/graphql.ts'
import {
  circle,
  countEvents,
  type EventFilter,
  type EventOrder,
  eventFilter,
  eventOrders,
  only,
  readCursor,
  searchEvents,
  toCursor,
} from './search-events.ts'

/** Two fields share the count. */
type EventList = Page<Event> & { count: () => ReturnType<typeof countEvents> }

const { connection: EventConnectionRef } = connectionOf<Event, Event, EventList>('Event', EventRef, {
  things: 'events',
  description: 'Page of events.',
  toCursor,
})

builder.objectFields(EventConnectionRef, (t) => ({
  totalCount: t.int({
    complexity: 100,
    description:
      'Number of events that match the filter, counted up to 10000 (see `totalCountIsCapped`). The count runs only if this field is selected.',
    resolve: async (list) => (await list.count()).count,
  }),
  totalCountIsCapped: t.boolean({
    complexity: 100,
    description:
      'True if more than 10000 events match, or with `onSale` were to be looked through, so that `totalCount` is a lower bound. Pagination still reaches all of them.',
    resolve: async (list) => (await list.count()).isCapped,
  }),
}))

inputOf('NearInput', circle)

const { organizationId, locationId, search, near, city, countryCode, genre, onSale } = eventFilter.shape

const earlier = (one: Date | null | undefined, other: Date | null | undefined) =>
  one && other && one > other ? other : (one ?? other)

const filter = z
  .object({
    search,
    during: only(
      scalars.timeRange,
      'that take place at one of these times, if only in part: they start before `until` and end after `from`. Without it and `starts`, only events that have not ended',
    ),
    starts: only(scalars.timeRange, 'that start at one of these times'),
    ...{ near, city, countryCode, locationId, organizationId },
    musicGenre: genre,
    onSale,
  })
  .transform(
    ({ during, starts, musicGenre, ...given }): EventFilter => ({
      ...given,
      startDate: starts?.from,
      startsBefore: earlier(starts?.until, during?.until),
      notOverAt: during?.from,
      genre: musicGenre,
    }),
  )
  .describe('Filter of events. All of its fields must match.')
inputOf('EventFilter', filter)

const orderBy = z.enum(eventOrders).default('START_DATE_ASC').describe('Order of the events.')
inputTypes.add(orderBy, {
  type: enumOf<EventOrder>('EventOrder', 'Order of events; ties are ordered by id.', {
    START_DATE_ASC: 'By start, earliest first.',
    START_DATE_DESC: 'By start, latest first.',
  }),
})

const input = z.object({
  filter: filter.nullish().describe('Filter; all events that have not ended if omitted.'),
  orderBy,
  first: scalars.pageSize.default(50).describe('Page size, 1 to 100.'),
  after: z.string().nullish().describe('Returns events after this cursor; from the first if omitted.'),
})

const needs: Needs = { caller: 'any', scope: 'catalogue', shared: true }

// A search costs the database about as much as resolving thousands of fields.
const list = { type: EventConnectionRef, nullable: true as const, complexity: costOfPage(5_000) }

async function listEvents(args: object, ctx: Context, info: GraphQLResolveInfo, within?: string) {
  const { first, after, orderBy, filter: given } = parse(input, args)
  const filter: EventFilter = { ...given, ...(within && { within }) }
  const place = { first, after: after ? readCursor(after) : null, orderBy }
  const { found, stoppedAt } = await searchEvents(filter, place, ctx)
  const count = makeOnce(() => countEvents(filter, ctx))
  // An empty page of events has no cursor, unless the list goes on.
  const page = toPage(found, first, found.length > 0 ? after : null)
  const more = stoppedAt && { hasNextPage: true, endCursor: toCursor(stoppedAt) }
  const list: EventList = { ...page, ...more, hasPreviousPage: Boolean(after), count }
  await preload([list], info, ctx)
  return list
}

queryField('events', {
  ...list,
  needs,
  description:
    "Lists the events of the organizations that have given the channel access, or of the integration's own.",
  args: argsOf(input),
  resolve: (_root, args, ctx, info) => listEvents(args, ctx, info),
})

fieldOf(OrganizationRef, 'events', {
  ...list,
  description:
    'Events of the organization, as the query `events` lists them; none once it has withdrawn the access of the calling channel. Null for an integration without `CATALOGUE`.',
  args: argsOf(input),
  resolve(organization, args, ctx, info) {
    requireNeeds(ctx, needs)
    return listEvents(args, ctx, info, organization.id)
  },
})
