import { decimalsOf, toMajor } from '../shared/money.ts'
import { type Language, perLanguage } from './languages.ts'

// Europe's forms of dates and numbers. Amounts in English are without a country, where $ and ¥ are enough.
const locales: Record<Language, { dates: string; amounts: string }> = {
  en: { dates: 'en-GB', amounts: 'en' },
  es: { dates: 'es-ES', amounts: 'es-ES' },
  ca: { dates: 'ca-ES', amounts: 'ca-ES' },
  fr: { dates: 'fr-FR', amounts: 'fr-FR' },
  de: { dates: 'de-DE', amounts: 'de-DE' },
  it: { dates: 'it-IT', amounts: 'it-IT' },
  pt: { dates: 'pt-PT', amounts: 'pt-PT' },
}

const amountFormat = perLanguage(
  (language, currency: string) =>
    new Intl.NumberFormat(locales[language].amounts, {
      style: 'currency',
      currency,
      minimumFractionDigits: decimalsOf(currency),
      maximumFractionDigits: decimalsOf(currency),
    }),
)
const dayFormat = perLanguage(
  (language, timeZone: string) =>
    new Intl.DateTimeFormat(locales[language].dates, { dateStyle: 'full', timeZone }),
)
const timeFormat = perLanguage(
  (language, timeZone: string) =>
    new Intl.DateTimeFormat(locales[language].dates, {
      ...{ hour: '2-digit', minute: '2-digit', timeZone, timeZoneName: 'short' },
    }),
)
const listFormat = perLanguage(
  (language) => new Intl.ListFormat(locales[language].dates, { type: 'conjunction' }),
)

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
