import { limitProblems, type Problem, Refusal } from '../base/errors.ts'
import { builder } from './builder.ts'

// Refusals as data: one type of refusal, whose errors have a code, and the facts of that code. The product describes them.

/** Codes that are data, and never errors of a whole request, each with the type of its errors. */
export const errorTypes = new Map<string, string>()

/** A `Refusal` as data, with all its problems. */
export type Refused = { refused: Problem[] }

/** Returns the result of a verb, or its refusal as data. Anything else that it throws passes through (DECISIONS, errors). */
export async function catchRefusal<T>(result: () => Promise<T>): Promise<T | Refused> {
  try {
    return await result()
  } catch (error) {
    if (error instanceof Refusal && error.problems.every(({ code }) => errorTypes.has(code)))
      return { refused: limitProblems(error.problems) }
    throw error
  }
}

export const RefusalErrorRef = builder.interfaceRef<Problem>('RefusalError')

export const RefusedRef = builder.objectRef<Refused>('Refused')
