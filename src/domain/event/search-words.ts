// Letters that Unicode does not decompose, and the plain letters that people type for them.
const plain: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  ı: 'i',
  ς: 'σ',
  ʼ: ' ',
}

const undecomposed = new RegExp(`[${Object.keys(plain).join('')}]`, 'g')

const fold = (text: string) =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(undecomposed, (letter) => plain[letter] ?? letter)

/** Splits a text into words without case and accents: runs of letters, digits and marks (DECISIONS 3).
 *  A run of more than 100 characters is split, because PostgreSQL limits a lexeme to 2 kB. */
export const searchWords = (text: string): string[] => fold(text).match(/[\p{L}\p{N}\p{M}]{1,100}/gu) ?? []

// Words contain no quotes and no backslashes, so they need no escaping between quotes.

/** Formats words as a `tsvector`, for the column that searches read. */
export const toVector = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ')

/** Formats words as a `tsquery` that requires, for each of them, a word that starts with it. No words give an
 *  empty query, which matches nothing: callers must not filter by it. */
export const toQuery = (words: readonly string[]): string => words.map((word) => `'${word}':*`).join(' & ')
