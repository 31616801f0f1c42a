import { serverAudits } from 'graphql-http'
import { expect, test } from 'vitest'
import { shared, startGateway } from '../../support/harness.ts'

const gateway = shared(() => startGateway({ listen: true }))

// The audits of the GraphQL over HTTP specification, run without credentials.
const audits = serverAudits({ url: () => `${gateway.url}/graphql`, fetchFn: fetch })

test('GraphQL over HTTP has 61 audits', () => {
  expect(audits).toHaveLength(61)
})

test.each(audits.map((audit) => [audit.id, audit.name, audit] as const))(
  'GraphQL over HTTP audit %s: %s',
  async (_id, _name, audit) => {
    expect(await audit.fn()).toMatchObject({ status: 'ok' })
  },
)
