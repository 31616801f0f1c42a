import { beforeAll, expect, test } from 'vitest'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import { commandRunner } from '../../support/commands.ts'
import { buyDeliverable, deliveryCatalogue, readDeliveries } from '../../support/deliveries.ts'
import { sharedSale } from '../../support/sale.ts'

let ids: string[]
const sale = sharedSale(deliveryCatalogue)
beforeAll(async () => {
  await buyDeliverable(sale, [{ email: 'secretia@example.com', phone: '+34600000001' }])
  const rows = await sale.db
    .update(deliveries)
    .set({ status: 'dead', attempts: 24, lastError: 'SMTP_550' })
    .returning()
  ids = rows.map(({ id }) => id)
})

const { succeed, json, fail } = commandRunner(() => sale.database)

test('cli deliveries list and retry show dead deliveries, without recipients, and make them due', async () => {
  const listed = await json('deliveries', 'list')
  const dead = { status: 'dead', attempts: 24, last_error: 'SMTP_550' }
  expect(listed).toEqual([
    expect.objectContaining({ ...dead, medium: 'email', payment_id: expect.stringMatching(/^pay_/) }),
    expect.objectContaining({ ...dead, medium: 'whatsapp' }),
  ])
  expect(JSON.stringify(listed)).not.toMatch(/secretia|34600000001/)
  const retry = (...which: string[]) => succeed('deliveries', 'retry', ...which)
  const [first = ''] = ids
  expect(await fail('deliveries', 'retry', first, 'dlv_none')).toEqual({
    code: 1,
    errors: 'There is no delivery dlv_none.',
  })
  expect(await retry(first)).toBe(`Due again: ${first}.`)
  expect(await retry('--all')).toBe(`Due again: ${ids[1]}.`)
  expect(await retry(first)).toBe('None of them is dead.')
  expect(await succeed('deliveries', 'list')).toBe('No delivery is dead.')
  const due = { status: 'pending', attempts: 0, lastError: 'SMTP_550' }
  expect(await readDeliveries(sale)).toEqual({ 'secretia@example.com': due, '+34600000001': due })
})

test.each([
  ['retry', 'deliveries retry needs ID'],
  ['retry dlv_1 --all', 'deliveries retry takes no ID here'],
  ['list --status lost', '--status must be'],
])('cli deliveries %s is refused', async (args, expected) => {
  const { code, errors } = await fail('deliveries', ...args.split(' '))
  expect(code).toBe(2)
  expect(errors).toContain(expected)
})
