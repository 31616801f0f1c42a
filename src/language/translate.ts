import { readFileSync } from 'node:fs'
import { IntlMessageFormat } from 'intl-messageformat'
import { type Language, languages } from './languages.ts'
import type { MessageKey, ValuesOf } from './messages.ts'

type Messages = Record<MessageKey, string>

// Read and not imported, because Node 20 warns of imported JSON.
const readMessages = (language: Language): Messages =>
  JSON.parse(readFileSync(new URL(`./messages/${language}.json`, import.meta.url), 'utf8')) as Messages

type Catalogue = { messages: Messages; formats: Map<MessageKey, IntlMessageFormat> }
const catalogues = new Map<Language, Catalogue>()

function catalogueOf(language: Language): Catalogue {
  const known = catalogues.get(language)
  if (known) return known
  const catalogue = { messages: readMessages(language), formats: new Map() }
  catalogues.set(language, catalogue)
  return catalogue
}

function formatOf(language: Language, key: MessageKey): IntlMessageFormat {
  const { messages, formats } = catalogueOf(language)
  const known = formats.get(key)
  if (known) return known
  // Messages are text: `<` has no meaning in them, and markup is escaped where they are shown.
  const format = new IntlMessageFormat(messages[key], language, undefined, { ignoreTag: true })
  formats.set(key, format)
  return format
}

/** Formats a message in a language, with the values of its parameters. The result is plain text. */
export const translate = <Key extends MessageKey>(
  language: Language,
  key: Key,
  ...[values]: ValuesOf<Key>
): string => String(formatOf(language, key).format(values))

/** Reads the messages of all languages, so that no request waits for a file, and a broken installation does
 *  not start. */
export const loadMessages = (): void => {
  for (const language of languages) catalogueOf(language)
}
