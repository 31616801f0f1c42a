import { readFileSync } from 'node:fs'
import {
  buildSchema,
  type GraphQLNamedType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
  OperationTypeNode,
} from 'graphql'
import { expect, test } from 'vitest'
import { printedSchema, schema } from '../../src/app/schema.ts'

const committed = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')
const types = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
)

test('the committed schema matches the code (npm run schema)', () => {
  expect(printedSchema()).toBe(committed)
})

test('every type, field, argument and enum value of the schema has a description', () => {
  const nameless = types.flatMap((type) => {
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

test('whatever is told to be replayed needs a key, but for tickets that are sent again', () => {
  const optional = Object.values(schema.getMutationType()?.getFields() ?? {}).flatMap(
    ({ name, args, type }) => {
      const payload = getNamedType(type)
      const payloads = isUnionType(payload) ? payload.getTypes() : []
      if (!payloads.some((one) => one.getFields().replayed)) return []
      const input = getNamedType(args.find((arg) => arg.name === 'input')?.type)
      const key = isInputObjectType(input) ? input.getFields().idempotencyKey?.type : undefined
      return key && isNonNullType(key) ? [] : [name]
    },
  )
  expect(optional).toEqual(['resendTickets'])
})

test('what may yet be hidden is nullable, and nothing of a webhook’s body is in the schema', () => {
  const typeOf = (field: string) => {
    const [type = '', name = ''] = field.split('.')
    const found = schema.getType(type)
    return isObjectType(found) ? String(found.getFields()[name]?.type) : undefined
  }
  expect(['Discount.code', 'Attendee.fullName', 'Availability.sold', 'Query.nodes'].map(typeOf)).toEqual([
    ...['String', 'String', 'Int', '[Node]'],
  ])
  expect(typeOf('Change.webhookData')).toBe('undefined')
})

test('every scalar says which form its values have', () => {
  const scalars = types.filter(isScalarType)
  expect(scalars.map(({ name }) => name)).toEqual(expect.arrayContaining(['Date', 'Decimal', 'CurrencyCode']))
  for (const { name, specifiedByURL } of scalars) expect(specifiedByURL, name).toMatch(/^https:/)
})

test('every code of a refusal resolves to a type of its own facts, or to `OtherError`', async () => {
  const codes = schema.getType('RefusalCode')
  const type = schema.getType('RefusalError')
  if (!isEnumType(codes) || !isInterfaceType(type) || !type.resolveType) throw new Error('errors have codes')
  for (const { value: code } of codes.getValues()) {
    const name = await type.resolveType({ code }, {}, {} as never, type)
    const found = schema.getType(String(name))
    expect(isObjectType(found) && schema.isSubType(type, found), `${code}: ${name}`).toBe(true)
  }
})

// The fields in the tables of INTERFACE.md, and where they are in GraphQL. What no client of GraphQL needs is left out:
// aliases, identifiers beside an edge, the gender of an attendee.
const documented: Record<string, string> = {
  Event:
    'id name slug description minimumAge outfit ambiences musicGenres artists.name artists.imageUrl displayDate startDate endDate organization.id imageUrl location.id ticketRates iframe.tagUrl iframe.scriptUrl',
  TicketRate:
    'id event.organization.id event.id name slug validFrom complete type prices supplements available availability.sold availability.available minPerCheckout maxPerCheckout questions showAllPrices warranty.percentage warranty.endsAt',
  Price: 'id name price validUntil limit includes additionalInfo fee',
  Supplement: 'id name price compareAtPrice',
  Question: 'id label type required options.label',
  TicketInput:
    'priceId qrCode attendee.fullName attendee.phone attendee.email attendee.birthDate attendee.address.street attendee.address.postalCode attendee.address.countryCode attendee.identityDocument.type attendee.identityDocument.number answers supplements warranty',
  CheckoutInput: 'items.ticketRateId items.tickets redirectUrl errorUrl sendTickets metadata',
  Ticket:
    'id event.id ticketRate.id qrCode status price.price price.includes price.additionalInfo event.minimumAge channel.id amounts.fees settlement.commission attendee.fullName attendee.phone attendee.email attendee.birthDate attendee.address.street attendee.address.postalCode attendee.address.countryCode attendee.identityDocument.type attendee.identityDocument.number attendee.language answers supplements.supplementId supplements.name supplements.description supplements.price supplements.compareAtPrice supplements.count supplements.redeemed settlement.refunded refunds.amount refunds.succeededAt admits inside lastEnteredAt amounts.supplements amounts.total amounts.discount amounts.price warranty.price warranty.endsAt activatedAt payment.id settlement.net ticketRate.name ticketRate.slug referralId saleType settlement.paid invoiceReference correctiveInvoiceReferences',
}

test.each(Object.entries(documented))('the schema has every documented field of %s', (name, paths) => {
  const built = buildSchema(committed)
  const missing = paths.split(' ').filter((path) => {
    let type: GraphQLNamedType | undefined = built.getType(name)
    return path.split('.').some((field) => {
      const found = isObjectType(type) || isInputObjectType(type) ? type.getFields()[field] : undefined
      type = found && (getNamedType(found.type) as GraphQLNamedType)
      return !found
    })
  })
  expect(missing).toEqual([])
})

// Rules of the contract, for what comes as well.

const rootOf = (operation: OperationTypeNode) => schema.getRootType(operation)?.getFields() ?? {}

test('each mutation is verb(input: VerbInput!): VerbResult, of VerbPayload and Refused, and nullable', () => {
  const wrong = Object.values(rootOf(OperationTypeNode.MUTATION)).filter(({ name, type, args }) => {
    const verb = `${name[0]?.toUpperCase()}${name.slice(1)}`
    const [input, ...others] = args
    if (others.length > 0 || String(input?.type) !== `${verb}Input!` || input?.name !== 'input') return true
    if (!isUnionType(type) || type.name !== `${verb}Result`) return true
    return type.getTypes().map(String).join() !== `${verb}Payload,Refused`
  })
  expect(wrong.map(({ name }) => name)).toEqual([])
})

test('each result is one of two types, of which the second is Refused', () => {
  const results = types.filter(isUnionType).filter(({ name }) => name.endsWith('Result'))
  expect(
    results.filter((type) => type.getTypes().length !== 2 || type.getTypes()[1]?.name !== 'Refused'),
  ).toEqual([])
  expect(results.length).toBeGreaterThan(15)
})

test('money is Money: a Float is a percentage, a distance or a coordinate', () => {
  const floats = types.flatMap((type) =>
    isObjectType(type) || isInputObjectType(type)
      ? Object.values(type.getFields()).flatMap(({ name, type: of }) =>
          String(getNamedType(of)) === 'Float' ? [name] : [],
        )
      : [],
  )
  expect([...new Set(floats)].sort()).toEqual(['latitude', 'longitude', 'percentage', 'radius'])
})

test('each enum that clients read says how to treat a value that they do not know', () => {
  const read = types.flatMap((type) =>
    isObjectType(type) || isInterfaceType(type)
      ? Object.values(type.getFields()).map(({ type: of }) => getNamedType(of))
      : [],
  )
  const enums = [...new Set(read.filter(isEnumType))]
  const promise = /Values may be added: treat an unknown one as .+\.$/
  expect(enums.filter(({ description }) => !promise.test(description ?? '')).map(String)).toEqual([])
  expect(enums.length).toBeGreaterThan(10)
})

test('no object has an identifier beside the edge to what it identifies', () => {
  const beside = types.filter(isObjectType).flatMap((type) => {
    const fields = type.getFields()
    return Object.keys(fields).flatMap((name) => {
      const edge = /^(.+)Ids?$/.exec(name)?.[1]
      return edge && (fields[edge] || fields[`${edge}s`]) ? [`${type.name}.${name}`] : []
    })
  })
  expect(beside).toEqual([])
})

test('nothing is deprecated, and no description speaks of REST or its names', () => {
  expect(committed).not.toContain('@deprecated')
  expect(committed.match(/^.*(\bREST\b|`_id`|\bbody\b).*$/gm)).toBeNull()
})

test('each root field says in its last sentence who may call it', () => {
  const roots = Object.values(OperationTypeNode).flatMap((operation) => Object.values(rootOf(operation)))
  expect(roots.filter(({ description }) => !/Callers: [^.]+\.$/.test(description ?? '')).map(String)).toEqual(
    [],
  )
  expect(roots.length).toBeGreaterThan(30)
})

test('inputs, enums and scalars follow the types that a reader looks for', () => {
  const later = [isInputObjectType, isEnumType, isScalarType]
  const kindsOf = types.map((type) => later.findIndex((isOne) => isOne(type)))
  expect(kindsOf).toEqual(kindsOf.toSorted((one, other) => one - other))
  expect(new Set(kindsOf).size).toBe(4)
})

test('roots are in the order of a table of contents: who, what there is, what was sold, what changed', () => {
  const places = (operation: OperationTypeNode, ...names: string[]) => {
    const all = Object.keys(rootOf(operation))
    return names.map((name) => all.indexOf(name))
  }
  const query = places(
    OperationTypeNode.QUERY,
    ...['organizations', 'viewer', 'event', 'ticketRate', 'discounts', 'payment', 'ticket', 'quoteCheckout'],
    ...['changes', 'webhooks', 'node', 'nodes'],
  )
  const mutation = places(
    OperationTypeNode.MUTATION,
    ...['checkout', 'cancelPayment', 'sellAtBoxOffice', 'updateAttendees', 'refundTickets', 'checkInTicket'],
    ...['redeemSupplement', 'updateWebhook', 'redeliverWebhook'],
  )
  for (const order of [query, mutation]) {
    expect(order).not.toContain(-1)
    expect(order).toEqual(order.toSorted((one, other) => one - other))
  }
})

// Names of a type's fields, and of their parts.
const leavesOf = (name: string): string[] => {
  const type = schema.getType(name)
  if (!isObjectType(type) && !isInputObjectType(type)) throw new Error(`${name} has no fields`)
  return Object.values(type.getFields()).flatMap((field) => {
    const of = getNamedType(field.type)
    const hasParts = isObjectType(of) || isInputObjectType(of)
    return hasParts ? leavesOf(of.name).map((part) => `${field.name}.${part}`) : [field.name]
  })
}

test('what is taken of an attendee is shown, and can be corrected', () => {
  const shown = leavesOf('Attendee').sort()
  expect(leavesOf('AttendeeInput').sort()).toEqual(shown)
  expect(leavesOf('AttendeeChangesInput').sort()).toEqual([...shown, 'ticketId'].sort())
  // Control: parts are seen.
  expect(shown).toContain('address.street')
})
