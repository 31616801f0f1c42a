// Runs in: pglite, postgres

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { demoCatalogue } from '../../../examples/shop/src/demo/catalogue.ts'
import { grants } from '../../../src/domain/caller/table.ts'
import { commandRunner } from '../../support/commands.ts'
import { aCatalogue, anEvent, anOrganization, aPrice, aRate } from '../../support/factories.ts'
import { createTestDatabase, openTestDatabase, shared, startGateway } from '../../support/harness.ts'
import { runCli } from '../../support/processes.ts'

// Effects of each command, run in this process.

let folder: string
const gateway = shared(startGateway)
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-cli-'))
  const organizations = [anOrganization(), anOrganization({ _id: 'org_2' })]
  await succeed('import', await fileOf(aCatalogue({ organizations })))
})
afterAll(() => rm(folder, { recursive: true }))

const { succeed, json, fail } = commandRunner(() => gateway.database)

let files = 0
async function fileOf(content: unknown): Promise<string> {
  files += 1
  const file = join(folder, `${files}.json`)
  await writeFile(
    file,
    typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content),
  )
  return file
}

type Headers = Record<string, string>

/** Returns the statuses of these requests. */
const statusesOf = (...requests: [url: string, headers: Headers][]): Promise<number[]> =>
  Promise.all(
    requests.map(async ([url, headers]) => (await gateway.rest('GET', url, { headers })).statusCode),
  )

type ChannelKey = { channel_id: string; key: string }
type IntegrationKey = { integration_id: string; secret: string | null; key: string }

const issueToChannel = () =>
  json<ChannelKey>('key', 'issue', 'channel', '--name', 'Shop', '--organization', 'org_1')

test('cli import writes the file and prints a summary', async () => {
  const file = await fileOf({
    events: [anEvent({ ticket_rates: [aRate({ prices: [aPrice(), aPrice()] })] })],
  })
  const output = await succeed('import', file)
  expect(output).toMatch(/^events +1 added$/m)
  expect(output).toMatch(/^prices +2 added$/m)
  expect(await json('import', file)).toMatchObject({
    events: { added: 0, updated: 0, unchanged: 1, removed: 0 },
    ticket_rates: { unchanged: 1 },
    stock: { unchanged: 3 },
  })
})

test('cli import --plan prints what would change, with warnings, and changes nothing', async () => {
  const [rate, event] = [aRate({ _id: 'rate_plan', max: 4 }), anEvent({ _id: 'evt_plan' })]
  const added = await fileOf({ events: [{ ...event, ticket_rates: [rate] }] })
  expect(await succeed('import', '--plan', added)).toMatch(/^ADD ticket rate rate_plan \(entrance\)$/m)
  await succeed('import', added)
  const changed = await fileOf({ events: [{ ...event, ticket_rates: [{ ...rate, max: null }] }] })
  const output = await succeed('import', changed, '--plan')
  expect(output).toMatch(/^CHANGE ticket rate rate_plan \(entrance\): max 4 → null$/m)
  expect(output).toMatch(/^LIMIT_LIFTED ticket rate rate_plan \(entrance\): max 4 → null$/m)
  expect(await json('import', changed, '--plan')).toMatchObject({
    ticket_rates: { updated: 1 },
    changes: [{ action: 'CHANGE', id: 'rate_plan', fields: [{ field: 'max', from: 4, to: null }] }],
    warnings: [{ code: 'LIMIT_LIFTED', id: 'rate_plan' }],
  })
  expect(await json('import', added)).toMatchObject({ ticket_rates: { unchanged: 1 }, warnings: [] })
})

test('cli import of a bad file prints one error a line', async () => {
  const file = await fileOf({
    events: [{ ...anEvent(), name: '' }],
    organizations: [{ _id: 'org_3', name: 'New' }],
  })
  expect(await fail('import', file, '--json')).toEqual({
    code: 1,
    errors: [
      'Refused, and nothing is changed:',
      'organizations.0.currency: This field is required.',
      'events.0.name: name must not be empty.',
    ].join('\n  '),
  })
})

