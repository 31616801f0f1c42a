import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { randomFrom } from '../../examples/shop/src/demo/random.ts'
import { askGraphql, type Walker, walk } from './client-walk.ts'
import { aDiscount } from './discounts.ts'
import { aCatalogue, anEvent, anOrganization, aRateNamed, aSupplement } from './factories.ts'
import { createTestDatabase } from './harness.ts'
import { startMailServer } from './mail-server.ts'
import { buildPreviousRelease } from './previous-release.ts'
import { mustStartServer, runCli, type ServerProcess } from './processes.ts'
import { openRetryingBuyers, ratesOfCrowd } from './retrying-buyers.ts'
import { sessionToExpire, startStubStripe, stripeSettings } from './stub-stripe.ts'
import { startReceiver } from './webhooks.ts'

// A sale by the previous release, whose processes go on while the database is migrated and processes of this
// release are started beside them.

const rateOfWalk = (number: number) =>
  aRateNamed(number, {
    supplements: [aSupplement({ _id: `sup_${number}` })],
    availability: { sold: 0, available: 1000 },
  })
const catalogue = aCatalogue({
  organizations: [anOrganization({ discounts: [aDiscount({ quantity: 1000 })] })],
  events: [anEvent({ _id: 'evt_1', ticket_rates: [...ratesOfCrowd, rateOfWalk(3)] })],
})
const laterCatalogue = { events: [anEvent({ _id: 'evt_2', ticket_rates: [rateOfWalk(4)] })] }

const buyersAtOnce = 3

/** Starts a sale by the previous release, on a database that this release migrated it for. */
export async function openUpgrade() {
  const previous = await buildPreviousRelease()
  console.log(`previous release: ${previous.description}`)
  const [database, fake, mailServer, receiver] = await Promise.all([
    createTestDatabase({ empty: true }),
    startStubStripe(),
    startMailServer(),
    startReceiver(),
  ])
  const opened = await database.open()
  const servers: ServerProcess[] = []
  const settings = {
    ...database.settings,
    ...stripeSettings(fake.url),
    SMTP_URL: mailServer.url,
    MAIL_FROM: 'tickets@shop.example',
    WEBHOOKS_TO_PRIVATE_ADDRESSES: 'true',
    ADMISSION_HOURS: '8760',
    RATE_LIMIT: 'off',
  }
  const stripeTargets: string[] = []
  let turns = 0
  // Stripe's events arrive at any process, each at two.
  const stripeEvents = [0, 1].map((index) =>
    fake.deliverTo(() => stripeTargets[(turns++ + index) % stripeTargets.length] ?? '', 10),
  )

  async function previousCli(...args: string[]): Promise<string> {
    const { code, output, errors } = await runCli(args, settings, previous.folder)
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    return output
  }
  async function importByPrevious(file: object): Promise<void> {
    const path = join(previous.folder, 'catalogue.json')
    await writeFile(path, JSON.stringify(file))
    await previousCli('import', path)
  }
  async function issueKey(...args: string[]): Promise<Record<string, string>> {
    const { key } = JSON.parse(await previousCli('key', 'issue', ...args, '--json')) as { key: string }
    return { 'x-api-key': key }
  }
  /** Starts a process of one release. Resolves to its address and to how ready it is. */
  async function start(release: 'previous' | 'this') {
    const server = await mustStartServer(settings, release === 'previous' ? previous.folder : undefined)
    servers.push(server)
    stripeTargets.push(server.url)
    return server.url
  }
  const statusOf = async (url: string) => (await fetch(`${url}/ready`)).status

  await previousCli('migrate')
  await importByPrevious(catalogue)
  const organization = ['--organization', 'org_1']
  const channel = await issueKey('channel', '--name', 'Shop', ...organization)
  const integration = await issueKey('integration', '--name', 'Door', ...organization)
  const old = await start('previous')
  const register = `mutation ($input: RegisterWebhookInput!) { registerWebhook(input: $input) { __typename } }`
  await askGraphql(old, channel, [register, '"RegisterWebhookPayload"'], {
    input: { url: receiver.url, idempotencyKey: 'once' },
  })

  const walkPayments: string[] = []
  const crowds: ReturnType<typeof openRetryingBuyers>[] = []
  fake.setFault((request) => (crowds.some((crowd) => crowd.isStuck(sessionToExpire(request))) ? 500 : null))

  return {
    ...{ db: opened.db, opened, old, start, statusOf, fake, receiver },
    /** Imports an event with `rate_4`, by a process of the previous release. */
    importByPrevious: () => importByPrevious(laterCatalogue),
    migrate: () => opened.migrate(),
    /** Walks once, with the requests in turn to these processes. */
    async walk(urls: string[], rate: Walker['rate']) {
      let turn = 0
      const at = () => urls[turn++ % urls.length] ?? ''
      walkPayments.push(...(await walk({ at, channel, integration, fake, rate })))
    },
    /** Runs a crowd at each process until each behaviour was met at each. */
    async runCrowds(urls: string[]) {
      const sale = { db: opened.db, channel, integration: { v1: {}, v2: integration } }
      const started = urls.map((url, index) =>
        openRetryingBuyers({ sale, fake, url, random: randomFrom(index + 1) }),
      )
      crowds.push(...started)
      const isOver = (crowd: (typeof started)[number]) => crowd.paymentIds.length >= crowd.behaviourCount
      await Promise.all(started.map((crowd) => crowd.buyUntil(buyersAtOnce, () => isOver(crowd))))
      for (const crowd of started) crowd.releaseSessions()
    },
    /** Payments that clients were told of. */
    paymentIds: () => [...walkPayments, ...crowds.flatMap(({ paymentIds }) => paymentIds)],
    async waitForStripeEvents() {
      const left = () => stripeEvents.map((events) => fake.events.length - events.sent())
      await expect.poll(left).toEqual([0, 0])
    },
    /** Errors in the logs of all processes, but for the sessions that Stripe refused to expire. */
    errors: () =>
      servers.flatMap(({ output, errors }) => [
        ...output()
          .split('\n')
          .filter((line) => /^\{"level":[56]0/.test(line) && !line.includes('"error":"StripeAPIError"')),
        ...(errors() ? [errors()] : []),
      ]),
    async close() {
      await Promise.all(stripeEvents.map((events) => events.stop()))
      await Promise.all(servers.map((server) => server.stop()))
      receiver.close()
      await Promise.all([mailServer.close(), fake.close(), opened.close()])
      await database.drop()
      await previous.remove()
    },
  }
}

export type Upgrade = Awaited<ReturnType<typeof openUpgrade>>
