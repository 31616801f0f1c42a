import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Gateway, startGateway } from '../../support/harness.ts'

// X-Forwarded-For, seen through the rate limit: requests share a limit if the service takes their addresses
// for one.

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const warnings: string[] = []
const onLog = (line: string) => {
  if (line.includes('TRUST_PROXY')) warnings.push(line)
}

async function behind(trust: string | null, work: (gateway: Gateway) => Promise<void>): Promise<void> {
  const settings = { RATE_LIMIT: '1', LOG_LEVEL: 'warn', ...(trust !== null && { TRUST_PROXY: trust }) }
  const gateway = await startGateway({ settings, onLog })
  warnings.length = 0
  await work(gateway).finally(() => gateway.close())
}

/** Reports whether two requests share a limit, given their X-Forwarded-For headers and their sockets'
 *  addresses. */
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

test('client address without TRUST_PROXY is the address of the connection', () =>
  behind(null, async (gateway) => {
    expect(await areSame(gateway, '192.0.2.1', '192.0.2.2')).toBe(true)
    expect(await areSame(gateway, '192.0.2.1', '192.0.2.1', ['127.0.0.1', '127.0.0.2'])).toBe(false)
  }))

test('limits of addresses behind a proxy that is not trusted are warned of once, and no others', async () => {
  await behind(null, async (gateway) => {
    const limited = async (headers: Record<string, string> = {}) => {
      for (let sent = 0; sent < 3; sent++) await gateway.rest('GET', '/', { headers })
      vi.setSystemTime(Date.now() + 2000)
    }
    await limited()
    expect(warnings).toEqual([])
    await limited({ 'x-forwarded-for': '192.0.2.1' })
    await limited({ 'x-forwarded-for': '192.0.2.2' })
    expect(warnings).toHaveLength(1)
  })
  await behind('1', async (gateway) => {
    expect(await areSame(gateway, '192.0.2.1', '192.0.2.1')).toBe(true)
    expect(warnings).toEqual([])
  })
})

test('client address with TRUST_PROXY 1 is the last entry of the header', () =>
  behind('1', async (gateway) => {
    expect(await areSame(gateway, '192.0.2.1', '192.0.2.2')).toBe(false)
    expect(await areSame(gateway, '192.0.2.1', '192.0.2.1')).toBe(true)
    // The first entry is the client's own claim.
    expect(await areSame(gateway, '192.0.2.1, 192.0.2.9', '192.0.2.2, 192.0.2.9')).toBe(true)
  }))

test('client address with TRUST_PROXY 2 is the last entry but one of the header', () =>
  behind('2', async (gateway) => {
    expect(await areSame(gateway, '192.0.2.1, 10.0.0.9', '192.0.2.2, 10.0.0.9')).toBe(false)
    expect(await areSame(gateway, '1.1.1.1, 192.0.2.1, 10.0.0.9', '2.2.2.2, 192.0.2.1, 10.0.0.9')).toBe(true)
  }))

test('client address with trusted networks skips their proxies, however many, and no others', () =>
  behind('10.0.0.0/8, 2001:db8::/32', async (gateway) => {
    const proxies = ['10.1.2.3', '2001:db8::7']
    expect(await areSame(gateway, '192.0.2.1', '192.0.2.2', proxies)).toBe(false)
    expect(await areSame(gateway, '192.0.2.1', '192.0.2.1', proxies)).toBe(true)
    expect(await areSame(gateway, '192.0.2.1, 10.4.4.4', '192.0.2.2', ['10.1.2.3', '10.1.2.3'])).toBe(false)
    expect(await areSame(gateway, '192.0.2.1', '192.0.2.2', ['172.16.0.1', '172.16.0.1'])).toBe(true)
  }))

test('client addresses are normalized, and IPv6 clients share a /64', () =>
  behind('1', async (gateway) => {
    expect(await areSame(gateway, '192.0.2.1', '192.0.2.1:4711')).toBe(true)
    expect(await areSame(gateway, '192.0.2.1', '::ffff:192.0.2.1')).toBe(true)
    expect(await areSame(gateway, '2001:db8::1', '[2001:DB8:0:0::1]:4711')).toBe(true)
    expect(await areSame(gateway, '2001:db8:0:1::1', '2001:db8:0:1:ffff::2')).toBe(true)
    expect(await areSame(gateway, '2001:db8:0:1::1', '2001:db8:0:2::1')).toBe(false)
  }))

test('client address with a malformed header is the address of the connection', () =>
  behind('1', async (gateway) => {
    expect(await areSame(gateway, 'unknown', 'hidden')).toBe(true)
    expect(await areSame(gateway, 'a'.repeat(4000), 'b'.repeat(4000))).toBe(true)
    expect(await areSame(gateway, 'unknown', 'unknown', ['127.0.0.1', '127.0.0.2'])).toBe(false)
  }))
