import { access } from '../../src/domain/caller/access.ts'
import type { Services } from '../../src/domain/caller/context.ts'
import { sandboxProvider } from '../../src/domain/payment/sandbox.ts'
import { createResponseCache } from '../../src/engine/cache/response-cache.ts'
import type { Database } from '../../src/engine/database/database.ts'

/** Services of a request context, for tests that call domain functions directly. */
export const testServices = (db: Database): Services => ({
  db,
  access,
  replica: () => db,
  provider: sandboxProvider,
  holdMinutes: 15,
  publishableHeldPlaces: null,
  publishableFreeHours: 6,
  rememberedEvents: 100,
  admissionHours: 12,
  privateWebhooks: false,
  publicUrl: () => '',
  responseCache: createResponseCache(db, 0, access),
})
