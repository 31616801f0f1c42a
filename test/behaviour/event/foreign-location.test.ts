import { expect, test } from 'vitest'
import { aLocation, anEvent, anOrganization, channelHeaders } from '../../support/factories.ts'
import { openSale } from '../../support/sale.ts'

test('a location of an organization that did not grant the channel is shown with the event alone', async () => {
  const sale = await openSale({
    organizations: [anOrganization({ _id: 'org_1' }), anOrganization({ _id: 'org_2' })],
    locations: [
      aLocation({ _id: 'loc_1', organization_id: 'org_1' }),
      aLocation({ _id: 'loc_2', organization_id: 'org_2' }),
    ],
    events: [
      anEvent({ _id: 'evt_1', organization_id: 'org_2', location_id: 'loc_1' }),
      anEvent({ _id: 'evt_2', organization_id: 'org_2', location_id: 'loc_2' }),
    ],
  })
  const channel = await channelHeaders(sale.db, 'org_2')
  const query = '{ node(id: "loc_1") { id } events { nodes { id location { id organization { id } } } } }'
  const { data, errors } = await sale.graphql(query, {}, channel)
  expect(errors).toBeUndefined()
  expect(data).toEqual({
    node: null,
    events: {
      nodes: expect.arrayContaining([
        { id: 'evt_1', location: { id: 'loc_1', organization: { id: 'org_1' } } },
        { id: 'evt_2', location: { id: 'loc_2', organization: { id: 'org_2' } } },
      ]),
    },
  })
  await sale.close()
})
