import type { AmountFragment } from './documents.ts'

type Text = string | Partial<Record<Intl.LDMLPluralRule, string>>

type Data = { decimals?: Record<string, number> } & Record<string, Text>

const { decimals = {}, ...texts } = JSON.parse(document.getElementById('texts')?.textContent ?? '{}') as Data

/** Language of the page, which the server chose by what the browser prefers. */
export const language: string = document.documentElement.lang

const plurals = new Intl.PluralRules(language)

/** Reports whether there is a text of this name. */
export const hasText = (key: string): boolean => key in texts

/** Text of the page in its language, with values in place of {names}. `count` chooses the plural. */
export function text(key: string, values: Record<string, string | number> = {}): string {
  const found = texts[key] ?? key
  const form =
    typeof found === 'string' ? found : (found[plurals.select(Number(values.count))] ?? found.other)
  return (form ?? key).replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}

/** Amount for people. The page says which currencies have other than two decimals. */
export function money({ amount, currency }: AmountFragment): string {
  const digits = decimals[currency] ?? 2
  return new Intl.NumberFormat(language, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(amount as Intl.StringNumericLiteral)
}

const dateLocale = language === 'en' ? 'en-GB' : language

/** Date and time of an event, on the clock of its venue. */
export const longDate = (iso: string, timeZone: string): string =>
  new Intl.DateTimeFormat(dateLocale, { dateStyle: 'full', timeStyle: 'short', timeZone }).format(
    new Date(iso),
  )

/** Day of an event, on the calendar of its venue. */
export const shortDate = (iso: string, timeZone: string): string =>
  new Intl.DateTimeFormat(dateLocale, { weekday: 'short', day: 'numeric', month: 'short', timeZone }).format(
    new Date(iso),
  )
