import { expect, test } from 'vitest'
import { isPublicAddress, literalAddress } from '../../src/domain/webhook/send/public-address.ts'

test.each([
  '8.8.8.8',
  '93.184.216.34',
  '172.32.0.1',
  '192.167.255.255',
  '100.128.0.1',
  '2606:4700::1111',
  '2a00:1450:4003::200e',
])('%s is a public address', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

test.each([
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254'],
  ...['172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1', '192.168.1.1', '198.18.0.1', '198.51.100.1'],
  ...['203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...[
    '::',
    '::1',
    '::7f00:1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:0:127.0.0.1',
    'fe80::1',
    'fe80::1%eth0',
  ],
  ...[
    'fc00::1',
    'fd12:3456::1',
    'fec0::1',
    'ff02::1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::7f00:1',
    '2002:7f00:1::',
  ],
  ...['2001::1', '2001:db8::1', '100::1', '3fff::1', '5f00::1'],
  ...['', 'localhost', '127.0.0.1.nip.io', '1.2.3'],
])('%s is not a public address', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

// Every spelling of an IP address in a URL is normalized before the check.
test.each([
  ['http://127.0.0.1/', '127.0.0.1'],
  ['http://2130706433/', '127.0.0.1'],
  ['http://0x7f.1/', '127.0.0.1'],
  ['http://0177.0.0.1/', '127.0.0.1'],
  ['http://127.0.0.1./', '127.0.0.1'],
  ['http://１２７.0.0.1/', '127.0.0.1'],
  ['http://[::1]/', '::1'],
  ['http://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
  ['http://receiver.example/', null],
])('%s contains the literal address %s', (url, address) => {
  expect(literalAddress(new URL(url))).toBe(address)
})
