import { readAcceptHeader } from '../../engine/base/accept-header.ts'

/** Languages that buyers are addressed in, as ISO 639-1 codes. */
export const languages = ['en', 'es', 'ca', 'fr', 'de', 'it', 'pt'] as const

export type Language = (typeof languages)[number]

const isLanguage = (code: string): code is Language => (languages as readonly string[]).includes(code)

/** Chooses the first of these codes that is one of our languages; English if none is (DECISIONS, language and referral). */
export const chooseLanguage = (...codes: (string | null | undefined)[]): Language =>
  (codes.find((code) => code != null && isLanguage(code)) as Language | undefined) ?? 'en'

/** Chooses the language that a browser prefers by its `Accept-Language` header (RFC 9110, 12.5.4); the first
 *  named one of those with the same quality. Null if none of our languages is accepted. A region is ignored:
 *  `de-AT` is German. */
export function preferredLanguage(accepted: string | undefined): Language | null {
  const ours = readAcceptHeader(accepted).flatMap(({ name, quality }) => {
    const [code = ''] = name.split('-')
    return isLanguage(code) && quality > 0 ? [{ code, quality }] : []
  })
  return ours.sort((one, other) => other.quality - one.quality)[0]?.code ?? null
}

/** Keeps what a function makes for a language, and for a name if it takes one. Opening a format takes some 30 µs. */
export function perLanguage<Names extends string[], Made>(
  make: (language: Language, ...names: Names) => Made,
) {
  const kept = new Map<string, Made>()
  return (language: Language, ...names: Names): Made => {
    const key = [language, ...names].join(' ')
    const made = kept.get(key) ?? make(language, ...names)
    kept.set(key, made)
    return made
  }
}
