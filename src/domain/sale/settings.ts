import { rateLimit } from '../../engine/config/http.ts'
import { type ConfigOf, wholeNumber } from '../../engine/config/setting-types.ts'

/** Environment variables for sales, used under their names in camel case. */
export const saleSettings = {
  HOLD_MINUTES: wholeNumber(1, 24 * 60).default(15),
  /** Hours before the start of an event from which its tickets admit. */
  ADMISSION_HOURS: wholeNumber(0, 24 * 365).default(12),
  /** Unpaid places that an address may hold with the publishable keys of a channel; null for no limit. */
  PUBLISHABLE_HELD_PLACES: rateLimit(100),
  /** Hours for which free places count among these. */
  PUBLISHABLE_FREE_HOURS: wholeNumber(0, 24 * 365).default(6),
}

type SaleConfig = ConfigOf<typeof saleSettings>

declare module '../../engine/request/context.ts' {
  interface Services extends SaleConfig {}
}
