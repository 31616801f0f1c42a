import rateLimits from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { type Refusal, refusal } from '../base/errors.ts'
import { requestLimits } from '../base/request-limits.ts'
import { createBulkhead } from '../base/turns.ts'
import type { HttpConfig } from '../config/http.ts'
import { clientAddress } from '../http/connection-limits.ts'
import { createLimitCounters } from '../http/limit-counters.ts'
import { isRememberedValid, type Services } from './context.ts'
import { RequestTurns } from './request-turns.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Key that the request is counted under. */
    limitKey: string
    /** True while the request counts as a failure of its address, until its credentials prove valid. */
    isUnproven: boolean
    /** Counts work for public credentials by its cost, as so many requests. Returns the refusal once those of this second
     *  are used up: RATE_LIMITED. */
    spend(cost: number): Refusal | null
  }
  interface FastifyContextConfig {
    /** Returns the unguessable token in the URL that grants access to the route; null if it is malformed. */
    tokenOf?: (request: FastifyRequest) => string | null
  }
}

/** Requests per second of a set of credentials, and of an address with public ones; null for no limit. */
type Limits = Pick<HttpConfig, 'rateLimit' | 'trustProxy'> & { publicRateLimit: number | null }

/** Limits on requests per second, in this process. Refuses: RATE_LIMITED. */
export type RateLimits = ReturnType<typeof createRateLimits>

const windowMs = 1000
// Answers 429 are sent this late: a client that sends its next request on each would keep the process busy with refusals.
const refusalMs = 200
const noLimit = Number.MAX_SAFE_INTEGER
// Bounds the cost of many guesses at once: the failures of the first ones stop the others.
const lookups = { maxAtOnce: 16, maxOfOwner: 8, maxWaiting: Number.POSITIVE_INFINITY }
const maxTokens = 20_000
// Cost that counts as a request: as many requests a second as public credentials have by default are one operation of the
// highest cost.
const costOfRequest = requestLimits.maxComplexity / 50

// Once: anybody can send the header.
const behindProxy =
  'requests that name a client behind a proxy (X-Forwarded-For) were limited by the address of the proxy: if it is yours, set TRUST_PROXY'

const addressKey = (request: FastifyRequest) => `address ${clientAddress(request)}`
const failuresKey = (request: FastifyRequest) => `failures ${clientAddress(request)}`
const tokenPrefix = 'token '

function limitKeyOf(request: FastifyRequest): string {
  const { tokenOf } = request.routeOptions.config
  if (tokenOf) {
    const token = tokenOf(request)
    return token === null ? addressKey(request) : tokenPrefix + token
  }
  const { areWellFormed, hash, isPublic } = request.credentials
  if (!areWellFormed) return addressKey(request)
  // Everybody has public credentials, so one person must not use up the others' requests.
  return isPublic ? `${hash} ${addressKey(request)}` : hash
}

/** Limits requests per set of credentials, per public credentials and address (`publicRateLimit`), per token
 *  in a URL, and otherwise per address. Also limits the failures of each address: invalid credentials, unknown
 *  tokens, wrong signatures. Credentials count as a failure until they prove valid, so that any number of concurrent guesses costs no more SQL than the limit.
 *  An address with too many failures is still accepted with valid credentials, even if this process sees them
 *  for the first time. Null means no limit. */
