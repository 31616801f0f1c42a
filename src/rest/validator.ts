import type { z } from 'zod'
import { parse } from '../shared/input-types.ts'

/** Fastify's validator: the zod schemas that the OpenAPI document is made from. It hands the Refusal to Fastify, which
 *  throws it. */
export const validatorCompiler =
  ({ schema }: { schema: z.ZodType }) =>
  (given: unknown) => {
    try {
      return { value: parse(schema, given) }
    } catch (error) {
      return { error: error as Error }
    }
  }
