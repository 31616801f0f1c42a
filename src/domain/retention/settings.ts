import { type ConfigOf, countOrOff } from '../../engine/config/setting-types.ts'

// Retention time of something; null for ever.
const keptFor = (max: number, byDefault: number) =>
  countOrOff(max, byDefault, `must be a whole number from 1 to ${max}, or off`)

/** Environment variables for how long data is kept, used under their names in camel case (DECISIONS 169). */
export const retentionSettings = {
  /** Days after which a checkout that was never paid is deleted. */
  RETAIN_UNPAID_DAYS: keptFor(3650, 30),
  /** Months after the end of an event at which its attendees are anonymized. */
  RETAIN_PERSONAL_MONTHS: keptFor(600, 24),
  /** Days for which deliveries to webhooks are kept. */
  RETAIN_WEBHOOK_DAYS: keptFor(3650, 30),
  /** Days for which a provider's events are known by their identifiers. */
  RETAIN_PROVIDER_EVENT_DAYS: keptFor(3650, 90),
  /** Months for which the feed has its changes. */
  RETAIN_CHANGE_MONTHS: keptFor(600, 12),
  /** Months for which scans at the door are kept, and their keys known. */
  RETAIN_CHECK_IN_MONTHS: keptFor(600, 24),
  /** Days after which a mail that was written to a folder is deleted. */
  RETAIN_MAIL_DAYS: keptFor(3650, 30),
}

/** Retention times, in days or months; null for ever. */
export type RetentionConfig = ConfigOf<typeof retentionSettings>
