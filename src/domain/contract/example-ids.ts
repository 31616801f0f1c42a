import type { FastifyRequest } from 'fastify'

/** Identifiers in examples, by which the document's examples refer to one sale. Where others are known that work, the
 *  document shows those instead. */
export const exampleIds = {
  eventId: 'evt_01jd8r6t4c9q2m7x5v3k1n8p0w',
  ticketRateId: 'rate_01jd8r6t5d1f7h3k9m2q4s6v8x',
  priceId: 'price_01jd8r6t5e3g9j5m1p4r6t8w0y',
  paymentId: 'pay_01jd8s2w6z4b0d7f3h5k8n2q4t',
  ticketId: 'tkt_01jd8s2w7a5c1e8g4j6m9p3r5t',
}

/** Values that work: keys of a channel, of its pages and of an integration, and identifiers of an event of the
 *  integration's organization, a rate with a price on sale, a payment, and a ticket of it. */
export type ExampleValues = Record<'key' | 'publishableKey' | 'integrationKey', string> & typeof exampleIds

/** Finds values that work; undefined if nothing is on sale. */
export type FindExampleValues = () => Promise<ExampleValues | undefined>

/** Tells what fills the examples of a page for a request. */
export type ExamplesOf = (request: FastifyRequest) => FindExampleValues

/** Shows secret keys to requests alone whose answers stay on this machine. To others the publishable key stands for that of
 *  its channel, and `onOthers` is called. */
export function examplesFor(
  find: FindExampleValues | undefined,
  isLocal: (request: FastifyRequest) => boolean,
  onOthers: () => void,
): ExamplesOf {
  const none: FindExampleValues = async () => undefined
  if (!find) return () => none
  const findPublic: FindExampleValues = async () => {
    const found = await find()
    return found && { ...found, key: found.publishableKey, integrationKey: '' }
  }
  return (request) => {
    if (isLocal(request)) return find
    onOthers()
    return findPublic
  }
}

/** Replaces the identifiers of examples by those that work. */
export function withExampleIds<Document>(document: Document, values: ExampleValues): Document {
  const names = Object.keys(exampleIds) as (keyof typeof exampleIds)[]
  const replaced = new Map<unknown, string>(names.map((name) => [exampleIds[name], values[name]]))
  return JSON.parse(JSON.stringify(document), (_key, value) => replaced.get(value) ?? value)
}
