/** Bounds of what a request may hold, all of them, for both surfaces. What is within them is read, judged and answered
 *  or refused in less than a tenth of a second, so that no request holds up the others; they are looked at before
 *  anything is coerced (DECISIONS 10). Real requests are far below: 50 tickets of everything that fits into the bytes
 *  of a body are some 6,000 values, 8 levels deep. */
export const requestLimits = {
  /** Bytes of a body. */
  maxBodyBytes: 256 * 1024,
  /** Levels of lists and objects in JSON. */
  maxJsonDepth: 32,
  /** Entries of one list, and fields of one object, in JSON. */
  maxJsonWidth: 1_000,
  /** Values in JSON altogether, lists and objects among them. */
  maxJsonValues: 10_000,
  /** Characters of a field's name in JSON: those of a metadata field that is stored fit. */
  maxNameLength: 1_024,
  /** Characters of a GraphQL document. */
  maxDocumentLength: 50_000,
  /** Lines of it: as many as it may have tokens, because to say where an error is takes as long as there are lines. */
  maxDocumentLines: 2_000,
  /** Tokens of it, comments not counted. */
  maxDocumentTokens: 2_000,
  maxAliases: 30,
  /** Values that introspection answers with: tools ask for less than 8,000, all descriptions and arguments included. */
  maxIntrospectedValues: 20_000,
  /** Cost of an operation. Measured: a page of 50 events with everything under them costs 35,350 and takes a tenth of a
   *  second, one of 100 costs 65,700, ten of 50 cost 353,500; all there is to say of a checkout, twice over, costs
   *  138,790 and is 9 deep. */
  maxComplexity: 150_000,
  maxDepth: 10,
  maxBreadth: 2_000,
  /** Errors that are looked for in a document, and in variables: each is made with a text of all that is wrong. */
  maxGraphqlErrors: 10,
  /** Errors that an answer lists. Nobody reads more of them. */
  maxErrors: 100,
  /** Characters of them together, about: an answer is not to be many times the size of what was sent. */
  maxErrorCharacters: 16_384,
  /** Characters of one message that quotes names of a document or of variables. */
  maxMessageLength: 500,
  /** Places in the document that one error names. */
  maxLocations: 5,
} as const

/** The same, for a service that is to have others. */
export type RequestLimits = { readonly [Name in keyof typeof requestLimits]: number }
