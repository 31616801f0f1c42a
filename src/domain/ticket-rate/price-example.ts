import type { z } from 'zod'
import { exampleIds } from '../../rest/openapi/example-ids.ts'
import type { priceBody } from './body.ts'

/** Price in the examples of the documentation. */
export const priceExample: z.output<typeof priceBody> = {
  _id: exampleIds.priceId,
  name: 'Regular',
  price: 20,
  valid_until: '2026-12-30T20:00:00.000Z',
  quantity: 0,
  includes: 'One entrance',
  additional_info: null,
  fee_type: 'percentage',
  fee_quantity: 8,
}
