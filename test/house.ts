import type { House } from '../src/context.ts'
import type { Database } from '../src/database.ts'
import { sandboxProvider } from '../src/payment/sandbox.ts'

/** What requests run on, for tests that call verbs themselves. */
export const aHouse = (db: Database): House => ({
  db,
  replica: () => db,
  provider: sandboxProvider,
  holdMinutes: 15,
  rememberedEvents: 100,
  admissionHours: 12,
  privateWebhooks: false,
  publicUrl: () => '',
})
