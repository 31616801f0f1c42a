import { type Authenticated, authenticate, type Caller } from '../auth/authenticate.ts'
import type { Credentials } from '../auth/known-credentials.ts'
import type { Scope } from '../data/prepared.ts'
import { wasJustInvalidated } from '../database/catalogue-version.ts'
import type { Database } from '../database/database.ts'
import type { PaymentProvider } from '../domain/payment/provider.ts'
import { Refusal } from '../shared/errors.ts'
import { Loaders } from './loaders.ts'

/** What every request shares: what it runs on. */
export type Services = {
  db: Database
  /** Where the catalogue may be read a moment late: a replica, or `db` where none answers. */
  replica: () => Database
  provider: PaymentProvider
  holdMinutes: number
  /** How many events' rows are remembered by their revisions. */
  rememberedEvents: number
  /** How long before an event its doors open. */
  admissionHours: number
  /** Whether webhooks may lead to private addresses, and over plain HTTP. */
  privateWebhooks: boolean
  /** The address that clients and buyers reach the service at, without a slash at its end. */
  publicUrl: () => string
}

export type Context = {
  services: Services
  /** The house's, where all but the catalogue is read. */
  db: Database
  /** Null for somebody without credentials, who sees nothing but the schema. */
  caller: Caller | null
  /** The database's clock when the request came in: the only one that a request decides by. */
  now: Date
  /** Where the catalogue is read. */
  catalogue: Database
  loaders: Loaders
  /** Whether it is known that the operation is not too complex, whatever its variables. */
  isMeasured?: boolean
}

const scopeOf = (caller: Caller | null): Scope => ({
  organizationIds: caller?.organizationIds ?? [],
  channelId: caller?.kind === 'channel' ? caller.channelId : '',
  ownOrganizationIds: caller?.kind === 'integration' ? caller.organizationIds : [],
})

/** Makes the context of a request from whoever was authenticated; null for no credentials. */
export function contextOf(services: Services, authenticated: Authenticated | null): Context {
  const { db } = services
  const { caller, now } = authenticated ?? { caller: null, now: new Date() }
  const loaders = new Loaders(services, db, scopeOf(caller))
  return { services, db, caller, now, catalogue: db, loaders }
}

/** One a request, for both surfaces. `onLetIn` is told who was let in, and for how long that may be remembered.
 *  Refuses: UNAUTHENTICATED, for credentials that were sent and are not good. */
export async function createContext(
  services: Services,
  credentials: Credentials,
  onAuthenticated: (authenticated: Authenticated) => void = () => {},
): Promise<Context> {
  const authenticated = await authenticate(services.db, credentials)
  if (authenticated) onAuthenticated(authenticated)
  return contextOf(services, authenticated)
}

/** The same request, for what reads nothing but the catalogue: from a replica, where there is one that knows what this
 *  process has just changed, because only who buys or looks up what was bought needs what is true now. To be called
 *  when the read begins: it has loaders of its own, which die with it. What has waited is garbage of the old
 *  generation, and would keep all that it led to until that is collected. */
export function catalogueContext({ services, caller, now }: Context): Context {
  const { db, replica } = services
  const catalogue = wasJustInvalidated(db) ? db : replica()
  const loaders = new Loaders(services, catalogue, scopeOf(caller))
  return { services, db, caller, now, catalogue, loaders }
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
