import { asc, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { identifier, isoTime, text } from '../../engine/base/input-types.ts'
import { command } from '../../engine/base/parse.ts'
import { isOrigin } from '../../engine/config/setting-types.ts'
import type { Connection, OpenTables } from '../../engine/database/database.ts'
import { integrationScopes } from './api-key.ts'
import { changeGrant } from './change-grant.ts'
import { loopbackOrigins } from './credentials.ts'
import { issueChannelKey, issueIntegrationKey } from './issue-key.ts'
import {
  issueOrganizationSecret,
  listOrganizationSecrets,
  revokeOrganizationSecret,
} from './organization-secrets.ts'
import { revokeKey } from './revoke-key.ts'
import { channels, grants, integrations, keys, statusOf, timesOf } from './table.ts'

/** Lists all issued keys, oldest first, with owner and status by the database's clock, but no secrets. The names are
 *  those that JSON shows. */
const listKeys = (db: Connection) =>
  db
    .select({
      id: keys.id,
      kind: sql<string>`case when ${keys.integrationId} is not null then 'integration'
        when ${keys.origins} is null then 'channel' else 'publishable' end`,
      status: statusOf(keys),
      mode: keys.mode,
      channel_id: keys.channelId,
      integration_id: keys.integrationId,
      /** True if the integration has a secret (method v1) of its own that is valid. */
      secret_active: sql<boolean>`${integrations.secretHash} is not null`,
      scopes: keys.scopes,
      origins: keys.origins,
      name: sql<string>`coalesce(${channels.name}, ${integrations.name})`,
      /** Organizations whose catalogue or tickets the key currently opens. */
      organization_ids: sql<
        string[]
      >`case when ${keys.integrationId} is not null then array[${integrations.organizationId}] else array(select ${grants.organizationId} from ${grants} where ${grants.channelId} = ${keys.channelId} order by 1) end`,
      ...timesOf(keys),
    })
    .from(keys)
    .leftJoin(channels, eq(channels.id, keys.channelId))
    .leftJoin(integrations, eq(integrations.id, keys.integrationId))
    .orderBy(asc(keys.createdAt), asc(keys.id))

type ListedKey = Awaited<ReturnType<typeof listKeys>>[number]
type ListedSecret = Awaited<ReturnType<typeof listOrganizationSecrets>>[number]

// Commands for keys and grants.

const once = <Type extends z.ZodType>(type: Type) => z.tuple([type], 'must be given once')
const key = { expires: isoTime.optional(), test: z.boolean().optional() }
const scopes = z.array(z.enum(integrationScopes, `must be one of ${integrationScopes.join(', ')}`)).optional()
const origin = z
  .string()
  .refine(
    (origin) => isOrigin(origin) || loopbackOrigins.includes(origin),
    'must be an origin such as https://shop.example',
  )
const all = z.literal(true)
const newChannel = z.strictObject({ name: text(200), organization: z.array(identifier), ...key })
const newChannelOfAll = z.strictObject({ all, name: text(200), ...key })
const existingChannel = z.strictObject({ channel: identifier, ...key })
const newIntegration = z.strictObject({
  name: text(200),
  organization: once(identifier),
  scope: scopes,
  ...key,
})
const existingIntegration = z.strictObject({ integration: identifier, scope: scopes, ...key })
const ofChannel = [existingChannel, newChannelOfAll, newChannel]
const ofIntegration = [existingIntegration, newIntegration]
const publishable = z.strictObject({
  channel: identifier,
  origin: z.array(origin).min(1).max(20, 'must be at most 20 origins'),
  ...key,
})
const grant = z.strictObject({ channel: identifier, organization: once(identifier) })
const grantOfAll = z.strictObject({ all, channel: identifier })
const byId = z.strictObject({ id: once(z.string()) })
// Secrets are those of method v1.
const organizationSecret = z.strictObject({ organization: once(identifier), expires: isoTime.optional() })

const issueOf = ({ expires, test }: { expires?: Date; test?: boolean }) => ({
  expiresAt: expires ?? null,
  mode: test ? ('test' as const) : ('live' as const),
})

const shownOnce = 'It is shown here and never again.'

const issueSecret = command(organizationSecret, async ({ expires, ...of }, open: OpenTables) => {
  const [organizationId] = of.organization
  const issued = await issueOrganizationSecret(await open(), { organizationId, expiresAt: expires })
  return {
    json: { secret_id: issued.secretId, secret: issued.secret },
    text: `Secret id  ${issued.secretId}\nSecret     ${issued.secret}\n\nMethod v1 sends it in the header secret, beside the integration_id of any integration of ${organizationId}. ${shownOnce}`,
  }
})

const revokeSecret = command(byId, async ({ id: [id] }, open: OpenTables) => {
  const isRevoked = await revokeOrganizationSecret(await open(), id)
  return {
    json: { secret_id: id, revoked: isRevoked },
    text: isRevoked ? `Revoked: the secret ${id}.` : 'Already revoked.',
  }
})

const channelKey = ({ channelId, key }: { channelId: string; key: string }, use: string) => ({
  json: { channel_id: channelId, key },
  text: `Channel  ${channelId}\nKey      ${key}\n\n${use}. ${shownOnce}`,
})

const issueToChannel = command(ofChannel, async (options, open: OpenTables) => {
  const owner =
    'channel' in options
      ? { channelId: options.channel }
      : { name: options.name, organizationIds: 'all' in options ? null : options.organization }
  const issued = await issueChannelKey(await open(), { ...owner, ...issueOf(options) })
  return channelKey(issued, 'The key goes in the header X-Api-Key')
})

const issuePublishable = command(publishable, async ({ channel, origin, ...options }, open: OpenTables) => {
  const owner = { channelId: channel, origins: origin }
  const issued = await issueChannelKey(await open(), { ...owner, ...issueOf(options) })
  return channelKey(issued, `The key may stand in pages of ${origin.join(', ')}`)
})

const issueToIntegration = command(ofIntegration, async (options, open: OpenTables) => {
  const owner =
    'integration' in options
      ? { integrationId: options.integration }
      : { name: options.name, organizationId: options.organization[0] }
  const { integrationId, secret, key } = await issueIntegrationKey(await open(), {
    ...owner,
    ...issueOf(options),
    scopes: options.scope,
  })
  return {
    json: { integration_id: integrationId, secret, key },
    text: [
      `Integration  ${integrationId}`,
      `Secret       ${secret ?? '(as before)'}`,
      `Key          ${key}`,
      '',
      `Method v1 sends the headers integration_id and secret, method v2 the key in x-api-key. ${shownOnce}`,
    ].join('\n'),
  }
})

function bodyOf({ channel_id, origins, integration_id, secret_active, scopes, ...key }: ListedKey) {
  const { id, kind, status, mode, ...more } = key
  const owner =
    channel_id === null
      ? { integration_id, secret_active, scopes: scopes ?? integrationScopes }
      : { channel_id, ...(origins && { origins }) }
  return { id, kind, status, mode, ...owner, ...more }
}

const lineOf = ({ id, status, expires_at }: ListedKey | ListedSecret, owner: string, ...more: string[]) =>
  [id, status.padEnd(7), owner, expires_at ? `until ${expires_at.toISOString()}` : '', ...more]
    .filter(Boolean)
    .join('  ')

const keyLineOf = (key: ListedKey) =>
  lineOf(
    key,
    `${key.mode}  ${key.channel_id ?? key.integration_id}  ${key.name} (${key.organization_ids.join(', ') || 'no organization'})`,
    key.secret_active ? 'secret active' : '',
    key.origins ? `for pages of ${key.origins.join(', ')}` : '',
    key.scopes ? `may ${key.scopes.join(', ')}` : '',
  )

const list = command(z.strictObject({}), async (_, open: OpenTables) => {
  const db = await open()
  const keys = await listKeys(db)
  const secrets = await listOrganizationSecrets(db)
  const lines = [
    ...keys.map(keyLineOf),
    ...secrets.map((secret) => lineOf(secret, `secret of ${secret.organization_ids.join()}`)),
  ]
  return { json: [...keys.map(bodyOf), ...secrets], text: lines.join('\n') || 'No keys have been issued.' }
})

const revoke = command(byId, async ({ id: [id] }, open: OpenTables) => {
  const { keyIds, secret } = await revokeKey(await open(), id)
  const revoked = [...keyIds.map((keyId) => `key ${keyId}`), ...(secret ? ['the secret of method v1'] : [])]
  return {
    json: { revoked_keys: keyIds, revoked_secret: secret },
    text: revoked.length > 0 ? `Revoked: ${revoked.join(', ')}.` : 'Already revoked.',
  }
})

const grantCommand = (granted: boolean) =>
  command([grantOfAll, grant], async ({ channel: channelId, ...given }, open: OpenTables) => {
    const organizationId = 'all' in given ? null : given.organization[0]
    const changed = await changeGrant(await open(), { channelId, organizationId, granted })
    const [now, all] = granted ? ['sells', 'all organizations'] : ['does not sell', 'any organization']
    return {
      json: { channel_id: channelId, organization_id: organizationId, granted, changed },
      text: `Channel ${channelId} ${now} for ${organizationId ?? all}${changed ? ' from now on' : ', as before'}.`,
    }
  })

export const authCommands = {
  'key issue channel': issueToChannel,
  'key issue integration': issueToIntegration,
  'key issue publishable': issuePublishable,
  'key issue secret': issueSecret,
  'key list': list,
  // Comes before «key revoke», which would otherwise take «secret» for its argument.
  'key revoke secret': revokeSecret,
  'key revoke': revoke,
  'grant add': grantCommand(true),
  'grant revoke': grantCommand(false),
}
