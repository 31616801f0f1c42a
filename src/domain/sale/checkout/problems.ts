import type { Code, Facts, Problem } from '../../../shared/errors.ts'

type Path = (string | number)[]

export const problem = (code: Code, message: string, path: Path, facts?: Facts): Problem => ({
  code,
  message,
  path,
  facts,
})

/** Reports that fewer places are available than requested. `subject` is the rate or price that has too
 *  few. */
export const availabilityProblem = (available: number, subject: string, path: Path): Problem =>
  available === 0
    ? problem('SOLD_OUT', `The ${subject} is sold out.`, path, { available })
    : problem('INSUFFICIENT_AVAILABILITY', `The ${subject} has ${available} left.`, path, { available })
