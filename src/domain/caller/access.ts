import type { FastifyRequest, FastifySchema } from 'fastify'
import type { Access } from '../../engine/request/context.ts'
import { authenticate } from './authenticate.ts'
import type { Caller } from './caller.ts'
import { contextOf, kindsOf, requireNeeds } from './context.ts'
import { isListedValid } from './credentials.ts'

declare module '../../engine/http/request-log.ts' {
  interface LoggedFacts {
    channel?: string
    integration?: string
  }
}

// Adds the channel or the integration that sent a request to its log line.
function logCaller({ logged }: FastifyRequest, caller: Caller | null): void {
  if (!logged || !caller) return
  if ('channelId' in caller) logged.channel = caller.channelId
  else logged.integration = caller.integrationId
}

// A caller's view of the catalogue: its kind, its mode, its organizations in order, and the origin of its page or the
// scopes of its key.
const viewOf = (caller: Caller): string =>
  [
    ...[caller.kind, caller.mode, ...caller.organizationIds],
    // Last, because no identifier contains a slash, as every origin does.
    ...(caller.kind === 'publishable' ? [caller.origin] : []),
    // An integration has one organization, which comes before these.
    ...(caller.kind === 'integration' ? caller.scopes.toSorted() : []),
  ].join(' ')

// Credentials of each kind of caller, as OpenAPI names them.
type Security = NonNullable<FastifySchema['security']>
const security: Record<Caller['kind'], Security> = {
  channel: [{ channelKey: [] }],
  publishable: [],
  integration: [{ integrationKey: [] }, { integrationId: [], secret: [] }],
}

/** Callers of this product, as the engine asks for them. */
export const access: Access = {
  authenticate,
  contextOf,
  require: requireNeeds,
  viewOf,
  isListed: isListedValid,
  log: logCaller,
  securityOf: ({ caller }) => kindsOf[caller].flatMap((kind) => security[kind]),
}
