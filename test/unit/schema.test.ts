import { readFileSync } from 'node:fs'
import {
  buildSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql'
import { expect, test } from 'vitest'
import { printedSchema, schema } from '../../src/graphql-server/schema.ts'

const committed = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')
const types = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
)

test('the committed schema matches the code (npm run schema)', () => {
  expect(printedSchema()).toBe(committed)
})

test('every type, field, argument and enum value of the schema has a description', () => {
  const nameless = types.flatMap((type) => {
    if (['Query', 'Mutation'].includes(type.name)) return []
    return type.description ? [] : [type.name]
  })
  type Described = { name: string; description?: string | null }
  const partsOf = (type: (typeof types)[number]): Described[] => {
    if (isEnumType(type)) return [...type.getValues()]
    if (isInputObjectType(type)) return Object.values(type.getFields())
    if (!isObjectType(type) && !isInterfaceType(type)) return []
    return Object.values(type.getFields()).flatMap((field): Described[] => [field, ...field.args])
  }
  const silent = types.flatMap((type) =>
    partsOf(type).flatMap(({ name, description }) => (description ? [] : [`${type.name}.${name}`])),
  )
  expect([...nameless, ...silent]).toEqual([])
  expect(types.some(isEnumType)).toBe(true)
})

test.each(types.filter(isInterfaceType).filter(({ name }) => /Error$/.test(name)))(
  'every error code resolves to a type that implements %s',
  async (type) => {
    const codes = schema.getType('ErrorCode')
    if (!isEnumType(codes) || !type.resolveType) throw new Error('errors have codes and types')
    for (const { value: code } of codes.getValues()) {
      const name = await type.resolveType({ code }, {}, {} as never, type)
      const found = schema.getType(String(name))
      expect(isObjectType(found) && schema.isSubType(type, found), `${code}: ${name}`).toBe(true)
    }
  },
)

// The fields in the tables of INTERFACE.md, in GraphQL's names.
const documented: Record<string, string> = {
  Event:
    'id name slug description age outfit ambiences musicGenres artists displayDate startDate endDate organizationId imageUrl locationId ticketRates iframe',
  Artist: 'name imageUrl',
  Iframe: 'tagUrl scriptUrl',
  TicketRate:
    'id organizationId eventId name slug validFrom complete type prices supplements available availability min max questions showAllPrices warranty',
  Availability: 'sold available',
  RateWarranty: 'enabled percentage hours',
  Price: 'id name price validUntil quantity includes additionalInfo feeType feeQuantity',
  Supplement: 'id label price hasFakePrice fakePrice',
  Question: 'id label type required items',
  CheckoutTicketInput:
    'priceId qrCode fullName phone email gender birthday address postalCode countryCode personalDocumentType personalDocumentNumber answers supplements warranty',
  CheckoutInput: 'ticketRateId tickets redirectUrl errorUrl sendResourcers metadata',
  Ticket:
    'id eventId ticketRateId qrCode status price paymentCurrency channelId fees fullName phone email gender birthday address postalCode countryCode personalDocumentType personalDocumentNumber answers supplements refunded refundedAt refunds for enter entryTime totalSupplements totalFees totalPrice warranty activationDate code discountQuantitySubtract language country entryDate name paymentId raised rateId rateName rateSlug referralId saleType priceInfo totalExtras totalPaid invoiceReference correctiveInvoiceReferences',
  Fees: 'organization platform',
  TicketSupplement:
    'supplementId price id label description hasFakePrice fakePrice productQuantity productQuantityUsed',
  Refund: 'channelId amount at',
  TicketWarranty: 'total hours',
  PriceInfo: 'id price age content additionalInfo',
}

test.each(Object.entries(documented))('the schema has every documented field of %s', (name, fields) => {
  const type = buildSchema(committed).getType(name)
  if (!isObjectType(type) && !isInputObjectType(type)) throw new Error(`${name} has fields`)
  expect(Object.keys(type.getFields())).toEqual(expect.arrayContaining(fields.split(' ')))
})
