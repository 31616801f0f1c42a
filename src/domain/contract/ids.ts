import type { FastifyRequest } from 'fastify'
import { customAlphabet, random } from 'nanoid'
import { encodeTime, monotonicFactory } from 'ulid'
import { identifierPattern, newSecret, sha256 } from '../../engine/base/ids.ts'

/** Prefixes of what an import writes. */
type CataloguePrefix = 'org' | 'loc' | 'evt' | 'rate' | 'price' | 'sup' | 'que' | 'opt' | 'dsc'
/** Prefixes of what is sold, and of what is sent about it. */
type SalePrefix = 'pay' | 'tkt' | 'cha' | 'ref' | 'inv' | 'chg' | 'chk' | 'dlv' | 'whk'
/** Prefixes of callers and their secrets. */
type CallerPrefix = 'chn' | 'int' | 'sec'
type Prefix = CataloguePrefix | SalePrefix | CallerPrefix

// Random part of a ULID. The ulid library makes a system call for each character, which is slow.
const random80Bits = customAlphabet('0123456789abcdefghjkmnpqrstvwxyz', 16)

/** Beginning of the identifiers of a time, in milliseconds since 1970; identifiers are ordered by it. */
export const idsFrom = (prefix: Prefix, timeMs: number): string =>
  `${prefix}_${encodeTime(timeMs, 10).toLowerCase()}`

/** Generates an identifier: a type prefix and a ULID, which is random and ordered by time (DECISIONS, identifiers). */
export const newId = (prefix: Prefix): string => idsFrom(prefix, Date.now()) + random80Bits()

/** Generates the identifier of something that an organization sells: it ends in the organization's number, so that its
 *  row is found on the server that has it. */
export const newSoldId = (prefix: 'pay' | 'tkt', organizationNumber: number): string =>
  newId(prefix) + organizationNumber.toString(36)

const sold = /^(?:pay|tkt|ref)_[0-9a-z]{26}([1-9a-z][0-9a-z]{0,6})$/

/** Generates the identifier of a refund of a payment, which ends as that of the payment does. */
export const newRefundId = (paymentId: string): string => newId('ref') + (sold.exec(paymentId)?.[1] ?? '')

/** Reads the number of the organization from the identifier of something sold; null if it names none. */
export function organizationNumberOf(id: string): number | null {
  const digits = sold.exec(id)?.[1]
  return digits === undefined ? null : Number.parseInt(digits, 36)
}

/** Milliseconds by which clocks, of processes and of the database, differ at most, and for which a transaction is
 *  open at most. */
export const clockMarginMs = 86_400_000

// Random bytes of a pool: the ulid library by itself makes a system call for each character.
const randomFraction = () => (random(1)[0] ?? 0) / 256

/** Returns a generator of strictly ascending ids, even within a millisecond or if the clock is set back. */
export function ascendingIds(prefix: Prefix): () => string {
  const next = monotonicFactory(randomFraction)
  return () => `${prefix}_${next().toLowerCase()}`
}

/** Derives a stable id from names, so that a second import finds objects that came without one. */
export const derivedId = (prefix: CataloguePrefix, ...names: string[]): string =>
  `${prefix}_${sha256(JSON.stringify(names)).slice(0, 26)}`

/** Generates a ticket code: 17 characters without look-alikes (no 0 and O, no 1, I and L, no U and V), 82 bits. */
export const newQrCode: () => string = customAlphabet('23456789ABCDEFGHJKMNPQRSTWXYZ', 17)

const newHexSecret: () => string = customAlphabet('0123456789abcdef', 64)

/** An unguessable token, and what it names beside its secret: the row that it leads to, and the row's organization. */
export type AddressToken = { token: string; id: string; organizationId: string }

const base64url = (text: string): string => Buffer.from(text).toString('base64url')

/** Makes a token of a secret: the secret, followed by what it names in base64url, so that its row is found by
 *  its primary key and no index of tokens is needed. */
const toToken = (secret: string, id: string, organizationId: string): string =>
  secret + base64url(`${id}/${organizationId}`)

const named = new RegExp(`^((?:pay|tkt)_[0-9a-z]{26,33})/(${identifierPattern})$`)

/** Returns the reader of tokens with secrets of a form, which all have the same length. It returns null for
 *  any other text. */
export function addressTokenReader(secret: RegExp) {
  const form = new RegExp(`^(${secret.source})([\\w-]{43,136})$`)
  return (token: string): AddressToken | null => {
    const [, secret, encoded] = form.exec(token) ?? []
    if (secret === undefined || encoded === undefined) return null
    const text = Buffer.from(encoded, 'base64url').toString()
    const [, id, organizationId] = named.exec(text) ?? []
    if (id === undefined || organizationId === undefined || secret + base64url(text) !== token) return null
    return { token, id, organizationId }
  }
}

/** Generates the token of a payment's page: 256 random bits in base 62, the payment and the organization. */
export const newPageToken = (paymentId: string, organizationId: string): string =>
  toToken(newSecret(), paymentId, organizationId)

/** Generates the token of a ticket's document: 256 random bits in hexadecimal, the ticket and the organization. */
export const newDocumentToken = (ticketId: string, organizationId: string): string =>
  toToken(newHexSecret(), ticketId, organizationId)

/** Identifiers in examples, by which the document's examples refer to one sale. Where others are known that work, the
 *  document shows those instead. */
export const exampleIds = {
  eventId: 'evt_01jd8r6t4c9q2m7x5v3k1n8p0w',
  ticketRateId: 'rate_01jd8r6t5d1f7h3k9m2q4s6v8x',
  priceId: 'price_01jd8r6t5e3g9j5m1p4r6t8w0y',
  paymentId: 'pay_01jd8s2w6z4b0d7f3h5k8n2q4t',
  ticketId: 'tkt_01jd8s2w7a5c1e8g4j6m9p3r5t',
}

/** Values that work: keys of a channel, of its pages and of an integration, and identifiers of an event of the
 *  integration's organization, a rate with a price on sale, a payment, and a ticket of it;
 *  an event whose doors are open, and a ticket for it. */
export type ExampleValues = Record<'key' | 'publishableKey' | 'integrationKey', string> &
  Record<'doorEventId' | 'doorTicketId', string> &
  typeof exampleIds

/** Finds values that work; undefined if nothing is on sale. */
export type FindExampleValues = () => Promise<ExampleValues | undefined>

/** Tells what fills the examples of a page for a request. */
export type ExamplesOf = (request: FastifyRequest) => FindExampleValues

/** Shows secret keys to requests alone whose answers stay on this machine. To others the publishable key stands for that of
 *  its channel, and `onOthers` is called. */
export function examplesFor(
  find: FindExampleValues | undefined,
  isLocal: (request: FastifyRequest) => boolean,
  onOthers: () => void,
): ExamplesOf {
  const none: FindExampleValues = async () => undefined
  if (!find) return () => none
  const findPublic: FindExampleValues = async () => {
    const found = await find()
    return found && { ...found, key: found.publishableKey, integrationKey: '' }
  }
  return (request) => {
    if (isLocal(request)) return find
    onOthers()
    return findPublic
  }
}

/** Replaces the identifiers of examples by those that work. */
export function withExampleIds<Document>(document: Document, values: ExampleValues): Document {
  const names = Object.keys(exampleIds) as (keyof typeof exampleIds)[]
  const replaced = new Map<unknown, string>(names.map((name) => [exampleIds[name], values[name]]))
  return JSON.parse(JSON.stringify(document), (_key, value) => replaced.get(value) ?? value)
}
