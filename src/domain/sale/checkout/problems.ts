import { type Problem, problem } from '../../../shared/errors.ts'

/** Reports that fewer places are available than requested. `subject` is the rate or price that has too
 *  few. */
export const availabilityProblem = (
  available: number,
  subject: string,
  path: (string | number)[],
): Problem =>
  available === 0
    ? problem('SOLD_OUT', `The ${subject} is sold out.`, path, { available })
    : problem('INSUFFICIENT_AVAILABILITY', `The ${subject} has ${available} left.`, path, { available })
