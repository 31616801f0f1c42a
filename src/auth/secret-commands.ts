import { z } from 'zod'
import type { Database } from '../database/database.ts'
import { identifier, moment, parse } from '../shared/input-types.ts'
import {
  issueOrganizationSecret,
  type listOrganizationSecrets,
  revokeOrganizationSecret,
} from './organization-secrets.ts'

// Commands for secrets of organizations (method v1).

type Open = () => Promise<Database>

const shownOnce = 'It is shown here and never again.'
const organizationSecret = z.strictObject({
  organization: z.tuple([identifier], 'must be given once'),
  expires: moment.optional(),
})
const byId = z.strictObject({ id: z.tuple([z.string()], 'must be given once') })

/** `key issue secret` */
export function issueSecret(input: object) {
  const { organization, expires } = parse(organizationSecret, input)
  const [organizationId] = organization
  return async (open: Open) => {
    const issued = await issueOrganizationSecret(await open(), { organizationId, expiresAt: expires ?? null })
    return {
      json: { secret_id: issued.secretId, secret: issued.secret },
      text: `Secret id  ${issued.secretId}\nSecret     ${issued.secret}\n\nMethod v1 sends it in the header secret, beside the integration_id of any integration of ${organizationId}. ${shownOnce}`,
    }
  }
}

/** `key revoke secret` */
export function revokeSecret(input: object) {
  const [id] = parse(byId, input).id
  return async (open: Open) => {
    const isRevoked = await revokeOrganizationSecret(await open(), id)
    return {
      json: { secret_id: id, revoked: isRevoked },
      text: isRevoked ? `Revoked: the secret ${id}.` : 'Already revoked.',
    }
  }
}

type ListedSecret = Awaited<ReturnType<typeof listOrganizationSecrets>>[number]

/** A secret as `key list --json` shows it. */
export const secretBodyOf = (secret: ListedSecret) => ({
  id: secret.id,
  kind: 'secret',
  status: secret.status,
  organization_ids: [secret.organizationId],
  created_at: secret.createdAt.toISOString(),
  expires_at: secret.expiresAt?.toISOString() ?? null,
  revoked_at: secret.revokedAt?.toISOString() ?? null,
})

/** A secret as `key list` shows it. */
export const secretLineOf = ({ id, status, organizationId, expiresAt }: ListedSecret) =>
  [id, status.padEnd(7), 'secret of', organizationId, expiresAt ? ` until ${expiresAt.toISOString()}` : '']
    .filter(Boolean)
    .join(' ')
