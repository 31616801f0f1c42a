/** Languages that buyers are addressed in, as ISO 639-1 codes. */
export const languages = ['en', 'es', 'ca', 'fr', 'de', 'it', 'pt'] as const

export type Language = (typeof languages)[number]

const isLanguage = (code: string): code is Language => (languages as readonly string[]).includes(code)

/** Chooses the first of these codes that is one of our languages; English if none is (DECISIONS 9). */
export const chooseLanguage = (...codes: (string | null | undefined)[]): Language =>
  (codes.find((code) => code != null && isLanguage(code)) as Language | undefined) ?? 'en'

/** Chooses the language that a browser prefers by its `Accept-Language` header (RFC 9110, 12.5.4); the first
 *  named one of those with the same quality. Null if none of our languages is accepted. A region is ignored:
 *  `de-AT` is German. */
export function preferredLanguage(accepted: string | undefined): Language | null {
  let best: { language: Language; quality: number } | null = null
  for (const item of (accepted ?? '').toLowerCase().split(',')) {
    const [range = '', ...parameters] = item.split(';').map((part) => part.trim())
    const [code = ''] = range.split('-')
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    const quality = Number(weight ?? 1)
    if (isLanguage(code) && quality <= 1 && quality > (best?.quality ?? 0)) best = { language: code, quality }
  }
  return best?.language ?? null
}
