import { authenticate, type Caller, type Credentials } from './access/authenticate.ts'
import type { Scope } from './batch.ts'
import { wasJustTouched } from './catalogue-version.ts'
import type { Database } from './database.ts'
import { Refusal } from './errors.ts'
import { eventLoaders } from './event/loaders.ts'
import { locationLoaders } from './location/loaders.ts'
import { organizationLoaders } from './organization/loaders.ts'
import { paymentLoaders } from './payment/loaders.ts'
import type { PaymentProvider } from './payment/provider.ts'
import { refundLoaders } from './refund/loaders.ts'
import { ticketLoaders } from './ticket/loaders.ts'
import { ticketRateLoaders } from './ticket-rate/loaders.ts'

/** What every request shares: what it runs on. */
export type House = {
  db: Database
  /** Where the catalogue may be read a moment late: a replica, or `db` where none answers. */
  replica: () => Database
  provider: PaymentProvider
  holdMinutes: number
  /** The address that clients and buyers reach the service at, without a slash at its end. */
  publicUrl: () => string
}

const createLoaders = (db: Database, catalogue: Database, scope: Scope) => ({
  ...organizationLoaders(catalogue, scope),
  ...locationLoaders(catalogue, scope),
  ...eventLoaders(catalogue, scope),
  ...ticketRateLoaders(catalogue, scope),
  ...paymentLoaders(db, scope),
  ...ticketLoaders(db, scope),
  ...refundLoaders(db, scope),
})

export type Loaders = ReturnType<typeof createLoaders>

// What requests share that were let in together, with the same key: they read together too, each row once for all of
// them. Kept on this object, because what a WeakMap leads to outlives the collections of young garbage.
type Together = { caller: Caller | null; now: Date; loaders?: Loaders }

export type Context = House & {
  /** Null for somebody without credentials, who sees nothing but the schema. */
  caller: Caller | null
  /** The database's clock when the request came in: the only one that a request decides by. */
  now: Date
  /** Where the catalogue is read. */
  catalogue: Database
  loaders: Loaders
}

const scopeOf = (caller: Caller | null): Scope => ({
  organizationIds: caller?.organizationIds ?? [],
  channelId: caller?.kind === 'channel' ? caller.channelId : '',
  ownOrganizationIds: caller?.kind === 'integration' ? caller.organizationIds : [],
})

/** One a request, for both surfaces. Refuses: UNAUTHENTICATED, for credentials that were sent and are not good. */
export async function createContext(house: House, credentials: Credentials): Promise<Context> {
  const { db } = house
  const together: Together = (await authenticate(db, credentials)) ?? { caller: null, now: new Date() }
  const { caller, now } = together
  return {
    ...house,
    caller,
    now,
    catalogue: db,
    get loaders() {
      together.loaders ??= createLoaders(db, db, scopeOf(caller))
      return together.loaders
    },
  }
}

/** The same request, for what reads nothing but the catalogue: from a replica, where there is one that knows what this
 *  process has just changed, because only who buys or looks up what was bought needs what is true now. To be called when
 *  the read begins: it has loaders of its own, which die with it. What has waited is garbage of the old generation, and
 *  would keep all that it led to until that is collected. */
export function browse({ db, replica, provider, holdMinutes, publicUrl, caller, now }: Context): Context {
  // Its parts are named one by one: spread, it would make the loaders that this is not to have.
  const catalogue = wasJustTouched(db) ? db : replica()
  const loaders = createLoaders(db, catalogue, scopeOf(caller))
  return { db, replica, provider, holdMinutes, publicUrl, caller, now, catalogue, loaders }
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
