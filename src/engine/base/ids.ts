import { hash } from 'node:crypto'
import { customAlphabet } from 'nanoid'

/** Shape of identifiers, as part of a regular expression. */
export const identifierPattern = '[\\w.:-]{1,64}'
const identifier = new RegExp(`^${identifierPattern}$`)

/** Reports whether a text has the shape of an identifier, so that a row with it may exist: anything else
 *  never reaches the database. */
export const isIdentifier = (text: string): boolean => identifier.test(text)

/** SHA-256 of a text, in hexadecimal. */
export const sha256 = (text: string): string => hash('sha256', text)

/** Generates a secret: 256 random bits in base 62. */
export const newSecret: () => string = customAlphabet(
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
  43,
)
