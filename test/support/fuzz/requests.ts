import fc from 'fast-check'
import type { InjectOptions } from 'fastify'
import type { Caller, Headers } from '../authorization/callers.ts'
import { absentId } from '../authorization/fingerprint.ts'
import type { Kind, World } from '../authorization/world.ts'
import type { Route } from '../openapi/document.ts'
import { arbitraryOf, type JsonSchema, mutatedFrom, objectOf, type Pool } from './from-json-schema.ts'
import { text } from './values.ts'

/** A request with its caller, which is `nobody` if the credentials are bad. */
export type Asked = { caller: Caller; request: InjectOptions }

const kindsOf: Record<string, Kind[]> = {
  ticket_rate: ['rate'],
  ticketRate: ['rate'],
  qr_code: ['code'],
  qrCode: ['code'],
  after: ['eventCursor', 'changeCursor', 'change', 'discount'],
  before: ['eventCursor', 'changeCursor'],
  ids: ['event', 'price', 'ticket', 'payment', 'refund', 'change', 'webhook'],
  '': ['event', 'rate', 'ticket', 'payment', 'organization', 'location', 'webhook'],
}
const isKind = (name: string, things: World['things']): name is Kind => name in things

const kindsFor = (name: string, things: World['things']): Kind[] => {
  const named = name.replace(/_?[iI]d$/, '')
  return kindsOf[named] ?? (isKind(named, things) ? [named] : [])
}

// Usual values of fields that are no identifiers, so that most requests pass validation.
const usualValues: Record<string, unknown[]> = {
  email: ['ana@example.com'],
  phone: ['+34600123123'],
  birthday: ['1990-01-02'],
  birthDate: ['1990-01-02'],
  countryCode: ['ES'],
  language: ['es', 'pt-BR'],
  gender: ['1'],
  personalDocumentType: ['DNI', 'PASSPORT'],
  url: ['https://hooks.example/x'],
  redirectUrl: ['https://shop.example/'],
  errorUrl: ['https://shop.example/'],
  search: ['night', 'mk'],
  slug: ['mk-catalogue-1-night', 'mk-catalogue-2-night'],
  organizationSlug: ['mk-catalogue-1', 'mk-catalogue-2'],
  name: ['mk', 'Ana'],
  city: ['Madrid'],
  musicGenre: ['techno'],
  genre: ['techno'],
  idempotencyKey: ['a', 'b', 'c'],
  people: [1, 2],
  count: [1, 2],
  first: [1, 3, 5],
  amount: ['0.50', '1.00'],
  discountCode: ['code-1', 'CODE-1', 'code-2', 'code-9'],
  referralId: ['blog', 'radio'],
  lat: [40.4],
  lng: [-3.7],
  latitude: [40.4],
  longitude: [-3.7],
}
const inCamelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Plausible values of a field by its name: IDs of all owners, some absent IDs, and usual values. */
export const poolFor =
  ({ things }: World): Pool =>
  (name) => {
    const ids = kindsFor(name, things).flatMap((kind) => things[kind].map(({ id }) => id))
    return [...ids, ...ids.slice(0, 2).map(absentId), ...(usualValues[inCamelCase(name)] ?? [])]
  }

const visible = fc.string({ unit: 'grapheme-ascii', maxLength: 80 })

const asCaller = (caller: Caller) => ({ caller, headers: caller.headers })

/** Generates credentials: mostly those of permitted callers, sometimes any other kind. */
export function credentials(
  { callers, bad }: World,
  may: Caller[] = [callers.shop, callers.foreign, callers.door],
): fc.Arbitrary<{ caller: Caller; headers: Headers }> {
  const { nobody } = callers
  const wrong = fc
    .constantFrom(...Object.values<Headers>(bad))
    .map((headers) => ({ caller: nobody, headers }))
  const random = fc
    .record(
      { 'x-api-key': visible, integration_id: visible, secret: visible },
      { requiredKeys: ['x-api-key'] },
    )
    .map((headers) => ({ caller: nobody, headers: headers as Headers }))
  return fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...may).map(asCaller) },
    { weight: 4, arbitrary: fc.constantFrom(...Object.values<Caller>(callers)).map(asCaller) },
    { weight: 1, arbitrary: wrong },
    { weight: 1, arbitrary: random },
  )
}

