import { eq } from 'drizzle-orm'
import type { IntegrationScope } from '../../src/domain/caller/api-key.ts'
import { issueChannelKey, issueIntegrationKey } from '../../src/domain/caller/issue-key.ts'
import type { Mode } from '../../src/domain/caller/mode.ts'
import { channels, integrations } from '../../src/domain/caller/table.ts'
import { organizations } from '../../src/domain/organization/table.ts'
import type { Sale } from './sale.ts'

type Headers = Record<string, string>

/** Origin of the pages that the publishable keys of tests are for. */
export const shopOrigin = 'https://shop.example'

/** Identifiers of the channel and of the integration of a sale. */
export async function ownersOf({ db }: Pick<Sale, 'db'>) {
  const [channel] = await db.select().from(channels).where(eq(channels.name, 'Shop')).limit(1)
  const [integration] = await db.select().from(integrations).where(eq(integrations.name, 'Door')).limit(1)
  if (!channel || !integration) throw new Error('a sale has a channel and an integration')
  return { channelId: channel.id, integrationId: integration.id }
}

/** The same sale with other keys of the same channel and the same integration: in test mode. */
export async function inTestMode<Given extends Sale>(sale: Given): Promise<Given> {
  const { channelId, integrationId } = await ownersOf(sale)
  const channel = await issueChannelKey(sale.db, { channelId, mode: 'test' })
  const integration = await issueIntegrationKey(sale.db, { integrationId, mode: 'test' })
  return {
    ...sale,
    channel: { 'x-api-key': channel.key },
    integration: { ...sale.integration, v2: { 'x-api-key': integration.key } },
  }
}

/** Headers of a page of the shop with a publishable key of the sale's channel. */
export async function publishableHeaders(
  sale: Sale,
  { mode = 'live', origins = [shopOrigin] }: { mode?: Mode; origins?: string[] } = {},
): Promise<Headers> {
  const { channelId } = await ownersOf(sale)
  const { key } = await issueChannelKey(sale.db, { channelId, origins, mode })
  return { 'x-api-key': key, origin: origins[0] ?? '' }
}

/** Headers of the sale's integration with a key of these scopes alone. */
export async function scopedHeaders(sale: Sale, ...scopes: IntegrationScope[]): Promise<Headers> {
  const { integrationId } = await ownersOf(sale)
  const { key } = await issueIntegrationKey(sale.db, { integrationId, mode: 'live', scopes })
  return { 'x-api-key': key }
}

/** Id of some organization of the sale. */
export async function organizationOf({ db }: Sale): Promise<string> {
  const [organization] = await db.select().from(organizations).limit(1)
  return organization?.id ?? ''
}
