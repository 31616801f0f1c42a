import { searchWords } from '../event/search-words.ts'

/** Folds the name of an attendee for searches by prefix: its words without case and accents, with one space
 *  between them. */
export const searchNameOf = (fullName: string): string => searchWords(fullName).join(' ')
