import { eq, sql } from 'drizzle-orm'
import { newApiKey } from '../../../src/domain/caller/api-key.ts'
import { changeGrant } from '../../../src/domain/caller/change-grant.ts'
import { issueChannelKey, issueIntegrationKey } from '../../../src/domain/caller/issue-key.ts'
import type { Mode } from '../../../src/domain/caller/mode.ts'
import { revokeKey } from '../../../src/domain/caller/revoke-key.ts'
import { keys } from '../../../src/domain/caller/table.ts'
import type { Database } from '../../../src/engine/database/database.ts'

export type Headers = Record<string, string>

/** A sender of requests. `principal` owns what it creates; it is null without credentials. */
export type Caller = {
  name: string
  headers: Headers
  kind: 'channel' | 'integration' | 'publishable' | null
  principal: string | null
  /** Channel that the credentials are of, also those of its pages. */
  channel: string | null
  /** Mode of what it sells and sees. */
  mode: Mode
  /** Organizations whose catalogue it may see at the moment. */
  organizations: string[]
  /** Organizations that it has sold for. A sold ticket leads to its event and rate for ever. */
  soldFor: string[]
}

const keyIdOf = (key: string) => key.split('_')[2] ?? ''

async function aChannel(db: Database, name: string, organizations: string[]): Promise<Caller> {
  const issued = await issueChannelKey(db, { name, organizationIds: organizations, mode: 'live' })
  return {
    name,
    headers: { 'x-api-key': issued.key },
    kind: 'channel',
    principal: issued.channelId,
    channel: issued.channelId,
    mode: 'live',
    organizations,
    soldFor: organizations,
  }
}

// Keys of the same channel in test mode, and of a page, whose `principal` is null because it sees no sale.
async function otherKeysOf(db: Database, { principal, organizations }: Caller) {
  const channelId = principal ?? ''
  const tested = await issueChannelKey(db, { channelId, mode: 'test' })
  const origin = 'https://page.example'
  const page = await issueChannelKey(db, { channelId, origins: [origin], mode: 'live' })
  return {
    tester: {
      name: 'tester',
      headers: { 'x-api-key': tested.key },
      kind: 'channel',
      principal,
      channel: principal,
      mode: 'test',
      organizations,
      soldFor: organizations,
    },
    page: {
      name: 'page',
      headers: { 'x-api-key': page.key, origin },
      kind: 'publishable',
      principal: null,
      channel: principal,
      mode: 'live',
      organizations,
      soldFor: [],
    },
  } satisfies Record<string, Caller>
}

async function anIntegration(db: Database, name: string, organization: string) {
  const issued = await issueIntegrationKey(db, { name, organizationId: organization, mode: 'live' })
  const v1 = { integration_id: issued.integrationId, secret: issued.secret ?? '' }
  const v2 = { 'x-api-key': issued.key }
  const caller = (method: string, headers: Headers): Caller => ({
    name: `${name}${method}`,
    headers,
    kind: 'integration',
    principal: issued.integrationId,
    channel: null,
    mode: 'live',
    organizations: [organization],
    soldFor: [],
  })
  return { v1: caller('V1', v1), v2: caller('', v2), both: caller('Both', { ...v1, ...v2 }) }
}

// The same integration in test mode.
async function inTestMode(db: Database, integration: Caller, name: string): Promise<Caller> {
  const integrationId = integration.principal ?? ''
  const { key } = await issueIntegrationKey(db, { integrationId, mode: 'test' })
  return { ...integration, name, headers: { 'x-api-key': key }, mode: 'test' }
}

/** Opens callers of every kind. `lapsed` keeps its grant until `lapse` is called, so that it has past sales
 *  to read. */
export async function openCallers(db: Database) {
  const callers = await issueCallers(db)
  const { lapsed } = callers
  return {
    callers,
    async lapse() {
      const channelId = lapsed.principal ?? ''
      await changeGrant(db, { channelId, organizationId: 'org_1', granted: false })
      lapsed.organizations = []
    },
    bad: await badCredentials(db, callers),
  }
}

