import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Gateway, startGateway } from '../../support/harness.ts'

// Whom the service believes about addresses: what it counts under one address is limited, what under two is not.

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

async function behind(trust: string | null, work: (gateway: Gateway) => Promise<void>): Promise<void> {
  const settings = { RATE_LIMIT: '1', ...(trust !== null && { TRUST_PROXY: trust }) }
  const gateway = await startGateway({ settings })
  await work(gateway).finally(() => gateway.close())
}

/** Whether two requests are counted under the same address, by what they say and by where they come from. */
async function areSame({ app }: Gateway, one: string, other: string, from = ['127.0.0.1', '127.0.0.1']) {
  const statuses: number[] = []
  for (const [index, forwarded] of [one, other].entries()) {
    const headers = { 'x-forwarded-for': forwarded }
    const answer = await app.inject({ method: 'GET', url: '/', headers, remoteAddress: from[index] })
    statuses.push(answer.statusCode)
  }
  vi.setSystemTime(Date.now() + 2000)
  expect(statuses[0]).toBe(200)
  return statuses[1] === 429
}

test('without TRUST_PROXY nobody is believed', () =>
  behind(null, async (gateway) => {
    expect(await areSame(gateway, '192.0.2.1', '192.0.2.2')).toBe(true)
    expect(await areSame(gateway, '192.0.2.1', '192.0.2.1', ['127.0.0.1', '127.0.0.2'])).toBe(false)
  }))

test('one proxy is believed about who it saw, and about nobody before', () =>
  behind('1', async (gateway) => {
    expect(await areSame(gateway, '192.0.2.1', '192.0.2.2')).toBe(false)
    expect(await areSame(gateway, '192.0.2.1', '192.0.2.1')).toBe(true)
    // The client's own word comes first in the header.
    expect(await areSame(gateway, '192.0.2.1, 192.0.2.9', '192.0.2.2, 192.0.2.9')).toBe(true)
  }))

test('of two proxies the first is believed as well', () =>
  behind('2', async (gateway) => {
    expect(await areSame(gateway, '192.0.2.1, 10.0.0.9', '192.0.2.2, 10.0.0.9')).toBe(false)
    expect(await areSame(gateway, '1.1.1.1, 192.0.2.1, 10.0.0.9', '2.2.2.2, 192.0.2.1, 10.0.0.9')).toBe(true)
  }))

test('proxies of the networks are believed, however many there are, and nobody else', () =>
  behind('10.0.0.0/8, 2001:db8::/32', async (gateway) => {
    const proxies = ['10.1.2.3', '2001:db8::7']
    expect(await areSame(gateway, '192.0.2.1', '192.0.2.2', proxies)).toBe(false)
    expect(await areSame(gateway, '192.0.2.1', '192.0.2.1', proxies)).toBe(true)
    expect(await areSame(gateway, '192.0.2.1, 10.4.4.4', '192.0.2.2', ['10.1.2.3', '10.1.2.3'])).toBe(false)
    expect(await areSame(gateway, '192.0.2.1', '192.0.2.2', ['172.16.0.1', '172.16.0.1'])).toBe(true)
  }))

test('an address has many spellings, and a customer a whole network of version 6', () =>
  behind('1', async (gateway) => {
    expect(await areSame(gateway, '192.0.2.1', '192.0.2.1:4711')).toBe(true)
    expect(await areSame(gateway, '192.0.2.1', '::ffff:192.0.2.1')).toBe(true)
    expect(await areSame(gateway, '2001:db8::1', '[2001:DB8:0:0::1]:4711')).toBe(true)
    expect(await areSame(gateway, '2001:db8:0:1::1', '2001:db8:0:1:ffff::2')).toBe(true)
    expect(await areSame(gateway, '2001:db8:0:1::1', '2001:db8:0:2::1')).toBe(false)
  }))

test('what is no address is not believed: the connection has one', () =>
  behind('1', async (gateway) => {
    expect(await areSame(gateway, 'unknown', 'hidden')).toBe(true)
    expect(await areSame(gateway, 'a'.repeat(4000), 'b'.repeat(4000))).toBe(true)
    expect(await areSame(gateway, 'unknown', 'unknown', ['127.0.0.1', '127.0.0.2'])).toBe(false)
  }))
