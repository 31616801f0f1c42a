import { readFileSync } from 'node:fs'
import { IntlMessageFormat } from 'intl-messageformat'
import { type Language, languages, perLanguage } from './languages.ts'
import type { MessageKey, ValuesOf } from './messages.ts'

// Read and not imported, because Node 20 warns of imported JSON. All at once, so that no request waits for a file, and a
// broken installation does not start.
const read = (language: Language) =>
  JSON.parse(readFileSync(new URL(`./messages/${language}.json`, import.meta.url), 'utf8'))
const messages = Object.fromEntries(languages.map((language) => [language, read(language)])) as Record<
  Language,
  Record<MessageKey, string>
>

// Messages are text: `<` has no meaning in them, and markup is escaped where they are shown.
const formatOf = perLanguage(
  (language, key: MessageKey) =>
    new IntlMessageFormat(messages[language][key], language, undefined, { ignoreTag: true }),
)

/** Formats a message in a language, with the values of its parameters. The result is plain text. */
export const translate = <Key extends MessageKey>(
  language: Language,
  key: Key,
  ...[values]: ValuesOf<Key>
): string => String(formatOf(language, key).format(values))