async function issueCallers(db: Database) {
  const lapsed = await aChannel(db, 'lapsed', ['org_1'])
  const door = await anIntegration(db, 'door', 'org_1')
  const side = await anIntegration(db, 'side', 'org_1')
  const far = await anIntegration(db, 'far', 'org_2')
  const shop = await aChannel(db, 'shop', ['org_1'])
  return {
    shop,
    ...(await otherKeysOf(db, shop)),
    rival: await aChannel(db, 'rival', ['org_1']),
    foreign: await aChannel(db, 'foreign', ['org_2']),
    ungranted: await aChannel(db, 'ungranted', []),
    lapsed,
    door: door.v2,
    doorV1: door.v1,
    doorBoth: door.both,
    testDoor: await inTestMode(db, door.v2, 'testDoor'),
    side: side.v2,
    far: far.v2,
    nobody: {
      ...{ name: 'nobody', headers: {}, kind: null, principal: null, channel: null },
      ...{ mode: 'live', organizations: [], soldFor: [] },
    },
  } satisfies Record<string, Caller>
}

export type Callers = Awaited<ReturnType<typeof issueCallers>>

const keyOf = ({ headers }: Caller) => headers['x-api-key'] ?? ''
const flipLast = (text: string) => `${text.slice(0, -1)}${text.endsWith('a') ? 'b' : 'a'}`

export const badCredentialNames = [
  'a malformed key',
  'an unknown key',
  'a revoked key',
  'an expired key',
  'a key of the other mode',
  'a wrong secret',
  'the secret of a revoked integration',
  'the key of a revoked integration',
  'half of method v1',
  'v1 and v2 of two organizations',
  'a good key and a wrong secret',
  'an unknown key and a good secret',
  'a channel’s key and a secret of an organization that it does not sell for',
] as const
type BadCredentials = Record<(typeof badCredentialNames)[number], Headers>

/** Every kind of bad credentials, built from parts that are valid elsewhere. Each must get a 401. */
async function badCredentials(db: Database, callers: Callers): Promise<BadCredentials> {
  const { shop, foreign, door, doorV1, far } = callers
  const anotherKey = async () =>
    (await issueChannelKey(db, { channelId: shop.principal ?? '', mode: 'live' })).key
  const revoked = await anotherKey()
  await revokeKey(db, revoked)
  const expired = await anotherKey()
  await db
    .update(keys)
    .set({ expiresAt: sql`now()` })
    .where(eq(keys.id, keyIdOf(expired)))
  const gone = await anIntegration(db, 'gone', 'org_1')
  await revokeKey(db, gone.v1.principal ?? '')
  return {
    'a malformed key': { 'x-api-key': flipLast(keyOf(shop)) },
    'an unknown key': { 'x-api-key': newApiKey('live').key },
    'a revoked key': { 'x-api-key': revoked },
    'an expired key': { 'x-api-key': expired },
    'a key of the other mode': { 'x-api-key': keyOf(shop).replace('_live_', '_test_') },
    'a wrong secret': { ...doorV1.headers, secret: 'x'.repeat(43) },
    'the secret of a revoked integration': gone.v1.headers,
    'the key of a revoked integration': gone.v2.headers,
    'half of method v1': { secret: doorV1.headers.secret ?? '' },
    'v1 and v2 of two organizations': { ...doorV1.headers, ...far.headers },
    'a good key and a wrong secret': { ...doorV1.headers, ...door.headers, secret: 'x' },
    'an unknown key and a good secret': { ...doorV1.headers, 'x-api-key': newApiKey('live').key },
    'a channel’s key and a secret of an organization that it does not sell for': {
      ...doorV1.headers,
      ...foreign.headers,
    },
  }
}
