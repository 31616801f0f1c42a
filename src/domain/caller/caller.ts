import type { IntegrationScope } from './api-key.ts'
import type { Mode } from './mode.ts'

type Seller = { channelId: string; organizationIds: string[]; mode: Mode }

/** An authenticated client, and the organizations whose objects it may see, ordered by id. A live client sees
 *  and sells live tickets alone, a test client test tickets alone. `publishable` is a browser with a key of a
 *  channel: it sees the catalogue, and never a person, a code or a document. */
export type Caller =
  | ({ kind: 'channel' } & Seller)
  // With the origin of the page that sent the request, and all that the key was issued for.
  | ({ kind: 'publishable'; origin: string; origins: string[] } & Seller)
  | {
      kind: 'integration'
      integrationId: string
      organizationIds: [string]
      mode: Mode
      scopes: IntegrationScope[]
    }

type KnownCaller = Caller

declare module '../../engine/base/caller.ts' {
  interface Authenticated {
    caller: KnownCaller
  }
}
