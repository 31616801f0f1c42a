import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { addShop } from '../page.ts'
import { addPosters } from '../poster/add-posters.ts'
import { demoCatalogue, demoTonight, posterPath } from './catalogue.ts'
import { demoOrganizations } from './places.ts'

/** The service that the demo is beside, as `npm start` opens it. */
type Host = {
  /** Folder of the embedded database. */
  dataDir: string
  /** True if it holds no catalogue yet. */
  isEmpty: boolean
  /** Runs a command of the command line, and returns what it prints with --json. */
  command<Printed>(...args: string[]): Promise<Printed>
}

/** What the demo keeps in data/demo.json, because the database keeps only hashes of keys. */
type Saved = {
  channel_id: string
  key: string
  integration_id: string
  secret: string
  integration_key: string
  /** Key of the shop and of GraphiQL, and the origin of their pages. */
  publishable_key?: string
  publishable_origin?: string
  /** Rate that is on sale, with its current price; absent once the demo is over, until it is seeded again. */
  ticket_rate_id?: string
  price_id?: string
  /** Ticket of it that was sold at the box office, and one for tonight. */
  ticket_id?: string
  payment_id?: string
  door_ticket_id?: string
}

// Pages that are developed on this machine may use the publishable key as well.
const developed = ['http://localhost:*', 'http://127.0.0.1:*', 'http://[::1]:*']
// The integration is that of the first listed event's organizer, so that it sees what a newcomer buys.
const [{ _id: firstOrganization }] = demoOrganizations
// A rate without required questions of an event of the same organizer, and an event whose doors are open.
const offered = { eventId: 'evt_demo_8', ticketRateId: 'rate_demo_8_1' }
const tonight = {
  eventId: 'evt_demo_tonight',
  ticketRateId: 'rate_demo_tonight',
  priceId: 'price_demo_tonight',
}

const greeting = (url: string, demo: Saved) => `
Boxoffice sells tickets at ${url}

  Shop              ${url}/shop
  GraphiQL          ${url}/graphql
  REST              ${url}/docs

  Demo channel      X-Api-Key: ${demo.key}
  Demo integration  X-Api-Key: ${demo.integration_key}
                    or integration_id: ${demo.integration_id}
                       secret: ${demo.secret}
`

