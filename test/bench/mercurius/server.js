import { createHash, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import Fastify from 'fastify'
import { GraphQLScalarType } from 'graphql'
import mercurius from 'mercurius'
import * as statements from './statements.js'

// The yardstick of the nested page: Mercurius with JIT, its loaders, and handwritten SQL. For each request it
// makes the checks that any server of this catalogue needs: that the key is known, intact, not revoked and
// not expired, and its grants. It has no rate limit, no limits of query size or cost, no log and no other
// fields.

const decimals = { JPY: 0, KWD: 3 }
const money = (amount, currency) => ({
  amount: (amount / 10 ** (decimals[currency] ?? 2)).toFixed(decimals[currency] ?? 2),
  currency,
})

// Smallest amounts that are charged, other than one minor unit.
const steps = { KWD: 10 }

/** Returns the fee of a price, in minor units. A percentage has four decimals at most. */
function feeOf({ feeType, feeQuantity, amount, currency }) {
  if (feeType === 'fixed') return feeQuantity
  const step = steps[currency] ?? 1
  return Math.floor((amount * Math.round(feeQuantity * 10_000)) / (1_000_000 * step) + 0.5) * step
}

async function authenticate(key) {
  const [, mode, id] = /^box_(live|test)_([0-9A-Za-z]{12})_[0-9A-Za-z]{49}$/.exec(key) ?? []
  const found = id && (await statements.keyById(id))
  const hash = createHash('sha256').update(key).digest()
  if (!found || found.ended || found.mode !== mode || !timingSafeEqual(hash, Buffer.from(found.hash, 'hex')))
    throw new mercurius.ErrorWithProps('The API key is no good.', { code: 'UNAUTHENTICATED' }, 401)
  return { organizationIds: found.organizationIds, now: found.now }
}

function groupBy(rows, column) {
  const groups = new Map()
  for (const row of rows) {
    const group = groups.get(row[column])
    if (group) group.push(row)
    else groups.set(row[column], [row])
  }
  return groups
}

/** Loads the row that each object refers to. */
const one = (load, column) => async (queries) => {
  const ids = [...new Set(queries.map(({ obj }) => obj[column]))]
  const found = new Map((await load(ids)).map((row) => [row.id, row]))
  return queries.map(({ obj }) => found.get(obj[column]) ?? null)
}

/** Loads the rates of each event with all their parts. One loader does it all, because a loader's key is its
 *  serialized object: separate loaders for rates cost a third more. */
async function ratesOfEvents(queries, { now }) {
  const eventIds = queries.map(({ obj }) => obj.id)
  const [rates, prices, supplements, questions] = await Promise.all([
    statements.ratesByEventId(eventIds),
    statements.pricesByEventId(eventIds),
    statements.supplementsByEventId(eventIds),
    statements.questionsByEventId(eventIds),
  ])
  const ratesOf = groupBy(rates, 'eventId')
  const [pricesOf, supplementsOf, questionsOf] = [prices, supplements, questions].map((rows) =>
    groupBy(rows, 'ticketRateId'),
  )
  return queries.map(({ obj: event }) =>
    (ratesOf.get(event.id) ?? []).map((rate) => {
      const all = pricesOf.get(rate.id) ?? []
      const current =
        all.find(({ validUntil, leftOver }) => (!validUntil || validUntil > now) && leftOver !== 0) ?? null
      return {
        ...rate,
        available:
          !rate.complete &&
          (!rate.validFrom || rate.validFrom <= now) &&
          event.startDate > now &&
          rate.leftOver !== 0 &&
          current !== null,
        prices: rate.showAllPrices ? all : current ? [current] : [],
        currentPrice: current,
        warranty: rate.warrantyEnabled
          ? {
              percentage: rate.warrantyPercentage,
              endsAt: new Date(event.startDate.getTime() - rate.warrantyHours * 3_600_000),
            }
          : null,
        supplements: supplementsOf.get(rate.id) ?? [],
        questions: questionsOf.get(rate.id) ?? [],
      }
    }),
  )
}

const app = Fastify()
app.register(mercurius, {
  schema: await readFile(new URL('./schema.graphql', import.meta.url), 'utf8'),
  jit: 1,
  context: (request) => authenticate(request.headers['x-api-key'] ?? ''),
  resolvers: {
    DateTime: new GraphQLScalarType({ name: 'DateTime', serialize: (moment) => moment.toISOString() }),
    Query: {
      events: async (_root, { first }, { organizationIds }) => ({
        nodes: await statements.nextEvents(organizationIds, first),
      }),
    },
    Event: {
      minimumAge: ({ age }) => Number(/\d{1,2}/.exec(age ?? '')?.[0]) || null,
      iframe: ({ iframeTagUrl, iframeScriptUrl }) =>
        iframeTagUrl || iframeScriptUrl ? { tagUrl: iframeTagUrl, scriptUrl: iframeScriptUrl } : null,
    },
    TicketRate: {
      availability: ({ sold, leftOver }) => ({ sold, available: leftOver }),
      minPerCheckout: ({ min }) => min ?? 1,
      maxPerCheckout: ({ max }) => Math.min(max ?? 50, 50),
    },
    Price: {
      price: ({ amount, currency }) => money(amount, currency),
      fee: (price) => money(feeOf(price), price.currency),
      total: (price) => money(price.amount + feeOf(price), price.currency),
      limit: ({ capacity }) => capacity,
    },
    Supplement: {
      name: ({ label }) => label,
      price: ({ amount, currency }) => money(amount, currency),
      compareAtPrice: ({ hasFakePrice, fakeAmount, currency }) =>
        hasFakePrice && fakeAmount !== null ? money(fakeAmount, currency) : null,
    },
  },
  loaders: {
    Event: {
      organization: one(statements.organizationsById, 'organizationId'),
      location: one(statements.locationsById, 'locationId'),
      ticketRates: ratesOfEvents,
    },
  },
})
app.get('/ready', () => 'ready')
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