export function createRateLimits(
  { db, access }: Pick<Services, 'db' | 'access'>,
  { rateLimit, publicRateLimit, trustProxy }: Limits,
) {
  const perSecond = rateLimit ?? noLimit
  const perPublic = publicRateLimit ?? noLimit
  const counters = createLimitCounters(windowMs)
  const knownTokens = new LRUCache<string, true>({ max: maxTokens })
  const turns = new RequestTurns()
  const limitLookups = createBulkhead(lookups)
  const isLimited = perSecond !== noLimit
  const isUsedUp = (key: string) => counters.read(key).count >= perSecond

  const tooMany = (source: string, limit = perSecond) =>
    refusal('RATE_LIMITED', `Too many requests ${source}.`, undefined, { limit, retryAfter: 1 })
  const tooManyBy = (key: string) =>
    tooMany(key.startsWith('address ') ? 'from this address' : 'with this key')
  const tooManyFailures = () => tooMany('from this address, with invalid credentials or links')

  async function requireTrust(request: FastifyRequest): Promise<void> {
    if (counters.add(failuresKey(request)).count <= perSecond) request.isUnproven = true
    else if (!(await access.isListed(db, request.credentials))) throw tooManyFailures()
  }

  const tooManyWithKey = () => tooMany('with this key from this address', perPublic)

  function spend(this: FastifyRequest, cost: number): Refusal | null {
    const { credentials, limitKey } = this
    if (!credentials.isPublic || perPublic === noLimit) return null
    const key = `cost ${limitKey}`
    // What begins within the limit may go beyond it, so that everything can be asked for.
    if (counters.read(key).count >= perPublic) return tooManyWithKey()
    counters.add(key, Math.ceil(cost / costOfRequest))
    return null
  }

  // A stranger may send any token and any key: until they prove good, its address is what takes turns.
  function ownerOf(request: FastifyRequest, key: string): string {
    const isProven = key.startsWith(tokenPrefix)
      ? knownTokens.has(key)
      : isRememberedValid(db, request.credentials.hash)
    return isProven ? key : addressKey(request)
  }

  // The library's own stores count separately for each set of options, and cannot take back a count.
  class Store {
    incr(key: string, done: (error: null, result: { current: number; ttl: number }) => void): void {
      const { count, leftMs } = counters.add(key)
      done(null, { current: count, ttl: leftMs })
    }
    child(): this {
      return this
    }
  }

  return {
    /** Limits every route, except those with `config.rateLimit: false`. Call it before the routes are added. */
    async addTo(app: FastifyInstance): Promise<void> {
      app.decorateRequest('limitKey', '')
      app.decorateRequest('isUnproven', false)
      app.decorateRequest('spend', spend)
      app.addHook('onRequest', (request, reply, done) => {
        if (request.routeOptions.config.rateLimit === false) return done()
        request.limitKey = limitKeyOf(request)
        try {
          turns.take(ownerOf(request, request.limitKey), () => {
            // Its time may be over.
            if (!reply.sent) done()
          })
        } catch (error) {
          done(error as Error)
        }
      })
      // Runs before the library's hook, which is added to each route.
      app.addHook('onRequest', (request, reply, done) => {
        const { credentials, routeOptions } = request
        const { rateLimit, tokenOf } = routeOptions.config
        const { limitKey: key } = request
        if (rateLimit === false || (!isLimited && !credentials.isPublic)) return done()
        const isPublic = !tokenOf && credentials.isPublic
        if (isPublic && counters.add(`public ${key}`).count > perPublic) {
          reply.header('retry-after', 1)
          return done(tooManyWithKey())
        }
        // The library's hook is added to each route, and these requests have none.
        if (isLimited && request.is404 && counters.add(key).count > perSecond) return done(tooManyBy(key))
        const hasCredentials = !tokenOf && !key.startsWith('address ')
        // A request over its own limit is refused by that limit, without SQL.
        if (!hasCredentials || isRememberedValid(db, credentials.hash) || isUsedUp(key)) return done()
        requireTrust(request).then(() => done(), done)
      })
      let isTold = trustProxy !== false
      app.addHook('onResponse', (request, reply, done) => {
        const isTelling = !isTold && reply.statusCode === 429 && request.limitKey.includes('address ')
        if (isTelling && request.headers['x-forwarded-for'] !== undefined) {
          isTold = true
          app.log.warn(behindProxy)
        }
        if (request.isUnproven && isRememberedValid(db, request.credentials.hash))
          counters.takeBack(failuresKey(request))
        done()
      })
      app.addHook('onSend', (_request, reply, payload, done) => {
        if (reply.statusCode !== 429) done(null, payload)
        else setTimeout(() => done(null, payload), refusalMs)
      })
      // Without a limit there are no headers that tell it.
      if (!isLimited) return
      await app.register(rateLimits, {
        max: perSecond,
        timeWindow: windowMs,
        keyGenerator: ({ limitKey }) => limitKey,
        store: Store,
        errorResponseBuilder: ({ limitKey }) => tooManyBy(limitKey),
      })
    },
    /** Runs the lookup of the token of a route with `config.tokenOf`. An unknown token counts as a failure of
     *  the address. An address with too many failures can look up only tokens that were found before. */
    async lookUpToken<Row>(request: FastifyRequest, find: () => Promise<Row | null>): Promise<Row | null> {
      const key = request.limitKey
      // A malformed token counts as a request of its address, and costs no SQL.
      if (!key.startsWith(tokenPrefix) || knownTokens.has(key)) return find()
      return limitLookups(clientAddress(request), async () => {
        if (isUsedUp(failuresKey(request))) throw tooManyFailures()
        const found = await find()
        if (found === null) counters.add(failuresKey(request))
        else knownTokens.set(key, true)
        return found
      })
    },
    /** Counts a failure of the request's address. */
    countFailure(request: FastifyRequest): void {
      if (counters.add(failuresKey(request)).count > perSecond) throw tooManyFailures()
    },
  }
}
