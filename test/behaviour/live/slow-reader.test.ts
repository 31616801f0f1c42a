import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { expect, onTestFinished, test } from 'vitest'
import { announce } from '../../../src/engine/database/announcements.ts'
import { anEvent, aRateOf } from '../../support/factories.ts'
import { watchRates } from '../../support/live.ts'
import { sharedSale } from '../../support/sale.ts'

const events = [anEvent({ ticket_rates: [aRateOf(10_000)] })]
const sale = sharedSale({ events, listen: true })

// Connects by a Unix socket, for which the kernel keeps a fifth of a megabyte and not the six of TCP.
async function openNarrow(): Promise<{ client: Socket; served: Socket }> {
  const folder = await mkdtemp(join(tmpdir(), 'boxoffice-slow-'))
  const path = join(folder, 'socket')
  const server = createServer((socket) => void sale.app.server.emit('connection', socket)).listen(path)
  await once(server, 'listening')
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const client = connect(path).on('error', () => {})
  onTestFinished(async () => {
    client.destroy()
    server.close()
    await rm(folder, { recursive: true })
  })
  const [served] = await accepted
  return { client, served }
}

test('one event at most waits for a client that never reads, and others are told meanwhile', async () => {
  // A long event, so that the kernel's buffer is full after a few.
  const fields = Array.from({ length: 29 }, (_, n) => `a${n}${'x'.repeat(1_600)}: status`).join(' ')
  const query = `subscription { ticketRates(of: { ids: ["rate_1"] }) { ${fields} } }`
  const body = JSON.stringify({ query })
  const eventBytes = query.length + 1_000
  const { client, served } = await openNarrow()
  client.pause()
  client.write(
    `POST /graphql HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\ncontent-type: application/json\r\nx-api-key: ${sale.channel['x-api-key']}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  const watched = watchRates(sale.url, sale.channel, 'rate_1')
  await watched.until(() => true)
  let most = 0
  let blocked = 0
  let sold = 0
  while (blocked < 5 && sold < 400) {
    sold++
    await sale.db.execute(sql`update stock set sold_before = ${sold} where id = 'rate_1'`)
    announce(sale.db, 'stock', ['rate_1'])
    await watched.until(({ ticketRates: { availability } }) => availability.sold === sold)
    await wait(10)
    most = Math.max(most, served.writableLength)
    if (served.writableLength > 0) blocked++
  }
  expect(blocked).toBe(5)
  expect(most).toBeLessThan(eventBytes)
})
