import type { z } from 'zod'
import { parseRequest } from '../shared/input-types.ts'

/** Validator compiler for Fastify, for the same zod schemas that the OpenAPI document is generated from.
 *  Returns the `Refusal` to Fastify, which throws it. */
export const validatorCompiler =
  ({ schema }: { schema: z.ZodType }) =>
  (given: unknown) => {
    try {
      return { value: parseRequest(schema, given) }
    } catch (error) {
      return { error: error as Error }
    }
  }