test.each([
  ['missing', null, /ENOENT/],
  ['not JSON', '{', /can't be read as JSON/],
  ['not UTF-8', Buffer.from('{"organizations":[{"name":"\xd1"}]}', 'latin1'), /utf-8/],
])('cli import of a file that is %s fails on one line', async (_, content, expected) => {
  const { code, errors } = await fail(
    'import',
    content === null ? join(folder, 'none') : await fileOf(content),
  )
  expect(code).toBe(1)
  expect(errors).toMatch(expected)
  expect(errors).not.toContain('\n')
})

test('cli import writes the demo catalogue', async () => {
  expect(await json('import', await fileOf(demoCatalogue({ events: 3 })))).toMatchObject({
    events: { added: 3 },
    ticket_rates: { added: 12 },
  })
})

test('cli key issue channel: two keys of one channel work side by side', async () => {
  const several = await json<ChannelKey>(
    ...[
      'key',
      'issue',
      'channel',
      '--name',
      'Shop',
      '--organization',
      'org_1',
      'org_2',
      '--organization',
      'org_1',
    ],
  )
  expect(Object.keys(several)).toEqual(['channel_id', 'key'])
  const another = await json<ChannelKey>('key', 'issue', 'channel', '--channel', several.channel_id, '--test')
  expect(another.channel_id).toBe(several.channel_id)
  expect(another.key).toMatch(/^box_test_/)
  const both: [string, Headers][] = [several, another].map(({ key }) => ['/events', { 'x-api-key': key }])
  expect(await statusesOf(...both)).toEqual([200, 200])
  await succeed('key', 'revoke', several.key)
  expect(await statusesOf(...both)).toEqual([401, 200])
})

test('cli key issue integration: another key leaves the secret as it is', async () => {
  const issued = await json<IntegrationKey>(
    ...[
      'key',
      'issue',
      'integration',
      '--name',
      'Door',
      '--organization',
      'org_1',
      '--expires',
      '2099-01-01',
    ],
  )
  expect(Object.keys(issued)).toEqual(['integration_id', 'secret', 'key'])
  const { integration_id, secret } = issued
  const another = await json<IntegrationKey>('key', 'issue', 'integration', '--integration', integration_id)
  expect(another).toEqual({ integration_id, secret: null, key: expect.stringMatching(/^box_live_/) })
  const url = '/integrations/tickets/tkt_none'
  const both: [string, Headers][] = [
    [url, { integration_id, secret: secret ?? '' }],
    [url, { 'x-api-key': another.key }],
  ]
  expect(await statusesOf(...both)).toEqual([404, 404])
  expect(await json('key', 'revoke', integration_id)).toMatchObject({
    revoked_keys: [expect.any(String), expect.any(String)],
    revoked_secret: true,
  })
  expect(await statusesOf(...both)).toEqual([401, 401])
})

test('cli key revoke takes a key id, a key or a channel', async () => {
  const first = await issueToChannel()
  const second = await json<ChannelKey>('key', 'issue', 'channel', '--channel', first.channel_id)
  const [id, other] = [first, second].map(({ key }) => key.split('_')[2] ?? '')
  const revoke = (name = '') => json('key', 'revoke', name)
  expect(await revoke(id)).toEqual({ revoked_keys: [id], revoked_secret: false })
  expect(await revoke(first.key)).toEqual({ revoked_keys: [], revoked_secret: false })
  expect(await revoke(first.channel_id)).toEqual({ revoked_keys: [other], revoked_secret: false })
})

test('cli key list shows no secret', async () => {
  const { key } = await issueToChannel()
  const { secret, key: other } = await json<IntegrationKey>(
    ...['key', 'issue', 'integration', '--name', 'Door', '--organization', 'org_2'],
  )
  for (const listed of [await succeed('key', 'list'), await succeed('key', 'list', '--json')]) {
    expect(listed).toContain(key.split('_')[2])
    for (const shown of [key, other, secret ?? '']) expect(listed).not.toContain(shown.slice(-20))
  }
})

test('cli grant add and revoke change the organizations of a channel', async () => {
  const { channel_id } = await issueToChannel()
  const change = (what: string) => succeed('grant', what, '--channel', channel_id, '--organization', 'org_2')
  expect(await change('add')).toBe(`Channel ${channel_id} sells for org_2 from now on.`)
  expect(await change('add')).toBe(`Channel ${channel_id} sells for org_2, as before.`)
  const listed = await json<{ channel_id?: string; organization_ids: string[] }[]>('key', 'list')
  const ours = listed.find((key) => key.channel_id === channel_id)
  expect(ours).toMatchObject({ status: 'active', name: 'Shop', organization_ids: ['org_1', 'org_2'] })
  expect(await change('revoke')).toBe(`Channel ${channel_id} does not sell for org_2 from now on.`)
})

test('cli names all organizations that there are now by --all, also thousands', async () => {
  const opened = await openTestDatabase()
  onTestFinished(() => opened.close())
  const { json, succeed } = commandRunner(() => opened)
  const found = (from: number, to: number) =>
    opened.db.execute(sql`insert into organizations (id, name, slug, currency, decimals)
      select 'org_' || n, 'Club ' || n, 'club-' || n, 'EUR', 2 from generate_series(${from}::integer, ${to}::integer) as n`)
  await found(1, 10_000)
  const issued = await json<ChannelKey>('key', 'issue', 'channel', '--name', 'Portal', '--all')
  const granted = () => opened.db.$count(grants, eq(grants.channelId, issued.channel_id))
  expect(await granted()).toBe(10_000)
  const change = (what: string) => succeed('grant', what, '--channel', issued.channel_id, '--all')
  expect(await change('add')).toBe(`Channel ${issued.channel_id} sells for all organizations, as before.`)
  await found(10_001, 10_001)
  expect(await granted()).toBe(10_000)
  expect(await change('add')).toContain('sells for all organizations from now on')
  expect(await granted()).toBe(10_001)
  expect(await change('revoke')).toContain('does not sell for any organization from now on')
  expect(await granted()).toBe(0)
})

test.each([
  ['key issue channel --organization org_1 --name x --expires 2020-01-01', 'expires must be in the future.'],
  ['key issue channel --organization org_1 org_9 --name x', 'There is no organization org_9.'],
  ['key revoke nobody', 'There is no key, channel or integration of that id.'],
  ['key issue channel --channel chn_9', 'There is no channel chn_9.'],
  ['key issue integration --integration int_9', 'There is no integration int_9.'],
  ['grant add --channel chn_9 --organization org_1', 'There is no channel chn_9.'],
])('cli %s fails with its reason', async (args, errors) => {
  expect(await fail(...args.split(' '))).toEqual({ code: 1, errors })
})

// Each command with a word or an identifier that leads nowhere; a person of whom nothing is held is an answer.
test.each([
  ...[
    'deliveries retry nix',
    'deliveries list nix',
    'deliveries list --status nix',
    'deliveries retry --all nix',
  ],
  ...['key list nix', 'key revoke nix', 'key revoke secret nix', 'key issue secret --organization nix'],
  ...['key issue channel --channel nix', 'key issue channel --name A --organization nix'],
  ...['key issue integration --integration nix', 'key issue integration --name A --organization nix'],
  'key issue publishable --channel nix --origin https://shop.example',
  ...['grant add --channel CHANNEL --organization nix', 'grant revoke --channel CHANNEL --organization nix'],
  ...['erase --ticket nix', 'erase nix --email ana@example.com', 'export-person nix --email ana@example.com'],
  ...['doctor nix', 'verify nix', 'migrate nix', 'distribute nix', 'import nix', 'restore nix'],
  ...['import nix --schema', 'backup nix nix', 'nix'],
])('cli %s does not end with 0', async (line) => {
  const { channel_id } = await issueToChannel()
  const { code, errors } = await fail(...line.replace('CHANNEL', channel_id).split(' '))
  expect(code).toBeGreaterThan(0)
  expect(errors).not.toBe('')
})

test('cli on a database not migrated fails, or migrates PGlite', async () => {
  const empty = await createTestDatabase({ empty: true })
  const cli = (...args: string[]) => runCli(args, empty.settings)
  const noKey = { code: 0, output: 'No keys have been issued.\n', errors: '' }
  const refused = {
    code: 1,
    output: '',
    errors: 'The tables are missing or not up to date: run npm run migrate (42P01)\n',
  }
  const isEmbedded = !empty.settings.DATABASE_URL
  try {
    expect(await cli('key', 'list')).toEqual(isEmbedded ? noKey : refused)
    expect((await cli('migrate')).output).toBe('The tables are up to date.\n')
    if (!isEmbedded) expect(await cli('key', 'list')).toEqual(noKey)
  } finally {
    await empty.drop()
  }
})
