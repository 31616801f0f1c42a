import { decimalsOf, toMajor } from '../../engine/base/money.ts'
import { type Language, perLanguage } from './languages.ts'

// Europe's forms of dates and numbers. Intl takes those of Spain, France, … for the other languages.
const european: Partial<Record<Language, string>> = { en: 'en-GB', pt: 'pt-PT' }
const localeOf = (language: Language) => european[language] ?? language

const amountFormat = perLanguage(
  (language, currency: string) =>
    // English without a country, where $ and ¥ are enough.
    new Intl.NumberFormat(language === 'en' ? 'en' : localeOf(language), {
      style: 'currency',
      currency,
      minimumFractionDigits: decimalsOf(currency),
      maximumFractionDigits: decimalsOf(currency),
    }),
)
const dayFormat = perLanguage(
  (language, timeZone: string) =>
    new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'full', timeZone }),
)
const clock = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const
const timeFormat = perLanguage(
  (language, timeZone: string) => new Intl.DateTimeFormat(localeOf(language), { ...clock, timeZone }),
)
const listFormat = perLanguage((language) => new Intl.ListFormat(localeOf(language), { type: 'conjunction' }))

/** Formats an amount in minor units for people: €10.50, 10,50 €, ¥1,050. */
export const formatAmount = (language: Language, minor: number, currency: string): string =>
  amountFormat(language, currency).format(toMajor(minor, currency))

/** Formats a day with its weekday, such as Sunday, 12 July 2099, or the first and last of several. */
export const formatDay = (language: Language, date: Date, timeZone: string, last = date): string =>
  dayFormat(language, timeZone).formatRange(date, last < date ? date : last)

/** Formats a time with its time zone, such as 00:30 CEST, or the city of one that has no name in a language:
 *  00:30 (New York). */
export function formatTime(language: Language, date: Date, timeZone: string): string {
  const city = timeZone.split('/').at(-1)?.replaceAll('_', ' ')
  const isCity = /\//.test(timeZone) && !timeZone.startsWith('Etc/')
  return timeFormat(language, timeZone)
    .formatToParts(date)
    .map(({ type, value }) =>
      type === 'timeZoneName' && isCity && /^(GMT|UTC)[+−-]/.test(value) ? `(${city})` : value,
    )
    .join('')
}

/** Joins texts to a list, such as a, b and c. */
export const formatList = (language: Language, texts: string[]): string => listFormat(language).format(texts)
