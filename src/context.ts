import { type Authenticated, authenticate, type Caller, type Credentials } from './access/authenticate.ts'
import type { Scope } from './batch.ts'
import type { Database } from './database.ts'
import { Refusal } from './errors.ts'
import { eventLoaders } from './event/loaders.ts'
import { locationLoaders } from './location/loaders.ts'
import { organizationLoaders } from './organization/loaders.ts'
import { paymentLoaders } from './payment/loaders.ts'
import type { PaymentProvider } from './payment/provider.ts'
import { ticketLoaders } from './ticket/loaders.ts'
import { ticketRateLoaders } from './ticket-rate/loaders.ts'

/** What every request shares: what it runs on. */
export type House = {
  db: Database
  provider: PaymentProvider
  holdMinutes: number
  /** The address that clients and buyers reach the service at, without a slash at its end. */
  publicUrl: () => string
}

const createLoaders = (db: Database, scope: Scope) => ({
  ...organizationLoaders(db, scope),
  ...locationLoaders(db, scope),
  ...eventLoaders(db, scope),
  ...ticketRateLoaders(db, scope),
  ...paymentLoaders(db, scope),
  ...ticketLoaders(db, scope),
})

export type Loaders = ReturnType<typeof createLoaders>
export type Context = House & {
  /** Null for somebody without credentials, who sees nothing but the schema. */
  caller: Caller | null
  /** The database's clock when the request came in: the only one that a request decides by. */
  now: Date
  loaders: Loaders
}

const scopeOf = (caller: Caller | null): Scope => ({
  organizationIds: caller?.organizationIds ?? [],
  channelId: caller?.kind === 'channel' ? caller.channelId : '',
  ownOrganizationIds: caller?.kind === 'integration' ? caller.organizationIds : [],
})

// Requests that were let in together, with the same key, read together too: each row once for all of them. Kept on what
// they share, because what a WeakMap leads to outlives the collections of young garbage.
function shareLoaders(db: Database, together: Authenticated & { loaders?: Loaders }): Loaders {
  together.loaders ??= createLoaders(db, scopeOf(together.caller))
  return together.loaders
}

/** One a request, for both surfaces. Refuses: UNAUTHENTICATED, for credentials that were sent and are not good. */
export async function createContext(house: House, credentials: Credentials): Promise<Context> {
  const authenticated = await authenticate(house.db, credentials)
  if (!authenticated)
    return { ...house, caller: null, now: new Date(), loaders: createLoaders(house.db, scopeOf(null)) }
  const { caller, now } = authenticated
  return { ...house, caller, now, loaders: shareLoaders(house.db, authenticated) }
}

/** The caller, whoever it is. Refuses: UNAUTHENTICATED. */
export function requireCaller({ caller }: Context): Caller {
  if (!caller)
    throw new Refusal({ code: 'UNAUTHENTICATED', message: 'Send an API key in the header X-Api-Key.' })
  return caller
}

/** The channel that calls. Refuses: UNAUTHENTICATED, FORBIDDEN for an integration (DECISIONS 2). */
export function requireChannel(ctx: Context): Extract<Caller, { kind: 'channel' }> {
  const caller = requireCaller(ctx)
  if (caller.kind !== 'channel')
    throw new Refusal({
      code: 'FORBIDDEN',
      message: 'This is for channels; the credentials are of an integration.',
    })
  return caller
}

/** The integration that calls. Refuses: UNAUTHENTICATED, FORBIDDEN for a channel (DECISIONS 2). */
export function requireIntegration(ctx: Context): Extract<Caller, { kind: 'integration' }> {
  const caller = requireCaller(ctx)
  if (caller.kind !== 'integration')
    throw new Refusal({
      code: 'FORBIDDEN',
      message: 'This is for integrations; the credentials are of a channel.',
    })
  return caller
}
