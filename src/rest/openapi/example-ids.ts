/** Identifiers in examples, by which the document's examples refer to one sale. Where the demo catalogue is
 *  seeded, the document shows the demo's instead, so that the examples work as they are. */
export const exampleIds = {
  eventId: 'evt_01jd8r6t4c9q2m7x5v3k1n8p0w',
  ticketRateId: 'rate_01jd8r6t5d1f7h3k9m2q4s6v8x',
  priceId: 'price_01jd8r6t5e3g9j5m1p4r6t8w0y',
  paymentId: 'pay_01jd8s2w6z4b0d7f3h5k8n2q4t',
  ticketId: 'tkt_01jd8s2w7a5c1e8g4j6m9p3r5t',
}

/** Values of the seeded demo: the key of a channel, one of an integration, and identifiers of an event, a
 *  rate with a price on sale, a payment, and a ticket of it. */
export type DemoValues = { key: string; integrationKey: string } & typeof exampleIds

/** Finds the values of the demo; undefined if there is no demo, or nothing of it is on sale any more. */
export type FindDemoValues = () => Promise<DemoValues | undefined>

/** Replaces the identifiers of examples by those of the demo. */
export function withDemoIds<Document>(document: Document, demo: DemoValues): Document {
  const names = Object.keys(exampleIds) as (keyof typeof exampleIds)[]
  const replaced = new Map<unknown, string>(names.map((name) => [exampleIds[name], demo[name]]))
  return JSON.parse(JSON.stringify(document), (_key, value) => replaced.get(value) ?? value)
}
