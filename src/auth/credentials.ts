import type { FastifyInstance } from 'fastify'
import { clientAddress } from '../http/client-address.ts'
import { hashSecret, type KeyFacts, readKey } from './key.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Credentials of the request, not yet authenticated. */
    credentials: Credentials
  }
}

type Headers = Record<string, string | string[] | undefined>

const headerText = (value: string | string[] | undefined) => (Array.isArray(value) ? value.join(', ') : value)

/** Credentials of both methods: `x-api-key` (v2), `integration_id` and `secret` (v1). */
export class Credentials {
  readonly apiKey: string | undefined
  readonly integrationId: string | undefined
  readonly secret: string | undefined
  /** Origin of the page that sent the request; undefined if no browser did. */
  readonly origin: string | undefined
  /** Address of a client with a publishable key, for limits; else ''. */
  address = ''
  #apiKeyHash: string | undefined
  #hash: string | undefined
  #keyFacts: KeyFacts | null | undefined

  /** Reads the credentials from the headers of a request. */
  constructor(headers: Headers) {
    this.apiKey = headerText(headers['x-api-key'])
    this.integrationId = headerText(headers.integration_id)
    this.secret = headerText(headers.secret)
    this.origin = headers.origin as string | undefined
  }

  /** True if only an API key was sent, or nothing. */
  get isKeyOnly(): boolean {
    return this.integrationId === undefined && this.secret === undefined
  }

  /** True if the API key says that it is publishable. */
  get isPublishable(): boolean {
    return this.apiKey?.startsWith('box_pub_') ?? false
  }

  /** Facts that the API key states; null without one, or if it is malformed. Computed once. */
  get keyFacts(): KeyFacts | null {
    if (this.#keyFacts === undefined) this.#keyFacts = readKey(this.apiKey ?? '')
    return this.#keyFacts
  }

  /** Hash of the API key, as it is stored. Computed once: limits, caches and authentication all use it. */
  get apiKeyHash(): string {
    this.#apiKeyHash ??= hashSecret(this.apiKey ?? '')
    return this.#apiKeyHash
  }

  /** Cache key that identifies the credentials and does not reveal them. */
  get hash(): string {
    this.#hash ??= this.isKeyOnly
      ? this.apiKeyHash
      : hashSecret(JSON.stringify([this.apiKey, this.integrationId, this.secret]))
    return this.#hash
  }

  /** Reports whether they are well formed. Malformed credentials are refused without any SQL. */
  get areWellFormed(): boolean {
    return this.apiKey === undefined ? Boolean(this.integrationId && this.secret) : this.keyFacts !== null
  }
}

/** Reads the credentials of every request into `request.credentials`. Call it before the routes are added. */
export function readCredentials(app: FastifyInstance): void {
  app.decorateRequest('credentials')
  app.addHook('onRequest', (request, _reply, done) => {
    request.credentials = new Credentials(request.headers)
    if (request.credentials.isPublishable) request.credentials.address = clientAddress(request)
    done()
  })
}