// Not String(value): a random object may have a field called toString.
const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

const partOf: Record<string, string> = { price: 'price', supplement: 'sup', question: 'que' }

/** Replaces the parts of a checkout by parts of its rate. Random parts would hardly ever belong to one rate.
 *  */
export function alignWithRate(value: unknown, rate = 'rate_1_a'): unknown {
  if (Array.isArray(value)) return value.map((item) => alignWithRate(item, rate))
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Record<string, unknown>
  const named = asText(fields.ticket_rate_id ?? fields.ticketRateId ?? rate)
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const part = partOf[name.replace(/_?[iI]d$/, '')]
      return [name, part === undefined ? alignWithRate(field, named) : `${part}${named.slice(4)}`]
    }),
  )
}

const encoded = (value: unknown) => {
  const text = asText(value)
  return text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80'
}

const oneOf = (valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 2, arbitrary: valid }, { weight: 1, arbitrary: mutatedFrom(valid) })

const bodies = (schema: JsonSchema, pool: Pool): fc.Arbitrary<unknown> =>
  fc
    .tuple(arbitraryOf(schema, pool), fc.integer({ min: 0, max: 4 }))
    .map(([body, random]) => (random === 0 ? body : alignWithRate(body)))

// Content types: mostly the right one.
const types = fc.oneof(
  { weight: 30, arbitrary: fc.constant('application/json') },
  fc.constantFrom('text/plain', 'application/json; charset=latin1', 'application/x-www-form-urlencoded', 'x'),
)
const accepts = fc.constantFrom(
  'application/json',
  '*/*',
  'text/html',
  'multipart/mixed',
  'text/event-stream',
  'text/csv',
  'application/x-ndjson',
  '',
)

/** Generates requests of a documented route: valid, mutated and unrelated ones. */
export function requestsOf({ method, path, operation }: Route, world: World): fc.Arbitrary<Asked> {
  const pool = poolFor(world)
  const { shop, rival, foreign, door, doorV1, far } = world.callers
  const may = path.includes('/integrations/') ? [door, doorV1, far] : [shop, rival, foreign]
  const { parameters = [], requestBody } = operation
  const isIn = (place: string) => parameters.filter((parameter) => parameter.in === place)
  const fields = (place: string) => {
    const named = isIn(place)
    const properties = Object.fromEntries(named.map(({ name, schema }) => [name, schema]))
    const required = named.flatMap(({ name, required }) => (required ? [name] : []))
    return oneOf(objectOf(properties, required, pool)).map((given) =>
      typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {},
    )
  }
  const schema = requestBody?.content?.['application/json']?.schema
  const body = schema
    ? fc.oneof(
        { weight: 9, arbitrary: oneOf(bodies(schema, pool)).map((body) => JSON.stringify(body)) },
        text,
      )
    : fc.constant(undefined)
  const headersOf = fields('header').map((headers) =>
    Object.fromEntries(
      Object.entries(headers)
        .filter(([name]) => /^[\w-]+$/.test(name))
        .map(([name, value]) => [name, asText(value).replace(/[^\x20-\x7e]/g, '?')]),
    ),
  )
  const strange = fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, fc.tuple(text, text))
  return fc
    .tuple(
      credentials(world, may),
      fields('path'),
      fields('query'),
      strange,
      headersOf,
      fc.tuple(types, accepts),
      body,
    )
    .map(([{ caller, headers: own }, inPath, query, more, given, [type, accept], payload]) => {
      const pairs = [...Object.entries(query), ...(more ? [more] : [])]
      const search = pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&')
      // A client resolves segments of one or two dots before it sends: they would lead to another route.
      const segmentOf = (name: string) =>
        encoded(inPath[name] ?? '')
          .slice(0, 500)
          .replace(/^\.{1,2}$/, 'dots')
      const url = path.replace(/\{(\w+)\}/g, (_, name) => segmentOf(name))
      return {
        caller,
        request: {
          method: method as 'GET',
          url: search ? `${url}?${search}` : url,
          headers: { accept, ...given, ...own, ...(payload !== undefined && { 'content-type': type }) },
          payload,
        },
      }
    })
}
