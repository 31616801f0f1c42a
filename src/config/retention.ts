import { z } from 'zod'
import { wholeNumber } from './setting-types.ts'

// How long something is kept; null for ever.
const keptFor = (max: number, byDefault: number) =>
  z
    .union([z.literal('off'), wholeNumber(1, max)], `must be a whole number from 1 to ${max}, or off`)
    .default(byDefault)
    .transform((count) => (count === 'off' ? null : count))

/** Environment variables for how long data is kept, used under their names in camel case (DECISIONS 160). */
export const retentionSettings = {
  /** Days after which a checkout that was never paid is deleted. */
  RETAIN_UNPAID_DAYS: keptFor(3650, 30),
  /** Months after the end of an event at which its attendees are anonymized. */
  RETAIN_PERSONAL_MONTHS: keptFor(600, 24),
  /** Days after which deliveries to webhooks that are done with are deleted. */
  RETAIN_WEBHOOK_DAYS: keptFor(3650, 30),
  /** Days for which a provider's events are known by their identifiers. */
  RETAIN_PROVIDER_EVENT_DAYS: keptFor(3650, 90),
  /** Days after which a mail that was written to a folder is deleted. */
  RETAIN_MAIL_DAYS: keptFor(3650, 30),
}

/** How long data is kept, in days or months; null for ever. */
export type RetentionConfig = {
  [Name in
    | 'retainUnpaidDays'
    | 'retainPersonalMonths'
    | 'retainWebhookDays'
    | 'retainProviderEventDays'
    | 'retainMailDays']: number | null
}
