// Runs in: unit

import { readdirSync, readFileSync } from 'node:fs'
import { IntlMessageFormat } from 'intl-messageformat'
import { expect, test } from 'vitest'
import { formatAmount, formatDay, formatList, formatTime } from '../../src/domain/language/format.ts'
import {
  chooseLanguage,
  type Language,
  languages,
  preferredLanguage,
} from '../../src/domain/language/languages.ts'
import { type MessageKey, parametersOf } from '../../src/domain/language/messages.ts'
import { translate } from '../../src/domain/language/translate.ts'

const source = new URL('../../src/', import.meta.url)
const messagesOf = (language: string): Record<string, string> =>
  JSON.parse(readFileSync(new URL(`domain/language/messages/${language}.json`, source), 'utf8'))

type Element = ReturnType<IntlMessageFormat['getAst']>[number]

/** Parameters of a message as `count: plural`, and the categories of its plurals. */
function partsOf(elements: Element[]): { parameters: string[]; categories: string[][] } {
  const parameters: string[] = []
  const categories: string[][] = []
  for (const element of elements) {
    const hasOptions = 'options' in element
    if ('value' in element && element.type !== 0)
      parameters.push(`${element.value}${hasOptions ? ': plural' : ''}`)
    if (!hasOptions) continue
    categories.push(Object.keys(element.options))
    for (const option of Object.values(element.options)) {
      const inner = partsOf(option.value)
      parameters.push(...inner.parameters)
      categories.push(...inner.categories)
    }
  }
  return { parameters: [...new Set(parameters)].sort(), categories }
}

const parse = (text: string, language: string) =>
  partsOf(new IntlMessageFormat(text, language, undefined, { ignoreTag: true }).getAst())

/** Lists what is wrong with the messages of a language, compared with the English ones. */
function mistakesIn(messages: Record<string, string>, language: string): string[] {
  const english = messagesOf('en')
  const missing = Object.keys(english).filter((key) => !messages[key]?.trim())
  const unknown = Object.keys(messages).filter((key) => !(key in english))
  const wrong = Object.entries(messages).flatMap(([key, text]) => {
    const { parameters, categories } = parse(text, language)
    const expected = parse(english[key] ?? '', 'en').parameters
    return [
      ...(String(parameters) === String(expected) ? [] : [`${key} has parameters ${parameters}`]),
      ...(categories.every((names) => names.includes('one') && names.includes('other'))
        ? []
        : [`${key} lacks a plural`]),
      // In ICU MessageFormat a straight apostrophe may switch parameters off.
      ...(text.includes("'") ? [`${key} has a straight apostrophe`] : []),
      ...(text.trim() === text ? [] : [`${key} has space around it`]),
    ]
  })
  return [
    ...missing.map((key) => `${key} is missing`),
    ...unknown.map((key) => `${key} is unknown`),
    ...wrong,
  ]
}

test('there is a file of messages for each language, and no other', () => {
  const files = readdirSync(new URL('domain/language/messages/', source))
  expect(files.sort()).toEqual(languages.map((language) => `${language}.json`).sort())
})

test.each(languages)('every message exists in %s, with the same parameters', (language) => {
  expect(mistakesIn(messagesOf(language), language)).toEqual([])
})

test.each<[string, string | undefined, RegExp]>([
  ['pay.pay', undefined, /^pay\.pay is missing$/],
  ['pay.pay', '', /^pay\.pay is missing$/],
  ['pay.more', 'Mehr', /^pay\.more is unknown$/],
  ['pay.pay', 'Bezahlen', /^pay\.pay has parameters $/],
  ['pay.pay', '{sum} bezahlen', /^pay\.pay has parameters sum$/],
  ['order.tickets', '{count} Tickets', /^order\.tickets has parameters count$/],
  ['order.tickets', '{count, plural, other {# Tickets}}', /^order\.tickets lacks a plural$/],
  ['order.fees', "Geht's", /^order\.fees has a straight apostrophe$/],
  ['order.fees', 'Gebühren ', /^order\.fees has space around it$/],
])('reports a mistake of a translator: %s: %j', (key, text, mistake) => {
  const { [key]: _left, ...others } = messagesOf('de')
  const messages = text === undefined ? others : { ...others, [key]: text }
  expect(mistakesIn(messages, 'de')[0]).toMatch(mistake)
})

test('the typed parameters are those of the messages', () => {
  const declared: Record<string, readonly string[]> = parametersOf
  for (const [key, text] of Object.entries(messagesOf('en')))
    expect(
      parse(text, 'en').parameters.map((name) => name.replace(': plural', '')),
      key,
    ).toEqual([...(declared[key] ?? [])].sort())
})

