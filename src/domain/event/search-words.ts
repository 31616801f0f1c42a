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
  // Forms of Arabic letters that keyboards and countries write differently.
  ٱ: 'ا',
  ى: 'ي',
  ی: 'ي',
  ک: 'ك',
  ة: 'ه',
}

const undecomposed = new RegExp(`[${Object.keys(plain).join('')}]`, 'g')

// Accents, the points of Hebrew, the vowel signs and hamzas of Arabic and its stretched joins, and characters that
// nobody sees.
const marks =
  /[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]|\p{Cf}/gu

const fold = (text: string) =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replace(marks, '')
    .replace(undecomposed, (letter) => plain[letter] ?? letter)

/** Splits a text into words without case and accents: runs of letters, digits and marks (DECISIONS, listing events).
 *  A run of more than 100 characters is split, because PostgreSQL limits a lexeme to 2 kB. */
export const searchWords = (text: string): string[] => fold(text).match(/[\p{L}\p{N}\p{M}]{1,100}/gu) ?? []

// Scripts that are written without spaces between words.
const unspaced =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\u30fc\u3099\u309a]/u
// Bounds what one name adds to the index.
const maxSuffix = 32

const cut = (word: string) => (unspaced.test(word) ? [...word].slice(0, maxSuffix).join('') : word)

/** Adds to the words of a name what may begin a search within a word of a script without spaces: each of its ends, up
 *  to 32 characters of it. No dictionary is asked, so that every process finds the same. */
function withSuffixes(words: readonly string[]): string[] {
  const all = words.flatMap((word) => {
    const characters = [...word]
    const mayBegin = (index: number) =>
      [characters[index - 1], characters[index]].some((character = ' ') => unspaced.test(character)) &&
      !/\p{M}/u.test(characters[index] ?? '')
    const ends = characters.flatMap((_, index) =>
      index > 0 && mayBegin(index) ? characters.slice(index, index + maxSuffix).join('') : [],
    )
    return [cut(word), ...ends]
  })
  return [...new Set(all)]
}

// Words contain no quotes and no backslashes, so they need no escaping between quotes.

/** Formats a music genre as a `tsquery`, whatever its case, accents and punctuation: one word, which begins as no word of
 *  a name does. Its length is bounded as that of a word. */
export const toGenreQuery = (genre: string): string =>
  `'#${[...searchWords(genre).join(' ')].slice(0, 100).join('')}'`

/** Formats the words of a name, and music genres, as a `tsvector`, for the column that searches read. */
export const toVector = (words: readonly string[], genres: readonly string[]): string =>
  [...withSuffixes(words).map((word) => `'${word}'`), ...genres.map(toGenreQuery)].join(' ')

/** Formats words as a `tsquery` that requires, for each of them, a word that starts with it. No words give an
 *  empty query, which matches nothing: callers must not filter by it. */
export const toQuery = (words: readonly string[]): string =>
  words.map((word) => `'${cut(word)}':*`).join(' & ')

/** Folds the name of an attendee for searches by prefix: its words without case and accents, with one space
 *  between them. */
export const searchNameOf = (fullName: string): string => searchWords(fullName).join(' ')
