/** Limits of a request, for both surfaces. A request within them is answered or refused in less than a tenth
 *  of a second, so that it does not hold up others; they are checked before any input is coerced (DECISIONS,
 *  limits). Real requests stay far below: an order of 50 pieces that fills the body has some 6,000 values, 8 levels
 *  deep. */
export const requestLimits = {
  /** Bytes of the body. */
  maxBodyBytes: 256 * 1024,
  /** Nesting depth of JSON. */
  maxJsonDepth: 32,
  /** Entries of one JSON array, and fields of one JSON object. */
  maxJsonWidth: 1_000,
  /** Total number of JSON values, including arrays and objects. */
  maxJsonValues: 10_000,
  /** Characters of a JSON field name. Any name that fits into stored metadata fits. */
  maxNameLength: 1_024,
  /** Characters of a GraphQL document. */
  maxDocumentLength: 50_000,
  /** Lines of a GraphQL document, as many as tokens: locating an error takes time linear in lines. */
  maxDocumentLines: 2_000,
  /** Tokens of a GraphQL document, without comments. */
  maxDocumentTokens: 2_000,
  maxAliases: 30,
  /** Pairs of fields of the same name, and of fragments, at the same level, which validation compares. Twenty fragments
   *  of thirty equal fields, as many as fit into a document, are 5,900. */
  maxFieldComparisons: 10_000,
  /** Values in an introspection response. Tools need fewer than 8,000, with descriptions and arguments. */
  maxIntrospectedValues: 20_000,
  /** Cost of an operation. Measured: a page of 50 events with everything under them costs 35,350 and takes a
   *  tenth of a second, one of 100 costs 65,700, ten of 50 cost 353,500; everything about an order,
   *  selected twice, costs 138,790 and is 9 deep. */
  maxComplexity: 150_000,
  maxDepth: 10,
  maxBreadth: 2_000,
  /** Errors after which validation of a document, or of variables, stops: each one is expensive to build. */
  maxGraphqlErrors: 10,
  /** Errors in a response. */
  maxErrors: 100,
  /** Approximate total characters of the errors, so that a response is not far larger than its request. */
  maxErrorCharacters: 16_384,
  /** Characters of a message that quotes names from a document or from variables. */
  maxMessageLength: 500,
  /** Locations in the document per error. */
  maxLocations: 5,
} as const
