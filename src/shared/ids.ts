import { hash } from 'node:crypto'
import { customAlphabet } from 'nanoid'
import { encodeTime, incrementBase32 } from 'ulid'

type Prefix =
  | 'evt'
  | 'rate'
  | 'price'
  | 'sup'
  | 'que'
  | 'org'
  | 'dsc'
  | 'loc'
  | 'chn'
  | 'pay'
  | 'tkt'
  | 'int'
  | 'cha'
  | 'chg'
  | 'ref'
  | 'inv'
  | 'dlv'
  | 'whk'
  | 'sec'

/** Shape of our identifiers and of imported ones, as part of a regular expression. */
export const identifierPattern = '[\\w.:-]{1,64}'
const identifier = new RegExp(`^${identifierPattern}$`)

/** Reports whether a text has the shape of an identifier, so that a row with it may exist: anything else
 *  never reaches the database. */
export const isIdentifier = (text: string): boolean => identifier.test(text)

// Random part of a ULID. The ulid library makes a system call for each character, which is slow.
const random80Bits = customAlphabet('0123456789abcdefghjkmnpqrstvwxyz', 16)

/** Generates an identifier: a type prefix and a ULID, which is random and ordered by time (DECISIONS 1). */
export const newId = (prefix: Prefix): string =>
  `${prefix}_${encodeTime(Date.now(), 10).toLowerCase()}${random80Bits()}`

/** Returns a generator of strictly ascending ids, even within a millisecond or if the clock is set back. */
export function ascendingIds(prefix: Prefix): () => string {
  const randomLength = 16
  const after = (id: string) =>
    id.slice(0, -randomLength) + incrementBase32(id.slice(-randomLength).toUpperCase()).toLowerCase()
  let last = ''
  return () => {
    const id = newId(prefix)
    last = id > last ? id : after(last)
    return last
  }
}

/** SHA-256 of a text, in hexadecimal. */
export const sha256 = (text: string): string => hash('sha256', text)

/** Derives a stable id from names, so that a second import finds objects that came without one. */
export const derivedId = (prefix: Prefix, ...names: string[]): string =>
  `${prefix}_${sha256(JSON.stringify(names)).slice(0, 26)}`

/** Generates a ticket code: 12 characters without look-alikes (no 0 and O, no 1, I and L, no U and V). */
export const newQrCode: () => string = customAlphabet('23456789ABCDEFGHJKMNPQRSTWXYZ', 12)

const newHexSecret: () => string = customAlphabet('0123456789abcdef', 64)

/** Generates the unguessable token of a ticket's document, 256 random bits in hexadecimal, which names the
 *  organization if the token of its payment page does. */
export const newDocumentToken = (pageToken: string): string => newHexSecret() + pageToken.slice(43)

/** Generates another token for the document of a ticket, which names the organization if the former one
 *  did. */
export const renewDocumentToken = (former: string): string => newHexSecret() + former.slice(64)

/** Token of an address, and the organization that it names, which leads to its row on one of several
 *  servers. */
export type OrganizationToken = { token: string; organizationId: string | null }

/** Makes a token of a secret: the secret, followed by the organization in base64url. */
export const toOrganizationToken = (secret: string, organizationId: string): string =>
  secret + Buffer.from(organizationId).toString('base64url')

/** Returns the reader of tokens with secrets of a form, which all have the same length, with an organization
 *  or without. It returns null for any other text. */
export function organizationTokenReader(secret: RegExp) {
  const form = new RegExp(`^(${secret.source})([\\w-]{2,86})?$`)
  return (token: string): OrganizationToken | null => {
    const [, secret, encoded] = form.exec(token) ?? []
    if (secret === undefined) return null
    if (encoded === undefined) return { token, organizationId: null }
    const organizationId = Buffer.from(encoded, 'base64url').toString()
    const isToken = isIdentifier(organizationId) && toOrganizationToken(secret, organizationId) === token
    return isToken ? { token, organizationId } : null
  }
}

/** Generates a secret: 256 random bits in base 62. */
export const newSecret: () => string = customAlphabet(
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
  43,
)