test('every message is used', () => {
  const code = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && name !== 'domain/language/messages.ts')
    .map((name) => readFileSync(new URL(name, source), 'utf8'))
    .join('\n')
  // Keys of outcomes are built from the status of the payment, and from the reason of a refund; titles of notices from
  // what they are about.
  const isBuilt = (key: string) =>
    /^outcome\.(\w+\.(title|text)$|cause\.|money\w+Detail$)|^notice\.(transfer|refund|cancellation|date)$/.test(
      key,
    )
  const unused = Object.keys(messagesOf('en')).filter((key) => !isBuilt(key) && !code.includes(`'${key}'`))
  expect(unused).toEqual([])
})

test.each<[string | undefined, Language | null]>([
  [undefined, null],
  ['', null],
  ['*', null],
  ['ja, zh;q=0.9', null],
  ['es', 'es'],
  ['de-AT,de;q=0.9,en;q=0.8', 'de'],
  ['PT-br', 'pt'],
  ['ja,fr;q=0.7,it;q=0.8', 'it'],
  ['ca;q=0.5, es;q=0.5', 'ca'],
  ['en;q=0, es;q=0.1', 'es'],
  ['en;q=0', null],
  ['de;q=7, es;q=0.2', 'es'],
  ['de;q=x, es', 'es'],
  ['espresso', null],
])('Accept-Language %j chooses %j', (header, language) => {
  expect(preferredLanguage(header)).toBe(language)
})

test('a language that is not ours gives way to the next one, and at last to English', () => {
  expect(chooseLanguage('de', 'es')).toBe('de')
  expect(chooseLanguage('ja', 'es')).toBe('es')
  expect(chooseLanguage(null, undefined, 'fr')).toBe('fr')
  expect(chooseLanguage('ja', 'zh')).toBe('en')
})

const plain = (text: string) => text.replace(/\s/g, ' ')

test('amounts, days, times and lists are written as in the language', () => {
  const date = new Date('2099-07-11T22:30:00Z')
  const all = (language: Language) =>
    [
      formatAmount(language, 123450, 'EUR'),
      formatDay(language, date, 'Europe/Madrid'),
      formatTime(language, date, 'Europe/Madrid'),
      formatList(language, ['a', 'b', 'c']),
    ].map(plain)
  expect(all('en')).toEqual(['€1,234.50', 'Sunday, 12 July 2099', '00:30 CEST', 'a, b and c'])
  expect(all('de')).toEqual(['1.234,50 €', 'Sonntag, 12. Juli 2099', '00:30 MESZ', 'a, b und c'])
  expect(all('es')).toEqual(['1234,50 €', 'domingo, 12 de julio de 2099', '00:30 CEST', 'a, b y c'])
})

test('an amount has the decimals of its currency', () => {
  expect(formatAmount('en', 1050, 'EUR')).toBe('€10.50')
  expect(formatAmount('en', 1050, 'JPY')).toBe('¥1,050')
  expect(formatAmount('en', 1050, 'KWD')).toMatch(/^KWD\s1\.050$/)
  // Node has none for these, or two, by its release.
  expect(formatAmount('en', 214_893, 'HUF')).toMatch(/^HUF\s2,148\.93$/)
  expect(formatAmount('en', 214_893, 'RSD')).toMatch(/^RSD\s2,148\.93$/)
  expect(formatAmount('en', 1050, 'IQD')).toMatch(/^IQD\s1\.050$/)
})

test('plurals follow the language, and values are not read as markup or as a message', () => {
  const tickets = (language: Language, count: number) => translate(language, 'order.tickets', { count })
  expect([tickets('fr', 0), tickets('de', 0), tickets('ca', 1), tickets('pt', 2)]).toEqual([
    '0 billet',
    '0 Tickets',
    '1 entrada',
    '2 bilhetes',
  ])
  const name = "<b>{count}</b> '{x}'"
  expect(translate('it', 'order.seller', { organization: name })).toBe(`Venduto da ${name}`)
})

test('every message can be formatted in every language', () => {
  for (const language of languages)
    for (const key of Object.keys(messagesOf('en')) as MessageKey[]) {
      const names: readonly string[] = (parametersOf as Partial<Record<string, readonly string[]>>)[key] ?? []
      const values = Object.fromEntries(names.map((name) => [name, 2]))
      const text = (translate as (language: Language, key: MessageKey, values: object) => string)(
        language,
        key,
        values,
      )
      expect(text).not.toMatch(/[{}]|undefined/)
    }
})
