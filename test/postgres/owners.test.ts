// Runs in: postgres

import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Refusal } from '../../src/engine/base/errors.ts'
import { type Database, ownedBy } from '../../src/engine/database/database.ts'
import { aloneOnRow, transaction } from '../../src/engine/database/transaction.ts'
import { floodInputs, mutationNames, openFloodedSale } from '../support/flood/floods.ts'
import { openTestDatabase } from '../support/harness.ts'

// Each owner has a share of the connections, and waits for no other's work (DECISIONS 215).

// Of the eight connections that transactions may reserve.
const maxOfOwner = 4

const sleep = (db: Pick<Database, 'execute'>, milliseconds: number) =>
  db.execute(sql`select pg_sleep(${milliseconds / 1000}::float8)`)
const sleeping = (db: Database, milliseconds: number) => transaction(db, (tx) => sleep(tx, milliseconds))

describe('on the pool', () => {
  let opened: Awaited<ReturnType<typeof openTestDatabase>>
  beforeAll(async () => {
    opened = await openTestDatabase()
  })
  afterAll(() => opened?.close())

  const use = () => opened.poolUsage().primary ?? expect.unreachable()

  test('transactions of an owner reserve half of the connections, and the next one is of whoever has its turn', async () => {
    let done = 0
    const many = Array.from({ length: 40 }, () => sleeping(ownedBy(opened.db, 'many'), 20).then(() => done++))
    expect(use()).toMatchObject({ reserved: maxOfOwner, waitingTransactions: 40 - maxOfOwner })
    await sleeping(ownedBy(opened.db, 'few'), 1)
    expect(done).toBeLessThanOrEqual(maxOfOwner)
    await Promise.all(many)
    expect(use()).toMatchObject({ reserved: 0, waitingTransactions: 0 })
  })

  test('where the connections are all reserved, owners take turns', async () => {
    const order: string[] = []
    const run = (owner: string) => sleeping(ownedBy(opened.db, owner), 20).then(() => order.push(owner))
    await Promise.all(
      ['a', 'b'].flatMap((owner) => Array.from({ length: 20 }, () => run(owner))).concat(run('c')),
    )
    expect(order.indexOf('c')).toBeLessThan(24)
  })

  test('statements of an owner leave connections to those of others', async () => {
    let done = 0
    const many = Array.from({ length: 40 }, () => sleep(ownedBy(opened.db, 'many'), 20).then(() => done++))
    await sleep(ownedBy(opened.db, 'few'), 1)
    expect(done).toBeLessThanOrEqual(maxOfOwner)
    expect(use().waitingStatements).toBeGreaterThan(0)
    await Promise.all(many)
  })

  test('an owner of which too much waits is refused, and no other', async () => {
    const asked = Array.from({ length: 1_010 }, () => sleeping(ownedBy(opened.db, 'many'), 1))
    const few = sleeping(ownedBy(opened.db, 'few'), 1)
    const outcomes = await Promise.allSettled(asked)
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(refused).toHaveLength(1_010 - 1_000 - maxOfOwner)
    expect(refused.every((error) => error instanceof Refusal && error.code === 'BUSY')).toBe(true)
    await few
  })

  test('what would wait for the lock of a row waits before it takes a connection', async () => {
    const db = ownedBy(opened.db, 'many')
    const many = Array.from({ length: 20 }, () => aloneOnRow(db, 'row', () => sleeping(db, 5)))
    expect(use().reserved).toBe(1)
    // The same name of another owner is another row.
    await aloneOnRow(ownedBy(opened.db, 'few'), 'row', async () => expect(use().reserved).toBe(1))
    await Promise.all(many)
  })
})

test('each mutation has a flood', () => {
  expect(Object.keys(floodInputs).sort()).toEqual([...mutationNames].sort())
})

describe.each([true, false])('mutations at once, in turns: %s', (inTurns) => {
  const atOnce = 12
  let flooded: Awaited<ReturnType<typeof openFloodedSale>>
  let reserved = 0
  beforeAll(async () => {
    flooded = await openFloodedSale({
      inTurns,
      onStatement() {
        reserved = Math.max(reserved, flooded?.sale.database.poolUsage().primary?.reserved ?? 0)
      },
    })
  })
  afterAll(() => flooded?.sale.close())

  // Sends requests at once. Returns the texts of the answers, and the most connections that were reserved meanwhile.
  async function send(requests: { headers: Record<string, string>; body: string }[]) {
    reserved = 0
    const sent = requests.map(({ headers, body }, index) =>
      flooded.sale.app.inject({
        ...{ method: 'POST', url: '/graphql' },
        headers: { ...headers, 'content-type': 'application/json' },
        payload: body.replaceAll('{{n}}', `${headers['x-api-key']?.slice(-5)}${index}`),
      }),
    )
    const answers = await Promise.all(sent)
    return { texts: answers.map(({ body }) => body).join('\n'), reserved }
  }

  test('an owner reserves its share of the connections, for as many rows as it may change', async () => {
    const { shop } = flooded.flooders
    const requests = flooded.ofPayments.map((ticketId) => flooded.floodAs('updateAttendees', shop, ticketId))
    const { texts, reserved } = await send(await Promise.all(requests))
    expect(texts.match(/UpdateAttendeesPayload/g)).toHaveLength(requests.length)
    if (inTurns) expect(reserved).toBe(maxOfOwner)
    else expect(reserved).toBeGreaterThan(maxOfOwner)
  })

  // Those of a refund that is opened, and of one that is settled.
  test.each(inTurns ? mutationNames : [])('%s of one row by many reserves two at most', async (name) => {
    for (const key of ['shop', 'door'] as const) {
      const request = await flooded.floodAs(name, flooded.flooders[key])
      const { texts, reserved } = await send(Array.from({ length: atOnce }, () => request))
      expect(reserved).toBeLessThanOrEqual(2)
      expect(texts).not.toMatch(/"(INVALID|BUSY|INTERNAL|BAD_REQUEST)"/)
    }
  })
})
