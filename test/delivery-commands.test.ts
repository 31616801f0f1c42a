import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { deliveries } from '../src/delivery/table.ts'
import { bought, deliveriesIn, deliveryCatalogue } from './deliveries.ts'
import { createTestDatabase, startGateway, type TestDatabase } from './harness.ts'
import { runCli } from './processes.ts'
import { openSale } from './sale.ts'

// Each command is a process that opens the database anew.
vi.setConfig({ testTimeout: 120_000 })

let database: TestDatabase
let ids: string[]
beforeAll(async () => {
  database = await createTestDatabase()
  const sale = await openSale(deliveryCatalogue, { database })
  await bought(sale, [{ email: 'secretia@example.com', phone: '+34600000001' }])
  const rows = await sale.db
    .update(deliveries)
    .set({ status: 'dead', attempts: 24, lastError: 'SMTP_550' })
    .returning()
  ids = rows.map(({ id }) => id)
  await sale.close()
})
afterAll(() => database.drop())

const cli = (...args: string[]) => runCli(['deliveries', ...args], database.settings)

test('what is dead is listed, without whom it is for, and sent after all where that is asked for', async () => {
  const listed = await cli('list', '--json')
  const one = { status: 'dead', attempts: 24, last_error: 'SMTP_550' }
  expect(JSON.parse(listed.output)).toEqual([
    expect.objectContaining({ ...one, medium: 'email', payment_id: expect.stringMatching(/^pay_/) }),
    expect.objectContaining({ ...one, medium: 'whatsapp' }),
  ])
  expect(listed.output).not.toMatch(/secretia|34600000001/)
  const [first = ''] = ids
  expect((await cli('retry', first, 'dlv_none')).output).toBe(`Due again: ${first}.\n`)
  expect((await cli('retry', '--all')).output).toBe(`Due again: ${ids[1]}.\n`)
  expect((await cli('retry', first)).output).toBe('None of them is dead.\n')
  expect((await cli('list')).output).toBe('No delivery is dead.\n')
  const { db, close } = await startGateway({ database })
  const due = { status: 'pending', attempts: 0, lastError: 'SMTP_550' }
  expect(await deliveriesIn({ db })).toEqual({ 'secretia@example.com': due, '+34600000001': due })
  await close()
})

test.each([
  ['retry', 'deliveries retry needs ID'],
  ['retry dlv_1 --all', 'deliveries retry takes no ID here'],
  ['list --status lost', '--status must be'],
])('deliveries %s is a mistake', async (args, told) => {
  const { code, output, errors } = await cli(...args.split(' '))
  expect({ code, output }).toEqual({ code: 2, output: '' })
  expect(errors).toContain(told)
})
