import { GraphQLError, type GraphQLFormattedError } from 'graphql'
import { type Log, toRefusal } from '../http/mask-error.ts'
import { type Code, type Problem, statusOf } from '../shared/errors.ts'
import { requestLimits } from '../shared/request-limits.ts'
import { problemsToTell } from '../shared/told-problems.ts'

// What a GraphQL client is told of an error: a code of the list that both surfaces share, the place, the facts.

const toExtensions = ({ code, path, facts }: Problem, requestId: string) => ({
  code,
  path: path && path.length > 0 ? path.join('.') : undefined,
  ...facts,
  request_id: requestId,
})

/** The error of a request that never reached Yoga, in GraphQL's shape. */
export const toErrorResult = (
  problems: readonly [Problem, ...Problem[]],
  requestId: string,
): { errors: GraphQLFormattedError[] } => ({
  errors: problemsToTell(problems).map((problem) => ({
    message: problem.message,
    extensions: toExtensions(problem, requestId),
  })),
})

const codeOfStatus: Partial<Record<number, Code>> = {
  405: 'METHOD_NOT_ALLOWED',
  406: 'NOT_ACCEPTABLE',
  413: 'BODY_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
}

const isCode = (code: unknown): code is Code => typeof code === 'string' && Object.hasOwn(statusOf, code)

// How the rule that looks for conflicting fields says that there were too many of them to compare.
const gaveUp = 'Validation aborted.'

// graphql-js and Yoga have words of their own for a document or a request that is not as it must be.
function codeOf({ message, extensions }: GraphQLError): Code {
  if (message === gaveUp) return 'QUERY_TOO_COMPLEX'
  const ours = codeOfStatus[extensions.http?.status ?? 400]
  return ours ?? (isCode(extensions.code) ? extensions.code : 'BAD_REQUEST')
}

// graphql-js quotes the value that it refuses, which may be somebody's document number: the place is told instead.
const withoutValues = (message: string): string =>
  message
    .replace(gaveUp, 'The query is too complex to be checked.')
    .replace(/^((?:\w+|Enum "\w+") cannot represent [^:]*?): .*$/s, '$1.')
    .replace(/^Value ".*" does not exist in ("\w+" enum).*$/s, 'The value does not exist in the $1.')
    .replace(/^(Expected value of type "[^"]+"), found .*$/s, '$1.')
    .replace(/\b((?:Block)?String|Int|Float) ".*"/s, '$1')

/** What graphql-js says of a document or its variables, without what was sent; for a variable, with the place. */
function readMessage({ message, originalError }: GraphQLError): { message: string; path?: string } {
  const variable = /^Variable "\$(\w+)" (?:of (?:required|non-null) type|got invalid value) /.exec(
    message,
  )?.[1]
  if (!variable) return { message: withoutValues(message) }
  if (!originalError) return { message, path: variable }
  // «… got invalid value …; reason», and the reason is an error of its own.
  const reason = originalError.message
  const [, at = variable] = / at "([^"]*)"$/.exec(message.slice(0, -`; ${reason}`.length)) ?? []
  const field = /^Field "([^"]*)"/.exec(reason)?.[1]
  const path = [...at.split(/[.[\]]+/).filter(Boolean), ...(field === undefined ? [] : [field])]
  return { message: `Variable "$${variable}" is not valid: ${withoutValues(reason)}`, path: path.join('.') }
}

const { maxMessageLength, maxLocations } = requestLimits

// A name in it may be as long as the document.
const cut = (text: string): string =>
  text.length > maxMessageLength ? `${text.slice(0, maxMessageLength)}…` : text

// What graphql-js and the limits say is the client's to read; what a resolver threw is behind it.
function originOf({ originalError }: GraphQLError): unknown {
  return originalError instanceof GraphQLError ? originOf(originalError) : originalError
}

/** What a client is told of an error, in its place. `isWhole`: there is no data beside it, so the answer has the
 *  error's status; else one failed field must not turn the rest into an error. */
export function toClientError(
  error: GraphQLError,
  isWhole: boolean,
  { requestId, log }: { requestId: string; log: Log },
): GraphQLError {
  const { source, positions, path } = error
  const at = { source, positions: positions?.slice(0, maxLocations), path }
  const origin = originOf(error)
  if (!origin) {
    const { message, path: place } = readMessage(error)
    const { http } = error.extensions
    const extensions = {
      code: codeOf(error),
      path: place && cut(place),
      request_id: requestId,
      ...(http && { http }),
    }
    return new GraphQLError(cut(message), { ...at, extensions })
  }
  const [first, ...rest] = toRefusal(origin, requestId, log).problems
  const retryAfter = first.facts?.retryAfter
  const extensions = {
    ...toExtensions(first, requestId),
    ...(rest.length > 0 && { errors: toErrorResult([first, ...rest], requestId).errors }),
    ...(isWhole && {
      http: {
        status: statusOf[first.code],
        ...(retryAfter && { headers: { 'retry-after': String(retryAfter) } }),
      },
    }),
  }
  return new GraphQLError(first.message, { ...at, extensions })
}
