/** A code of refusals: its status of REST, its meaning, with field names in GraphQL's spelling, and the facts of an example. */
export type CodeEntry = { status: number; text: string; facts: object | undefined }

/** Makes the entry of a code. */
export const codeOf = <Facts extends object | undefined = undefined>(
  status: number,
  text: string,
  facts?: Facts,
) => ({ status, text, facts: facts as Facts })

/** Codes that the engine refuses with. The product has more (DECISIONS 6). */
export const engineCodes = {
  // Clients of persisted queries look for its error in an answer that succeeded.
  PERSISTED_QUERY_NOT_FOUND: codeOf(
    200,
    'No document is registered under this identifier: send its text as well.',
  ),
  BAD_REQUEST: codeOf(400, 'The request is malformed.'),
  INVALID: codeOf(400, 'A field has an invalid value.'),
  REQUIRED: codeOf(400, 'A required field is missing.'),
  UNKNOWN_FIELD: codeOf(400, 'The input has a field that does not exist.'),
  QUERY_TOO_COMPLEX: codeOf(400, 'The query exceeds a limit, such as its complexity or depth.'),
  UNAUTHENTICATED: codeOf(401, 'The credentials are missing or invalid.'),
  FORBIDDEN: codeOf(
    403,
    'The credentials are valid, but for the wrong kind of caller, or without the scope.',
  ),
  UNTRUSTED_DOCUMENT: codeOf(403, 'The service executes only documents that were registered beforehand.'),
  NOT_FOUND: codeOf(404, 'The object does not exist, or the caller may not see it.'),
  METHOD_NOT_ALLOWED: codeOf(405, 'The path does not support this HTTP method.'),
  NOT_ACCEPTABLE: codeOf(406, 'The response has none of the media types that the client accepts.'),
  BODY_TOO_LARGE: codeOf(413, 'The body is too large.'),
  METADATA_TOO_LARGE: codeOf(413, 'The metadata is larger than 1024 bytes.', { limit: 1024 }),
  UNSUPPORTED_MEDIA_TYPE: codeOf(415, 'The body has an unsupported media type.'),
  RATE_LIMITED: codeOf(429, 'Too many requests. Retry after `retryAfter` seconds.', {
    limit: 1000,
    retryAfter: 1,
  }),
  INTERNAL: codeOf(500, 'The service failed. Report the request id.'),
  BUSY: codeOf(503, 'The service is busy. Retry after `retryAfter` seconds.', { retryAfter: 1 }),
}
