import { z } from 'zod'
import { limitProblems, type Problem, type Refusal } from '../base/errors.ts'
import type { Money } from '../base/money.ts'
import { type Code, type FactName, facts, problemCodes } from '../base/problem-codes.ts'
import { requestLimits } from '../base/request-limits.ts'
import { applyRefusal, type SendRefusal } from '../http/error-handler.ts'
import { toSnakeCase } from './snake-case.ts'

const errorCode = z
  .enum(Object.keys(problemCodes) as [Code, ...Code[]])
  .meta({ id: 'ErrorCode', description: 'Machine-readable error code, the same in REST and GraphQL.' })

const factTypes = { count: z.int(), amount: z.number(), moment: z.iso.datetime(), status: z.string() }
const factFields = Object.entries(facts).map(([name, [type, description]]) => [
  toSnakeCase(name),
  factTypes[type].optional().describe(description),
])

// REST shows amounts as numbers.
const shown = ([name, value]: [string, unknown]) => [
  toSnakeCase(name),
  facts[name as FactName][0] === 'amount' ? Number((value as Money).amount) : value,
]

const problemBody = z
  .looseObject({
    code: errorCode.describe('Code of this error.'),
    message: z.string().describe('Human-readable message.'),
    path: z.string().optional().describe('Path of the invalid input, such as `tickets.0.answers.1`.'),
  })
  .extend(Object.fromEntries(factFields) as Record<string, z.ZodOptional>)
  .meta({ id: 'Problem', description: 'One error of a refused request, with the facts that its code has.' })

/** JSON shape of a refusal (DECISIONS 6). Each of `errors` also carries its facts. */
export const errorBody = z
  .object({
    success: z.literal(false).describe('Always false for an error.'),
    code: errorCode.describe('Code of the first error.'),
    message: z.string().describe('Message of the first error.'),
    errors: z.array(problemBody).min(1).max(requestLimits.maxErrors).describe('All errors, at most 100.'),
    request_id: z.string().describe('Identifier of the request, which the logs name.'),
  })
  .meta({ id: 'Error', description: 'Refused request.' })

// An unknown field keeps the client's spelling: ticketRateId is not ticket_rate_id.
const toPath = ({ code, path = [] }: Problem) =>
  path.map((key) => (typeof key === 'string' && code !== 'UNKNOWN_FIELD' ? toSnakeCase(key) : key)).join('.')

const toProblemBody = (problem: Problem): z.output<typeof problemBody> => ({
  code: problem.code,
  message: problem.message,
  ...(problem.path && problem.path.length > 0 && { path: toPath(problem) }),
  ...Object.fromEntries(Object.entries(problem.facts ?? {}).map(shown)),
})

/** Shapes a refusal with all its errors. */
export const toErrorBody = ({ problems, code }: Refusal, requestId: string): z.output<typeof errorBody> => ({
  success: false,
  code,
  message: problems[0].message,
  errors: limitProblems(problems).map(toProblemBody),
  request_id: requestId,
})

/** Sends a refusal with its status and the documented body. */
export const sendRefusal: SendRefusal = (reply, refusal) =>
  applyRefusal(reply, refusal).send(toErrorBody(refusal, reply.request.id))
