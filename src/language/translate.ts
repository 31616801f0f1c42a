import { readFileSync } from 'node:fs'
import { IntlMessageFormat } from 'intl-messageformat'
import { type Language, languages, perLanguage } from './languages.ts'
import type { MessageKey, ValuesOf } from './messages.ts'

// Read and not imported, because Node 20 warns of imported JSON.
const messagesOf = perLanguage((language): Record<MessageKey, string> => {
  const file = new URL(`./messages/${language}.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8'))
})

// Messages are text: `<` has no meaning in them, and markup is escaped where they are shown.
const formatOf = perLanguage(
  (language, key: MessageKey) =>
    new IntlMessageFormat(messagesOf(language)[key], language, undefined, { ignoreTag: true }),
)

/** Formats a message in a language, with the values of its parameters. The result is plain text. */
export const translate = <Key extends MessageKey>(
  language: Language,
  key: Key,
  ...[values]: ValuesOf<Key>
): string => String(formatOf(language, key).format(values))

/** Reads the messages of all languages, so that no request waits for a file, and a broken installation does
 *  not start. */
export const loadMessages = (): void => {
  for (const language of languages) messagesOf(language)
}
