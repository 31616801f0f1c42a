import { findKeys, type KnownKey, knownKeys } from './access/authenticate.ts'
import { findTogether, keyedBy } from './batch.ts'
import type { Database } from './database.ts'
import { findTickets } from './ticket/loaders.ts'
import type { LookupTicket } from './ticket/table.ts'
import { readByTurn } from './turn.ts'

/** What is known of somebody who asks for a ticket: neither says that the one may see the other. */
type AtTheDoor = { key: KnownKey | null; ticket: LookupTicket | null }

// Identifiers have no space in them.
const pairOf = (keyId: string, ticketId: string) => `${keyId} ${ticketId}`

const byPair = readByTurn<AtTheDoor>(async (db, pairs) => {
  const asked = pairs.map((pair): [keyId: string, ticketId: string] => {
    const [keyId = '', ticketId = ''] = pair.split(' ')
    return [keyId, ticketId]
  })
  const keyIds = [...new Set(asked.map(([keyId]) => keyId))]
  const ticketIds = [...new Set(asked.map(([, ticketId]) => ticketId))]
  const since = performance.now()
  const [keyRows, tickets] = await findTogether(
    db,
    'key_and_ticket_by_id',
    [keyedBy('keyIds', findKeys), findTickets],
    { keyIds, keys: ticketIds },
  )
  const keys = knownKeys(keyRows, since)
  const ticketById = new Map(tickets.map((ticket) => [ticket.id, ticket]))
  return new Map(
    asked.map(([keyId, ticketId]) => [
      pairOf(keyId, ticketId),
      { key: keys.get(keyId) ?? null, ticket: ticketById.get(ticketId) ?? null },
    ]),
  )
})

/** Reads a key and the ticket that is asked for with it. All who come in the same turn of the event loop are read in one
 *  statement, whoever they are: a statement of its own for each of the two would cost them as much again. */
export const readAtTheDoor = async (db: Database, keyId: string, ticketId: string): Promise<AtTheDoor> =>
  (await byPair(db, pairOf(keyId, ticketId))) ?? { key: null, ticket: null }
