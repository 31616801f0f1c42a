import { findKeys, type KeyRow, type KnownKey, knownKeys } from '../auth/authenticate.ts'
import { coalesceReads } from '../data/coalesce.ts'
import { findTogether, keyedBy } from '../data/prepared.ts'
import type { Database } from '../database/database.ts'
import { findTerms, toTerms } from '../domain/sale/checkout/terms-loaders.ts'
import { findTickets } from '../domain/ticket/loaders.ts'

/** What is known of somebody who asks for something: neither says that the one may see the other. */
export type AtTheDoor<Row> = { key: KnownKey | null; asked: Row | null }

type FindBoth<Row> = (
  db: Database,
  keyIds: string[],
  askedIds: string[],
) => Promise<[keys: KeyRow[], asked: Map<string, Row>]>

// Beside other keys.
const keysByKeyId = keyedBy('keyIds', findKeys)

// Identifiers have no space in them.
const pairOf = (keyId: string, askedId: string) => `${keyId} ${askedId}`

/** Reads a key and what is asked for with it. All who come in the same turn of the event loop are read in one
 *  statement, whoever they are: a statement of its own for each of the two would cost them as much again. */
function readAtTheDoor<Row>(findBoth: FindBoth<Row>) {
  const byPair = coalesceReads<AtTheDoor<Row>>(async (db, pairs) => {
    const asks = pairs.map((pair): [keyId: string, askedId: string] => {
      const [keyId = '', askedId = ''] = pair.split(' ')
      return [keyId, askedId]
    })
    const keyIds = new Set(asks.map(([keyId]) => keyId))
    const askedIds = new Set(asks.map(([, askedId]) => askedId))
    const since = performance.now()
    const [keyRows, asked] = await findBoth(db, [...keyIds], [...askedIds])
    const keys = knownKeys(keyRows, since)
    return new Map(
      asks.map(([keyId, askedId]) => [
        pairOf(keyId, askedId),
        { key: keys.get(keyId) ?? null, asked: asked.get(askedId) ?? null },
      ]),
    )
  })
  return async (db: Database, keyId: string, askedId: string): Promise<AtTheDoor<Row>> =>
    (await byPair(db, pairOf(keyId, askedId))) ?? { key: null, asked: null }
}

/** A key, and the ticket that is looked up with it. */
export const readTicketAtTheDoor = readAtTheDoor(async (db, keyIds, ids) => {
  const [keys, tickets] = await findTogether(db, 'key_and_ticket_by_id', [keysByKeyId, findTickets], {
    keyIds,
    keys: ids,
  })
  return [keys, new Map(tickets.map((ticket) => [ticket.id, ticket]))]
})

/** A key, and the terms of the rate that is checked out with it. */
export const readTermsAtTheDoor = readAtTheDoor(async (db, keyIds, ids) => {
  const [keys, ...terms] = await findTogether(db, 'key_and_terms_by_id', [keysByKeyId, ...findTerms], {
    keyIds,
    keys: ids,
  })
  return [keys, toTerms(terms)]
})
