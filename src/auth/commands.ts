import { asc, eq, getTableColumns, sql } from 'drizzle-orm'
import { z } from 'zod'
import { isOrigin } from '../config/setting-types.ts'
import type { Connection, Database } from '../database/database.ts'
import { identifier, isoTime, text } from '../shared/input-types.ts'
import { command } from '../shared/parse.ts'
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
import { channels, grants, integrations, keys, statusOf } from './table.ts'

const { hash: _, ...shown } = getTableColumns(keys)

/** Lists all issued keys, oldest first, with owner and status by the database's clock, but no secrets. */
const listKeys = (db: Connection) =>
  db
    .select({
      ...shown,
      name: sql<string>`coalesce(${channels.name}, ${integrations.name})`,
      /** Organizations whose catalogue or tickets the key currently opens. */
      organizationIds: sql<
        string[]
      >`case when ${keys.integrationId} is not null then array[${integrations.organizationId}] else array(select ${grants.organizationId} from ${grants} where ${grants.channelId} = ${keys.channelId} order by 1) end`,
      status: statusOf(keys),
      /** True if the integration's secret (method v1) is valid; null for a channel, which has none. */
      secretActive: sql<
        boolean | null
      >`case when ${keys.integrationId} is not null then ${integrations.secretHash} is not null end`,
    })
    .from(keys)
    .leftJoin(channels, eq(channels.id, keys.channelId))
    .leftJoin(integrations, eq(integrations.id, keys.integrationId))
    .orderBy(asc(keys.createdAt), asc(keys.id))

type ListedKey = Awaited<ReturnType<typeof listKeys>>[number]

// Commands for keys and grants.

type Open = () => Promise<Database>

const once = <Type extends z.ZodType>(type: Type) => z.tuple([type], 'must be given once')
const key = { expires: isoTime.optional(), test: z.boolean().optional() }
const scopes = z.array(z.enum(integrationScopes, `must be one of ${integrationScopes.join(', ')}`)).optional()
const origin = z
  .string()
  .refine(
    (origin) => isOrigin(origin) || loopbackOrigins.includes(origin),
    'must be an origin such as https://shop.example',
  )
const newChannel = z.strictObject({ name: text(200), organization: z.array(identifier), ...key })
const existingChannel = z.strictObject({ channel: identifier, ...key })
const newIntegration = z.strictObject({
  name: text(200),
  organization: once(identifier),
  scope: scopes,
  ...key,
})
const existingIntegration = z.strictObject({ integration: identifier, scope: scopes, ...key })
const publishable = z.strictObject({
  channel: identifier,
  origin: z.array(origin).min(1).max(20, 'must be at most 20 origins'),
  ...key,
})
const grant = z.strictObject({ channel: identifier, organization: once(identifier) })
const byId = z.strictObject({ id: once(z.string()) })
// Secrets are those of method v1.
const organizationSecret = z.strictObject({ organization: once(identifier), expires: isoTime.optional() })

const issueOf = ({ expires, test }: { expires?: Date; test?: boolean }) => ({
  expiresAt: expires ?? null,
  mode: test ? ('test' as const) : ('live' as const),
})

const shownOnce = 'It is shown here and never again.'

const issueSecret = command(
  organizationSecret,
  async ({ organization: [organizationId], expires }, open: Open) => {
    const issued = await issueOrganizationSecret(await open(), { organizationId, expiresAt: expires })
    return {
      json: { secret_id: issued.secretId, secret: issued.secret },
      text: `Secret id  ${issued.secretId}\nSecret     ${issued.secret}\n\nMethod v1 sends it in the header secret, beside the integration_id of any integration of ${organizationId}. ${shownOnce}`,
    }
  },
)

const revokeSecret = command(byId, async ({ id: [id] }, open: Open) => {
  const isRevoked = await revokeOrganizationSecret(await open(), id)
  return {
    json: { secret_id: id, revoked: isRevoked },
    text: isRevoked ? `Revoked: the secret ${id}.` : 'Already revoked.',
  }
})

type ListedSecret = Awaited<ReturnType<typeof listOrganizationSecrets>>[number]

const timesOf = ({ createdAt, expiresAt, revokedAt }: ListedKey | ListedSecret) => ({
  created_at: createdAt,
  expires_at: expiresAt,
  revoked_at: revokedAt,
})

