import { limitProblems, type Problem, type Refusal } from '../base/errors.ts'
import type { Money } from '../base/money.ts'
import { applyRefusal, type SendRefusal } from '../http/error-handler.ts'
import { toSnakeCase } from './snake-case.ts'

// REST shows amounts as numbers.
const shown = ([name, value]: [string, unknown]) => [
  toSnakeCase(name),
  typeof value === 'object' && value ? Number((value as Money).amount) : value,
]

// An unknown field keeps the client's spelling: startDate is not start_date.
const toPath = ({ code, path = [] }: Problem) =>
  path.map((key) => (typeof key === 'string' && code !== 'UNKNOWN_FIELD' ? toSnakeCase(key) : key)).join('.')

const toProblemBody = (problem: Problem) => ({
  code: problem.code,
  message: problem.message,
  ...(problem.path && problem.path.length > 0 && { path: toPath(problem) }),
  ...Object.fromEntries(Object.entries(problem.facts ?? {}).map(shown)),
})

/** Shapes a refusal with all its errors, each with its facts (DECISIONS, errors). */
export const toErrorBody = ({ problems, code }: Refusal, requestId: string) => ({
  success: false,
  code,
  message: problems[0].message,
  errors: limitProblems(problems).map(toProblemBody),
  request_id: requestId,
})

/** Sends a refusal with its status and the documented body. */
export const sendRefusal: SendRefusal = (reply, refusal) =>
  applyRefusal(reply, refusal).send(toErrorBody(refusal, reply.request.id))
