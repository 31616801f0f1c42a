import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { languages } from '../../src/domain/language/languages.ts'

// Texts of the shop: every language has each of them, with the same values and the plurals that it needs.

type Text = string | Record<string, string>

const textsOf = (language: string): Record<string, Text> =>
  JSON.parse(readFileSync(new URL(`../../examples/shop/texts/${language}.json`, import.meta.url), 'utf8'))

const formsOf = (text: Text | undefined) => (typeof text === 'object' ? Object.values(text) : [text ?? ''])
const valuesOf = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort().join()

const english = textsOf('en')

/** Lists what is wrong with the texts of a language, compared with the English ones. */
function mistakesIn(texts: Record<string, Text>): string[] {
  const keys = new Set([...Object.keys(english), ...Object.keys(texts)])
  return [...keys].flatMap((key) => {
    const [own, expected] = [texts[key], english[key]]
    if (own === undefined || expected === undefined) return [`${key} is missing or unknown`]
    if (typeof own !== typeof expected) return [`${key} has plurals in one language alone`]
    if (typeof own === 'object' && !('one' in own && 'other' in own)) return [`${key} lacks a plural`]
    return formsOf(own).flatMap((form) => [
      ...(form.trim() === form && form !== '' ? [] : [`${key} is empty or has space around it`]),
      ...(valuesOf(form) === valuesOf(formsOf(expected)[0] ?? '') ? [] : [`${key} has ${valuesOf(form)}`]),
    ])
  })
}

test.each(languages)('the texts of the shop are complete in %s', (language) => {
  expect(mistakesIn(textsOf(language))).toEqual([])
})

test.each(languages.filter((language) => language !== 'en'))(
  'the texts in %s are not English',
  (language) => {
    const texts = textsOf(language)
    const same = Object.keys(english).filter(
      (key) => JSON.stringify(texts[key]) === JSON.stringify(english[key]),
    )
    // Names, and words that two languages share.
    expect(same.length).toBeLessThan(8)
  },
)

test('reports a text that is missing, and one that lacks a value', () => {
  const { 'list.more': _, ...rest } = english
  expect(mistakesIn({ ...rest, 'list.from': 'from' })).toEqual([
    'list.more is missing or unknown',
    'list.from has ',
  ])
})
