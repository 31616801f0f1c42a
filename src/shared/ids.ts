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

// The random part of a ULID. The library asks the operating system for each of its characters by itself.
const random80Bits = customAlphabet('0123456789abcdefghjkmnpqrstvwxyz', 16)

/** A new identifier: type prefix, then a ULID, which is random and ordered by time (DECISIONS 1). */
export const newId = (prefix: Prefix): string =>
  `${prefix}_${encodeTime(Date.now(), 10).toLowerCase()}${random80Bits()}`

/** Makes identifiers of which each comes after the one before, within a millisecond too, and when the clock is set back. */
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

/** A name for a text that tells nothing of it, and is the same for the same text. */
export const sha256 = (text: string): string => hash('sha256', text)

/** The identifier of something that came without one: the same for the same names, so that it is found again. */
export const derivedId = (prefix: Prefix, ...names: string[]): string =>
  `${prefix}_${sha256(JSON.stringify(names)).slice(0, 26)}`

/** 12 characters that nobody misreads: no 0 and O, no 1, I and L, no U and V. */
export const newQrCode: () => string = customAlphabet('23456789ABCDEFGHJKMNPQRSTWXYZ', 12)

/** 256 random bits in base 62, for what must not be guessed. */
export const newSecret: () => string = customAlphabet(
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
  43,
)
