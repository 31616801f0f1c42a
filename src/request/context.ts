import { type Authenticated, areWellFormed, authenticate, type Caller } from '../auth/authenticate.ts'
import { readKey } from '../auth/key.ts'
import type { Credentials } from '../auth/known-credentials.ts'
import { isIdentifier, type Scope } from '../data/prepared.ts'
import { wasJustInvalidated } from '../database/catalogue-version.ts'
import { type Database, isUnavailable } from '../database/database.ts'
import type { PaymentProvider } from '../domain/payment/provider.ts'
import type { Terms } from '../domain/sale/checkout/terms-loaders.ts'
import { findTicket, toSeen } from '../domain/ticket/loaders.ts'
import type { LookupTicket } from '../domain/ticket/table.ts'
import { Refusal } from '../shared/errors.ts'
import { createLoaders, type Loaders } from './loaders.ts'
import { type AtTheDoor, readTermsAtTheDoor, readTicketAtTheDoor } from './prefetch.ts'

export type { Loaders }

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

// What requests share that were let in together, with the same key: they read together too, each row once for all of
// them. Kept on this object, because what a WeakMap leads to outlives the collections of young garbage.
type Together = { caller: Caller | null; now: Date; loaders?: Loaders }

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
  /** The outcome of looking up the rate that the request seems to check out, whoever may see it: for `readTerms`, which
   *  takes it. Null where nobody has looked. */
  terms: { ticketRateId: string; found: Terms | null } | null
  /** Whether it is known that the operation is not too complex, whatever its variables. */
  isMeasured?: boolean
}

const scopeOf = (caller: Caller | null): Scope => ({
  organizationIds: caller?.organizationIds ?? [],
  channelId: caller?.kind === 'channel' ? caller.channelId : '',
  ownOrganizationIds: caller?.kind === 'integration' ? caller.organizationIds : [],
})

function contextOf(services: Services, authenticated: Authenticated | null): Context {
  const { db } = services
  const together: Together = authenticated ?? { caller: null, now: new Date() }
  const { caller, now } = together
  together.loaders ??= createLoaders(services, db, scopeOf(caller))
  return { services, db, caller, now, catalogue: db, loaders: together.loaders, terms: null }
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

// Who calls by a key is let in with what is read at the door. Where that can't be read, who calls is looked up alone,
// so that it is told what it would be told anyway.
async function letIn<Row>(services: Services, credentials: Credentials, reading: Promise<AtTheDoor<Row>>) {
  const read = await reading.catch((error: unknown) => {
    if (isUnavailable(error)) throw error
    return null
  })
  const authenticated = await authenticate(services.db, credentials, read ? async () => read.key : undefined)
  return { ctx: contextOf(services, authenticated), read }
}

/** The same for a request that asks for a ticket: it is read while its sender is let in, because one after the other
 *  takes twice as long. Whoever is not let in learns nothing of it. */
export async function createLookupContext(
  services: Services,
  credentials: Credentials,
  ticketId: string,
): Promise<Context> {
  const { db } = services
  const show = (ctx: Context, ticket: LookupTicket | null): Context => {
    ctx.loaders.ticketById.prime(ticketId, toSeen(ticket, scopeOf(ctx.caller)))
    return ctx
  }
  const key = isIdentifier(ticketId) ? readKey(credentials.apiKey ?? '') : null
  if (key) {
    const { ctx, read } = await letIn(services, credentials, readTicketAtTheDoor(db, key.id, ticketId))
    return read ? show(ctx, read.asked) : ctx
  }
  const reading = areWellFormed(credentials) ? findTicket(db, ticketId) : null
  // Whoever is not let in is told so, whatever became of it.
  reading?.catch(() => {})
  const ctx = await createContext(services, credentials)
  return reading ? show(ctx, await reading) : ctx
}

/** The same for a request that seems to check out a rate, whose terms are read in the same way. */
export async function createCheckoutContext(
  services: Services,
  credentials: Credentials,
  ticketRateId: string | null,
): Promise<Context> {
  const key = ticketRateId !== null && isIdentifier(ticketRateId) ? readKey(credentials.apiKey ?? '') : null
  if (!key || ticketRateId === null) return createContext(services, credentials)
  const { ctx, read } = await letIn(
    services,
    credentials,
    readTermsAtTheDoor(services.db, key.id, ticketRateId),
  )
  if (read) ctx.terms = { ticketRateId, found: read.asked }
  return ctx
}

/** The same request, for what reads nothing but the catalogue: from a replica, where there is one that knows what this
 *  process has just changed, because only who buys or looks up what was bought needs what is true now. To be called
 *  when the read begins: it has loaders of its own, which die with it. What has waited is garbage of the old
 *  generation, and would keep all that it led to until that is collected. */
export function catalogueContext({ services, caller, now }: Context): Context {
  const { db, replica } = services
  const catalogue = wasJustInvalidated(db) ? db : replica()
  const loaders = createLoaders(services, catalogue, scopeOf(caller))
  return { services, db, caller, now, catalogue, loaders, terms: null }
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