async function readSaved(file: string): Promise<Saved | null> {
  const text = await readFile(file, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  try {
    return text === null ? null : JSON.parse(text)
  } catch (error) {
    throw new Error(`${file} is damaged: delete it to get new demo keys`, { cause: error })
  }
}

// Renamed once it is whole: a process that dies while it writes would lose the keys.
async function write(file: string, text: string): Promise<void> {
  const whole = `${file}.new`
  await writeFile(whole, `${text}\n`, { mode: 0o600 })
  await rename(whole, file)
}

// Each key also as the header that bears it, which curl reads: -H @data/demo-key.
async function save({ dataDir }: Host, saved: Saved): Promise<void> {
  await write(join(dataDir, 'demo.json'), JSON.stringify(saved, null, 2))
  await write(join(dataDir, 'demo-key'), `X-Api-Key: ${saved.key}`)
  await write(join(dataDir, 'demo-integration-key'), `X-Api-Key: ${saved.integration_key}`)
}

/** Imports the demo catalogue, with posters at this address. Its file stays beside the data, as an example of one. */
async function importDemo({ dataDir, command }: Host, url?: string): Promise<void> {
  const file = join(dataDir, 'demo-catalogue.json')
  const demo = demoCatalogue({ url })
  const events = [...demo.events, demoTonight(new Date(), url)]
  await writeFile(file, JSON.stringify({ ...demo, events }, null, 2))
  await command('import', file, '--no-notify')
}

/** Issues a key of a channel that sells for all of the demo, and one of an integration. Null if the demo's organizations
 *  are not there. */
async function issueKeys({ command }: Host): Promise<Saved | null> {
  const organizations = demoOrganizations.flatMap(({ _id }) => ['--organization', _id])
  const channel = await command<{ channel_id: string; key: string }>(
    ...['key', 'issue', 'channel', '--name', 'Demo channel', ...organizations],
  ).catch(() => null)
  if (!channel) return null
  const integration = await command<{ integration_id: string; secret: string; key: string }>(
    ...['key', 'issue', 'integration', '--name', 'Demo integration', '--organization', firstOrganization],
  )
  const { integration_id, secret, key } = integration
  return { ...channel, integration_id, secret, integration_key: key }
}

/** Issues the publishable key of pages of this origin, and revokes that of a former one. */
async function issueShopKey({ command }: Host, demo: Saved, origin: string): Promise<void> {
  if (demo.publishable_key && demo.publishable_origin === origin) return
  const origins = [origin, ...developed].flatMap((origin) => ['--origin', origin])
  const { key } = await command<{ key: string }>(
    ...['key', 'issue', 'publishable', '--channel', demo.channel_id, ...origins],
  )
  if (demo.publishable_key) await command('key', 'revoke', demo.publishable_key)
  Object.assign(demo, { publishable_key: key, publishable_origin: origin })
}

const offerQuery = `query ($id: ID!) {
  event(by: { id: $id }) { imageUrl ticketRates { id currentPrice { id } } }
}`
type Offer = {
  event: {
    imageUrl: string | null
    ticketRates: { id: string; currentPrice: { id: string } | null }[]
  } | null
}
const sellMutation = `mutation ($input: SellAtBoxOfficeInput!) {
  sellAtBoxOffice(input: $input) { ... on SellAtBoxOfficePayload { payment { id } tickets { id } } }
}`
type Sale = { sellAtBoxOffice: null | { payment?: { id: string }; tickets?: { id: string }[] } }

// Null where the service takes trusted documents alone.
async function ask<Data>(app: FastifyInstance, key: string, query: string, variables: object) {
  const request = { method: 'POST', url: '/graphql', headers: { 'x-api-key': key } } as const
  const answer = await app.inject({ ...request, payload: { query, variables } })
  return answer.json<{ data?: Data | null }>().data ?? null
}

/** Finds what is on sale, with its posters at this address, and sells one of it and one for tonight at the box office
 *  unless that was done before. */
async function findOffer(app: FastifyInstance, host: Host, demo: Saved, url: string): Promise<void> {
  const { eventId, ticketRateId } = offered
  const find = async () => (await ask<Offer>(app, demo.key, offerQuery, { id: eventId }))?.event
  let event = await find()
  if (event && event.imageUrl !== `${url}${posterPath}/${eventId}.svg`) {
    await importDemo(host, url)
    event = await find()
  }
  const priceId = event?.ticketRates.find(({ id }) => id === ticketRateId)?.currentPrice?.id
  Object.assign(demo, { ticket_rate_id: priceId && ticketRateId, price_id: priceId })
  if (!priceId || demo.ticket_id) return
  const attendee = { fullName: 'Grace Hopper', email: 'grace@example.com' }
  const sell = async (ticketRateId: string, priceId: string) => {
    const items = [{ ticketRateId, tickets: [{ priceId, attendee }] }]
    const input = { items, method: 'CASH', idempotencyKey: `demo-${ticketRateId}` }
    return (await ask<Sale>(app, demo.integration_key, sellMutation, { input }))?.sellAtBoxOffice
  }
  const sold = await sell(ticketRateId, priceId)
  Object.assign(demo, { ticket_id: sold?.tickets?.[0]?.id, payment_id: sold?.payment?.id })
  demo.door_ticket_id = (await sell(tonight.ticketRateId, tonight.priceId))?.tickets?.[0]?.id
}

/** Values that make the examples of GraphiQL and of the REST documentation work as they are. */
function examplesOf(demo: Saved) {
  if (!demo.price_id || !demo.publishable_key) return undefined
  return {
    ...offered,
    doorEventId: tonight.eventId,
    doorTicketId: demo.door_ticket_id ?? 'tkt_…',
    priceId: demo.price_id,
    ticketId: demo.ticket_id ?? 'tkt_…',
    paymentId: demo.payment_id ?? 'pay_…',
    key: demo.key,
    publishableKey: demo.publishable_key,
    integrationKey: demo.integration_key,
  }
}

/** Puts the demo beside the service: its catalogue into an empty database, its keys into data/demo.json, its shop at `/shop`.
 *  Null if the database holds another catalogue. */
export async function openDemo(host: Host) {
  const file = join(host.dataDir, 'demo.json')
  if (host.isEmpty) await importDemo(host)
  const demo = (await readSaved(file)) ?? (await issueKeys(host))
  if (!demo) return null
  await save(host, demo)
  let shopKey: string | null = null
  let told: (examples: ReturnType<typeof examplesOf>) => void
  const examples = new Promise<ReturnType<typeof examplesOf>>((resolve) => {
    told = resolve
  })
  return {
    link: {
      path: '/shop',
      name: 'The shop',
      text: 'Buy a ticket in a browser: live places, a discount code, a payment page.',
    },
    findExamples: () => examples,
    async addTo(app: FastifyInstance, publicUrl: () => string): Promise<void> {
      await addShop(app, { key: () => shopKey, publicUrl })
      addPosters(app)
    },
    async onListening(app: FastifyInstance, url: string): Promise<void> {
      await findOffer(app, host, demo, url)
      await issueShopKey(host, demo, new URL(url).origin)
      await save(host, demo)
      shopKey = demo.publishable_key ?? null
      told(examplesOf(demo))
      console.log(greeting(url, demo))
    },
  }
}
