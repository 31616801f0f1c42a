import { causesOf, errorCode } from '../../base/errors.ts'

/** Reason why a database can't be used. `code` is the driver's error code, if there was one. */
export type Unready = {
  reason: keyof typeof problems
  code: string | undefined
  /** Parameter of the address that the server refuses. */
  parameter?: string | undefined
}

/** Reasons in the words of an operator, with the settings to look at. `DATABASE_URL` stands for the one whose
 *  address was tried. The product may say more exactly what is meant. */
export const problems = {
  UNREACHABLE: 'the database is out of reach: see DATABASE_URL',
  TOO_MANY_CONNECTIONS:
    'the database has no connection left for this role: raise its limit (max_connections), or run fewer processes',
  STARTING: 'the database starts or shuts down, and takes no connections',
  ACCESS_REFUSED:
    'the database refuses the role, its password, its certificate or the name of the database: see DATABASE_URL',
  PARAMETER_REFUSED: 'the server refuses a parameter at the end of DATABASE_URL',
  TLS_FAILED:
    'the database and this process agree on no TLS, or one refuses the certificate of the other: see DATABASE_SSL, DATABASE_SSL_CA, DATABASE_SSL_CERT and the sslmode of DATABASE_URL',
  POOLER_UNDECLARED:
    'DATABASE_URL leads to a pooler: set DATABASE_POOLER=transaction, and DIRECT_DATABASE_URL to the address of the database itself',
  MIGRATIONS_MISSING: 'the tables are missing or not up to date: run npm run migrate',
  TABLES_OLDER:
    'the tables of this database are older than the first release, and there is no way on from them: begin with an empty database, and import everything again',
  DISTRIBUTING: 'the tables are being distributed, or were in part: run npm run distribute again, to its end',
  READ_ONLY: 'the database is read-only: see DATABASE_URL',
}

/** Describes why a database can't be used, with the setting to look at: the one that has the address. */
export const problemOf = ({ reason, parameter }: Omit<Unready, 'code'>, setting = 'DATABASE_URL'): string =>
  problems[reason].replace(/\bDATABASE_URL/, setting) + (parameter === undefined ? '' : `: ${parameter}`)

/** Creates an error that says why a database can't be used, and which setting to look at. */
export function unusable(unready: Unready, setting?: string): Error {
  const problem = problemOf(unready, setting)
  const code = unready.code ? ` (${unready.code})` : ''
  return new Error(`${problem.charAt(0).toUpperCase()}${problem.slice(1)}${code}`)
}

// A certificate that isn't accepted, or a peer that speaks no TLS, in the words of Node and OpenSSL.
const tlsFailure =
  /^ERR_(SSL|TLS|OSSL)_|CERT|CRL|^UNABLE_TO_VERIFY|^INVALID_(CA|PURPOSE)$|^(HOSTNAME_MISMATCH|PATH_LENGTH_EXCEEDED|EPROTO)$/
const tablesMissing = /^(42P01|3F000)$/
const accessRefused = /^(28\w{3}|3D000|42501)$/
const starting = /^57P0[1-3]$/

/** Creates an error with a code, like the driver's own. */
export const connectionError = (message: string, code: string, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { code })

/** Reports whether any of an error and its causes is as asked for. */
export const someCause = (error: unknown, isWanted: (cause: Error) => boolean): boolean =>
  [...causesOf(error)].some(isWanted)

/** Reports whether TLS could not be agreed on. A server without TLS closes the connection when the client begins
 *  with it, which Node reports as ECONNRESET with this text. */
export const isTlsFailure = (error: unknown): boolean =>
  tlsFailure.test(errorCode(error) ?? '') ||
  someCause(error, ({ message }) => message.includes('before secure TLS connection'))

// A pooler keeps the sessions of the server to itself, so it refuses what a client says about its own.
const isFromPooler = (error: unknown): boolean =>
  errorCode(error) === '08P01' && someCause(error, ({ message }) => message.includes('startup parameter'))

// Unknown, of a wrong value, or fixed. Its name is quoted first, in whatever language the server speaks.
const parameterRefused = /^(42704|22023|55P02)$/
const parameterIn = (error: unknown): string | undefined =>
  [...causesOf(error)]
    .flatMap(({ message }) => /["\u00ab\u00bb\u201c\u201e]([\w.]+)/.exec(message)?.[1] ?? [])
    .at(-1)

/** Finds the reason why a statement failed on a database that was just opened. */
export function unreadyBecause(error: unknown): Unready {
  const code = errorCode(error)
  if (tablesMissing.test(code ?? '')) return { reason: 'MIGRATIONS_MISSING', code }
  if (accessRefused.test(code ?? '')) return { reason: 'ACCESS_REFUSED', code }
  if (code === '53300') return { reason: 'TOO_MANY_CONNECTIONS', code }
  if (starting.test(code ?? '')) return { reason: 'STARTING', code }
  if (parameterRefused.test(code ?? '') && isConnectionFailure(error))
    return { reason: 'PARAMETER_REFUSED', code, parameter: parameterIn(error) }
  if (isTlsFailure(error)) return { reason: 'TLS_FAILED', code }
  return { reason: isFromPooler(error) ? 'POOLER_UNDECLARED' : 'UNREACHABLE', code }
}

// The server, or the network on the way to it, refused or ended the connection.
const connectionFailure =
  /^(08\w{3}|57P0[1-5]|E(CONN|HOST|NET|ADDR|NOTFOUND|AI_|PIPE|TIMEDOUT)\w*|CONNECT\w+|CONNECTION_\w+)$/

/** Reports whether a connection failed or ended: refused role or certificate, too many connections, server
 *  shutdown, network failure. An error of severity FATAL or PANIC ends the connection whatever its code. */
export const isConnectionFailure = (error: unknown): boolean =>
  connectionFailure.test(errorCode(error) ?? '') ||
  isTlsFailure(error) ||
  someCause(error, (cause) => 'severity' in cause && /^(FATAL|PANIC)$/.test(String(cause.severity)))

/** Reports whether a cluster failed to reach one of its servers: its answer is a plain error, and the connection to it
 *  goes on. */
export const isOfOtherServer = (error: unknown): boolean =>
  /^08/.test(errorCode(error) ?? '') &&
  someCause(error, (cause) => 'severity' in cause && cause.severity === 'ERROR')

/** Reports whether a write failed because the server is read-only, such as a demoted primary. */
export const isReadOnly = (error: unknown): boolean => errorCode(error) === '25006'
