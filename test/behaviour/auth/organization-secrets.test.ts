import { afterEach, beforeEach, expect, test } from 'vitest'
import { Credentials, isListedValid } from '../../../src/domain/caller/credentials.ts'
import { issueIntegrationKey } from '../../../src/domain/caller/issue-key.ts'
import {
  issueOrganizationSecret,
  listOrganizationSecrets,
  revokeOrganizationSecret,
} from '../../../src/domain/caller/organization-secrets.ts'
import { revokeKey } from '../../../src/domain/caller/revoke-key.ts'
import { aCatalogueOfTwo, inDays } from '../../support/factories.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { aHeldTicket } from '../../support/tickets.ts'

// Secrets of method v1 that an organization has.

let sale: Sale
let ticketId: string
let others: string[]
beforeEach(async () => {
  sale = await openSale(aCatalogueOfTwo(10))
  ticketId = (await aHeldTicket(sale)).id
  const another = (name: string, organizationId: string) =>
    issueIntegrationKey(sale.db, { name, organizationId, mode: 'live' })
  others = [(await another('Bar', 'org_1')).integrationId, (await another('Far', 'org_2')).integrationId]
})
afterEach(() => sale.close())

const issue = (organizationId = 'org_1') => issueOrganizationSecret(sale.db, { organizationId })
const lookUp = async (integration_id: string, secret: string) =>
  (await sale.rest('GET', `/integrations/tickets/${ticketId}`, { headers: { integration_id, secret } }))
    .statusCode

test('a secret of an organization is good with each of its integrations, and with no other', async () => {
  const { secret } = await issue()
  const [bar = '', far = ''] = others
  const door = sale.integration.v1.integration_id ?? ''
  expect([await lookUp(door, secret), await lookUp(bar, secret), await lookUp(far, secret)]).toEqual([
    200, 200, 401,
  ])
  expect(await lookUp('int_absent', secret)).toBe(401)
})

test('a secret of one integration stays good with that one alone', async () => {
  await issue()
  const { integration_id = '', secret = '' } = sale.integration.v1
  expect([await lookUp(integration_id, secret), await lookUp(others[0] ?? '', secret)]).toEqual([200, 401])
})

test('two secrets live side by side, and each is revoked by itself', async () => {
  const [old, fresh] = [await issue(), await issue()]
  const bar = others[0] ?? ''
  expect([await lookUp(bar, old.secret), await lookUp(bar, fresh.secret)]).toEqual([200, 200])
  await expect(issue()).rejects.toThrow('revoke one of them first')
  expect(await revokeOrganizationSecret(sale.db, old.secretId)).toBe(true)
  expect(await revokeOrganizationSecret(sale.db, old.secretId)).toBe(false)
  expect([await lookUp(bar, old.secret), await lookUp(bar, fresh.secret)]).toEqual([401, 200])
  const listed = await listOrganizationSecrets(sale.db)
  expect(listed.map(({ id, status }) => [id, status])).toEqual([
    [old.secretId, 'revoked'],
    [fresh.secretId, 'active'],
  ])
  expect(JSON.stringify(listed)).not.toContain(fresh.secret)
  await issue()
})

test('a third secret at once is refused, however many ask', async () => {
  const made = await Promise.allSettled(Array.from({ length: 5 }, () => issue()))
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
})

test('no secret of the organization is good with a revoked integration', async () => {
  const { secret } = await issue()
  const bar = others[0] ?? ''
  await revokeKey(sale.db, bar)
  expect(await lookUp(bar, secret)).toBe(401)
  const { integration_id = '' } = sale.integration.v1
  expect(await lookUp(integration_id, secret)).toBe(200)
})

test('an expired secret is refused, and cannot be issued', async () => {
  const past = { organizationId: 'org_1', expiresAt: new Date(inDays(-1)) }
  await expect(issueOrganizationSecret(sale.db, past)).rejects.toThrow('must be in the future')
  await expect(issue('org_absent')).rejects.toThrow('There is no organization org_absent.')
})

test('a secret is known to be worth authenticating, and a lookup by it takes two statements', async () => {
  const { secret, secretId } = await issue()
  const headers = { integration_id: others[0] ?? '', secret }
  const isKnown = () => isListedValid(sale.db, new Credentials(headers))
  expect(await isKnown()).toBe(true)
  await lookUp(headers.integration_id, secret)
  sale.statements.reset()
  await lookUp(headers.integration_id, secret)
  // As before: one that authenticates, and one that reads the ticket.
  expect(sale.statements).toHaveLength(2)
  await revokeOrganizationSecret(sale.db, secretId)
  expect(await isKnown()).toBe(false)
})
