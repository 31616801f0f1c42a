// Types of a caller, as far as the engine needs to know it. The product adds its own members to these types (domain/caller), as
// plugins do to Fastify's.

/** Credentials of a request, not yet authenticated. */
export interface Credentials {
  /** Cache key that identifies them and does not reveal them. */
  readonly hash: string
  /** True if everybody may have them, so that they prove nobody's identity. */
  readonly isPublic: boolean
  /** Origin of the page that sent the request; undefined if no browser did. */
  readonly origin: string | undefined
  /** False if they are refused without any SQL. */
  readonly areWellFormed: boolean
  /** Names of the headers that credentials are sent in. */
  readonly sentIn: string
  /** Address of a client with public credentials, for limits; else ''. */
  readonly address: string
}

/** Result of an authentication, which the product adds the `caller` to. `now` is the database's clock, which the whole
 *  request uses. `since` is the start of the lookup and `until` the expiry of the key at the latest, both on the clock of
 *  this process (`performance.now()`). */
export interface Authenticated {
  now: Date
  since: number
  until: number
}

/** An authenticated client. */
export type Caller = Authenticated['caller']

/** Needs of an operation, said where it is defined: by each root field of GraphQL and each authenticated REST route. */
export interface Needs {
  /** True if callers with the same view may share the answer. A REST route then answers by `answerRead`. */
  shared?: true
}

/** Parameters that limit a loader to rows that the caller may see. A statement uses those it needs. */
export interface Reach {
  /** Organizations whose rows the caller reads in full. */
  ownOrganizationIds: string[]
  /** Organization that a statement is about, if it is about one. */
  organizationId?: string
}
