// Letters that Unicode keeps whole where a person types two plain ones, or one without its stroke.
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

const fold = (text: string) =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[ßæœþøłđðħŧŋıςʼ]/g, (letter) => plain[letter] ?? letter)

/** The words of a text, without case and accents: runs of letters, digits and marks (DECISIONS 3).
 *  A run of more than 100 characters counts as several words, because PostgreSQL keeps no word past 2 kB. */
export const searchWords = (text: string): string[] => fold(text).match(/[\p{L}\p{N}\p{M}]{1,100}/gu) ?? []

// A word has no quote and no backslash in it, so it stands between quotes as it is.

/** Words as the text of a `tsvector`, for the column that a search reads. */
export const toVector = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ')

/** Words as the text of a `tsquery` that finds what has, for each of them, a word that begins with it.
 *  Of no words it is the empty query, which finds nothing: a search of no words is no filter. */
export const toQuery = (words: readonly string[]): string => words.map((word) => `'${word}':*`).join(' & ')