const secretBodyOf = (secret: ListedSecret) => ({
  id: secret.id,
  kind: 'secret',
  status: secret.status,
  organization_ids: [secret.organizationId],
  ...timesOf(secret),
})

const lineOf = ({ id, status, expiresAt }: ListedKey | ListedSecret, owner: string, ...more: string[]) =>
  [id, status.padEnd(7), owner, expiresAt ? `until ${expiresAt.toISOString()}` : '', ...more]
    .filter(Boolean)
    .join('  ')

const channelKey = ({ channelId, key }: { channelId: string; key: string }, use: string) => ({
  json: { channel_id: channelId, key },
  text: `Channel  ${channelId}\nKey      ${key}\n\n${use}. ${shownOnce}`,
})

const issueToChannel = command(
  (input) => ('channel' in input ? existingChannel : newChannel),
  async (options, open: Open) => {
    const owner =
      'channel' in options
        ? { channelId: options.channel }
        : { name: options.name, organizationIds: options.organization }
    const issued = await issueChannelKey(await open(), { ...owner, ...issueOf(options) })
    return channelKey(issued, 'The key goes in the header X-Api-Key')
  },
)

const issuePublishable = command(publishable, async ({ channel, origin, ...options }, open: Open) => {
  const owner = { channelId: channel, origins: origin }
  const issued = await issueChannelKey(await open(), { ...owner, ...issueOf(options) })
  return channelKey(issued, `The key may stand in pages of ${origin.join(', ')}`)
})

const issueToIntegration = command(
  (input) => ('integration' in input ? existingIntegration : newIntegration),
  async (options, open: Open) => {
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
  },
)

const kindOf = (key: ListedKey) =>
  key.integrationId !== null ? 'integration' : key.origins === null ? 'channel' : 'publishable'

const bodyOf = (key: ListedKey) => ({
  id: key.id,
  kind: kindOf(key),
  status: key.status,
  mode: key.mode,
  ...(key.channelId === null
    ? {
        integration_id: key.integrationId,
        secret_active: key.secretActive,
        scopes: key.scopes ?? integrationScopes,
      }
    : { channel_id: key.channelId, ...(key.origins && { origins: key.origins }) }),
  name: key.name,
  organization_ids: key.organizationIds,
  ...timesOf(key),
})

const keyLineOf = (key: ListedKey) =>
  lineOf(
    key,
    `${key.mode}  ${key.channelId ?? key.integrationId}  ${key.name} (${key.organizationIds.join(', ') || 'no organization'})`,
    key.secretActive ? 'secret active' : '',
    key.origins ? `for pages of ${key.origins.join(', ')}` : '',
    key.scopes ? `may ${key.scopes.join(', ')}` : '',
  )

const list = command(z.strictObject({}), async (_, open: Open) => {
  const db = await open()
  const keys = await listKeys(db)
  const secrets = await listOrganizationSecrets(db)
  const lines = [
    ...keys.map(keyLineOf),
    ...secrets.map((secret) => lineOf(secret, `secret of ${secret.organizationId}`)),
  ]
  return {
    json: [...keys.map(bodyOf), ...secrets.map(secretBodyOf)],
    text: lines.join('\n') || 'No keys have been issued.',
  }
})

const revoke = command(byId, async ({ id: [id] }, open: Open) => {
  const { keyIds, secret } = await revokeKey(await open(), id)
  const revoked = [...keyIds.map((keyId) => `key ${keyId}`), ...(secret ? ['the secret of method v1'] : [])]
  return {
    json: { revoked_keys: keyIds, revoked_secret: secret },
    text: revoked.length > 0 ? `Revoked: ${revoked.join(', ')}.` : 'Already revoked.',
  }
})

const grantCommand = (granted: boolean) =>
  command(grant, async ({ channel: channelId, organization: [organizationId] }, open: Open) => {
    const changed = await changeGrant(await open(), { channelId, organizationId, granted })
    const now = granted ? 'sells' : 'does not sell'
    return {
      json: { channel_id: channelId, organization_id: organizationId, granted, changed },
      text: `Channel ${channelId} ${now} for ${organizationId}${changed ? ' from now on' : ', as before'}.`,
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
