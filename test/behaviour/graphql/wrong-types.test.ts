import { isScalarType, isSpecifiedScalarType } from 'graphql'
import { beforeAll, describe, expect, test } from 'vitest'
import { schema } from '../../../src/app/schema.ts'
import { aRateOf } from '../../support/factories.ts'
import { type ArgumentPlace, argumentPlaces } from '../../support/fuzz/text-places.ts'
import { sharedSale } from '../../support/sale.ts'

// Values of every other type of JSON, wherever a scalar of ours is an input.

const values: unknown[] = [
  ...[true, false, 0, 7, -1.5, 1e300, {}, { toString: 1 }, { toString: 'x', valueOf: null }],
  ...[[], [null], ['EUR'], ['19.44'], [['19.44']], ['2026-12-31'], [{}], 'x', ''],
]
const isObject = (value: unknown) => typeof value === 'object' && !Array.isArray(value)
// Values that some scalars take.
const takes: Record<string, (value: unknown) => boolean> = {
  Decimal: (value) => typeof value === 'number' && Math.abs(value) < 1e15,
  JSON: isObject,
  // Read where it is used, with its place.
  Date: (value) => typeof value === 'string',
}

const scalars = Object.values(schema.getTypeMap()).flatMap((type) =>
  isScalarType(type) && !isSpecifiedScalarType(type) ? [type.name] : [],
)

let places: ArgumentPlace[]
const sale = sharedSale({ rates: [aRateOf(10)] })
beforeAll(async () => {
  places = argumentPlaces(schema, sale)
})

describe.each(scalars)('%s', (scalar) => {
  test('is an input somewhere', () => {
    expect(places.filter(({ type }) => type === scalar)).not.toEqual([])
  })

  test.each([
    ['variables', (place: ArgumentPlace, value: unknown) => place.send(value)],
    ['the document', (place: ArgumentPlace, value: unknown) => place.sendLiteral(value)],
  ])('refuses values of other types in %s', async (_where, request) => {
    for (const place of places.filter(({ type }) => type === scalar))
      for (const value of values) {
        if (takes[scalar]?.(value)) continue
        const answer = await sale.app.inject(request(place, value))
        const what = `${place.name} of ${JSON.stringify(value)}: ${answer.body.slice(0, 300)}`
        expect(answer.statusCode, what).toBe(400)
        const [error] = answer.json().errors
        expect(error.extensions.code, what).toBe('BAD_REQUEST')
        expect(error.message, what).toMatch(new RegExp(`${scalar} must be an? `))
      }
  })
})

test('a number is a Decimal in variables and in the document, and no other text', async () => {
  const decimals = places.filter(({ type }) => type === 'Decimal')
  for (const place of decimals)
    for (const request of [place.send(19.44), place.sendLiteral(19.44), place.send('19.44')])
      expect((await sale.app.inject(request)).json().errors?.[0]?.extensions.code).not.toBe('BAD_REQUEST')
})
