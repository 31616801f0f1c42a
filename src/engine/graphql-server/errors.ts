import { GraphQLError } from 'graphql'
import { engineCodes, limitProblems, type Problem, retryAfterOf } from '../base/errors.ts'
import { requestLimits } from '../base/request-limits.ts'
import { type Log, toRefusal } from '../http/mask-error.ts'

// Errors as GraphQL clients receive them: a code from the list shared with REST, the path and the facts.

const toExtensions = ({ code, path, facts }: Problem, requestId: string) => ({
  code,
  path: path && path.length > 0 ? path.join('.') : undefined,
  ...facts,
  request_id: requestId,
})

/** Converts problems of a request that never reached Yoga into a GraphQL result. */
export const toErrorResult = (problems: readonly [Problem, ...Problem[]], requestId: string) => ({
  errors: limitProblems(problems).map((problem) => ({
    message: problem.message,
    extensions: toExtensions(problem, requestId),
  })),
})

// Message of graphql-js when there are too many conflicting fields to compare.
const abortedMessage = 'Validation aborted.'

// Maps errors of graphql-js and Yoga, which have messages and statuses of their own, to our codes.
function codeOf({ message, extensions }: GraphQLError): string {
  if (message === abortedMessage) return 'QUERY_TOO_COMPLEX'
  // A mutation by GET.
  if (extensions.http?.status === 405) return 'METHOD_NOT_ALLOWED'
  const { code } = extensions
  return typeof code === 'string' && Object.hasOwn(engineCodes, code) ? code : 'BAD_REQUEST'
}

// Removes the quoted input value, which may be personal data such as a document number.
const withoutValues = (message: string): string =>
  message
    .replace(abortedMessage, 'The query is too complex to be checked.')
    .replace(/^((?:\w+|Enum "\w+") cannot represent [^:]*?): .*$/s, '$1.')
    .replace(/^Value ".*" does not exist in ("\w+" enum).*$/s, 'The value does not exist in the $1.')
    .replace(/^(Expected value of type "[^"]+"), found .*$/s, '$1.')
    .replace(/^(Argument "\w+" has invalid value) .*$/s, '$1.')
    .replace(/\b((?:Block)?String|Int|Float|found Name) ".*"/s, '$1')

const ofVariable = /^Variable "\$(\w+)" (?:of (?:required|non-null) type|got invalid value) /

/** Returns the message of a graphql-js error without input values and, for a variable, its path. */
function readMessage({ message, originalError }: GraphQLError): { message: string; path?: string } {
  const variable = ofVariable.exec(message)?.[1]
  if (!variable) return { message: withoutValues(message) }
  if (!originalError) return { message, path: variable }
  // The message is «… got invalid value …; reason», and the reason is the original error.
  const reason = originalError.message
  const [, at = variable] = / at "([^"]*)"$/.exec(message.slice(0, -`; ${reason}`.length)) ?? []
  // Other reasons that name a field are at its place already.
  const field = /^Field "([^"]*)" (?:of required|is not defined)/.exec(reason)?.[1]
  const path = [...at.split(/[.[\]]+/).filter(Boolean), ...(field === undefined ? [] : [field])]
  return { message: `Variable "$${variable}" is not valid: ${withoutValues(reason)}`, path: path.join('.') }
}

const { maxMessageLength, maxLocations } = requestLimits

// A name quoted in a message may be as long as the document.
const truncate = (text: string): string =>
  text.length > maxMessageLength ? `${text.slice(0, maxMessageLength)}…` : text

// Finds the error that a resolver threw; undefined for errors of graphql-js and of the limits.
function originOf({ originalError }: GraphQLError): unknown {
  return originalError instanceof GraphQLError ? originOf(originalError) : originalError
}

/** Request that an error came of. */
export type Origin = { requestId: string; log: Log }

/** Converts an error into the one that the client receives. If `isWhole`, the response has no data, and takes
 *  the error's HTTP status; otherwise a failed field leaves the rest of the response intact. */
export function toClientError(error: GraphQLError, isWhole: boolean, { requestId, log }: Origin) {
  const { source, positions, path } = error
  const at = { source, positions: positions?.slice(0, maxLocations), path }
  const origin = originOf(error)
  if (!origin) {
    const { message, path: place } = readMessage(error)
    const { http } = error.extensions
    // As application/json the status stays 200, whatever is wrong with an operation (GraphQL over HTTP, 6.4.1).
    const refused = http?.status === 405 ? http : { spec: true, status: 400 }
    const extensions = {
      code: codeOf(error),
      path: place && truncate(place),
      request_id: requestId,
      ...(isWhole && { http: refused }),
    }
    return new GraphQLError(truncate(message), { ...at, extensions })
  }
  const [first, ...rest] = toRefusal(origin, requestId, log).problems
  const retryAfter = retryAfterOf(first)
  const extensions = {
    ...toExtensions(first, requestId),
    ...(rest.length > 0 && { errors: toErrorResult([first, ...rest], requestId).errors }),
    ...(isWhole && {
      http: { status: first.status, ...(retryAfter && { headers: { 'retry-after': String(retryAfter) } }) },
    }),
  }
  return new GraphQLError(first.message, { ...at, extensions })
}
