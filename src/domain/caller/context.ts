import type { Authenticated, Needs, Reach } from '../../engine/base/caller.ts'
import { unauthenticated } from '../../engine/base/errors.ts'
import type { Loader } from '../../engine/data/loader.ts'
import { ownedBy } from '../../engine/database/database.ts'
import type { Context, Services } from '../../engine/request/context.ts'
import { type LoaderDefinition, Loaders } from '../../engine/request/loaders.ts'
import { refusal } from '../contract/problem-codes.ts'
import type { IntegrationScope } from './api-key.ts'
import type { Caller } from './caller.ts'
import { type Mode, nameInMode } from './mode.ts'

export type { Context, Needs, Services }

declare module '../../engine/request/context.ts' {
  interface Services {
    /** True if webhooks may go to private addresses and over plain HTTP. */
    privateWebhooks: boolean
  }
  interface Context {
    /** Address of a client with a publishable key; else ''. */
    address: string
    /** Mode of everything that the request sees and sells. */
    mode: Mode
  }
}

declare module '../../engine/base/caller.ts' {
  interface Reach {
    /** Organizations whose catalogue the caller sees. */
    organizationIds: string[]
    /** Channel whose own payments and tickets the caller reads; '' if the caller is no channel. */
    channelId: string
    /** Mode of the payments and tickets that the caller reads, and of the counters that it sees. */
    mode: Mode
  }
  interface Needs {
    /** Kind of caller that it is for. */
    caller: keyof typeof kindsOf
    /** Scope that the key of an integration needs. `none` is for what channels alone do, or what shows nothing of a
     *  sale or a catalogue. */
    scope: IntegrationScope | 'none'
  }
}

const modeOf = (caller: Caller | null): Mode => caller?.mode ?? 'live'

/** Builds the parameters that limit statements to what a caller may see. */
export const reachOf = (caller: Caller | null): Reach => ({
  organizationIds: caller?.organizationIds ?? [],
  channelId: caller?.kind === 'channel' ? caller.channelId : '',
  ownOrganizationIds: caller?.kind === 'integration' ? caller.organizationIds : [],
  mode: modeOf(caller),
})

// Owner of a request, who takes turns with the others: an organization in a mode, as in all queues; a channel in a
// mode; and a person on a channel's pages.
function ownerNameOf(caller: Caller, address: string): string {
  const [organizationId = ''] = caller.organizationIds
  if (caller.kind === 'integration') return nameInMode(caller, organizationId)
  return nameInMode(
    caller,
    caller.kind === 'publishable' ? `${caller.channelId} ${address}` : caller.channelId,
  )
}

/** Creates the context for an authenticated caller; for null, that of a client without credentials. */
export function contextOf(services: Services, authenticated: Authenticated | null, address = ''): Context {
  const { caller, now } = authenticated ?? { caller: null, now: new Date() }
  const db = caller ? ownedBy(services.db, ownerNameOf(caller, address)) : services.db
  const loaders = new Loaders({ db, rememberedEvents: services.rememberedEvents }, db, reachOf(caller))
  return { services, db, caller, address, mode: modeOf(caller), now, shared: db, loaders, refusals: [] }
}

/** Kinds of callers that an operation may be for, by its need. */
export const kindsOf = {
  any: ['channel', 'publishable', 'integration'],
  confidential: ['channel', 'integration'],
  selling: ['channel', 'publishable'],
  channel: ['channel'],
  integration: ['integration'],
} as const

const forbidden = (message: string) => refusal('FORBIDDEN', message)

// Messages of refusals, by the kind of the caller, for operations that are not for that kind.
const refusedAs: Record<Caller['kind'], string> = {
  channel: 'This is for integrations; the credentials are of a channel.',
  publishable: 'A publishable key may not do this.',
  integration: 'This is for channels; the credentials are of an integration.',
}

const requireKind =
  <Kind extends Caller['kind']>(kinds: readonly Kind[]) =>
  ({ caller }: Context): Extract<Caller, { kind: Kind }> => {
    if (!caller) throw unauthenticated()
    if (!kinds.some((kind) => kind === caller.kind)) throw forbidden(refusedAs[caller.kind])
    return caller as Extract<Caller, { kind: Kind }>
  }

/** Returns the caller, of any kind. Refuses: UNAUTHENTICATED. */
export const requireCaller = requireKind(kindsOf.any)

/** Returns the caller, if its credentials are confidential: a channel's or an integration's. Refuses:
 *  UNAUTHENTICATED, FORBIDDEN for a publishable key (DECISIONS, keys). */
export const requireConfidential = requireKind(kindsOf.confidential)

/** Returns the calling channel, or the browser that calls for it with a publishable key. Refuses:
 *  UNAUTHENTICATED, FORBIDDEN for an integration (DECISIONS, access; DECISIONS, keys). */
export const requireSelling = requireKind(kindsOf.selling)

/** Returns the calling channel. Refuses: UNAUTHENTICATED, FORBIDDEN for an integration (DECISIONS, access) or a
 *  publishable key. */
export const requireChannel = requireKind(kindsOf.channel)

/** Returns the calling integration. Refuses: UNAUTHENTICATED, FORBIDDEN for a channel (DECISIONS, access) or a
 *  publishable key. */
export const requireIntegration = requireKind(kindsOf.integration)

/** Reports whether the caller is a page with a publishable key, which anybody may have. */
export const isPublic = ({ caller }: Context): boolean => caller?.kind === 'publishable'

/** Reports whether the caller has a scope: every caller but an integration whose key lacks it. */
export const hasScope = ({ caller }: Context, scope: Needs['scope']): boolean =>
  caller?.kind !== 'integration' || scope === 'none' || caller.scopes.includes(scope)

/** Reports whether the caller is an integration whose key has one of some scopes. */
export const isIntegrationWith = (ctx: Context, ...oneOf: IntegrationScope[]): boolean =>
  ctx.caller?.kind === 'integration' && oneOf.some((scope) => hasScope(ctx, scope))

/** Refuses a caller of another kind (UNAUTHENTICATED, FORBIDDEN), and then an integration whose key lacks the scope
 *  (FORBIDDEN). */
export function requireNeeds(ctx: Context, { caller, scope }: Needs): void {
  requireKind<Caller['kind']>(kindsOf[caller])(ctx)
  if (!hasScope(ctx, scope)) throw forbidden(`The key lacks the scope ${scope}.`)
}

/** Reports whether the caller reaches an organization: its own, or one that has given it access. */
export const reaches = ({ caller }: Context, organizationId: string): boolean =>
  caller?.organizationIds.includes(organizationId) === true

/** Loads a row of the catalogue that the caller named; null if it is of an organization that the caller doesn't reach.
 *  Edges load without this: whoever sees a ticket sees its event, also after the organization has withdrawn its
 *  grant. */
export async function loadNamed<Row extends { organizationId: string }>(
  ctx: Context,
  definition: LoaderDefinition<Loader<Row | null>>,
  id: string,
): Promise<Row | null> {
  const row = await ctx.loaders.load(definition, id)
  return row && reaches(ctx, row.organizationId) ? row : null
}
