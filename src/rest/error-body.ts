import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { type Code, type Problem, type Refusal, statusOf } from '../shared/errors.ts'
import { problemsToTell } from '../shared/told-problems.ts'
import { toSnakeCase } from './snake-case.ts'

const codes = Object.keys(statusOf) as [Code, ...Code[]]

const problemBody = z.looseObject({
  code: z.enum(codes),
  message: z.string(),
  path: z.string().optional().meta({ description: 'The place in the request: `tickets.0.answers.1`.' }),
})

/** What every refusal looks like (DECISIONS 6). Facts ride along in each of `errors`. */
export const errorBody = z
  .object({
    success: z.literal(false),
    code: z.enum(codes).meta({ description: "The first error's." }),
    message: z.string().meta({ description: "The first error's." }),
    errors: z.array(problemBody).meta({ description: 'Everything that was wrong.' }),
    request_id: z.string(),
  })
  .meta({ description: 'Why the request was refused.' })

const inSnakeCase = (facts: object) =>
  Object.fromEntries(Object.entries(facts).map(([name, fact]) => [toSnakeCase(name), fact]))

// A field that is unknown is named as the client spelled it: ticketRateId is not ticket_rate_id.
const placeOf = ({ code, path = [] }: Problem) =>
  path.map((key) => (typeof key === 'string' && code !== 'UNKNOWN_FIELD' ? toSnakeCase(key) : key)).join('.')

const toProblemBody = (problem: Problem): z.output<typeof problemBody> => ({
  code: problem.code,
  message: problem.message,
  ...(problem.path && problem.path.length > 0 && { path: placeOf(problem) }),
  ...inSnakeCase(problem.facts ?? {}),
})

/** Answers a refusal with its status and the documented body. */
export function sendRefusal(reply: FastifyReply, { problems, code }: Refusal): FastifyReply {
  const [first] = problems
  if (first.facts?.retryAfter) reply.header('retry-after', first.facts.retryAfter)
  return reply.code(statusOf[code]).send({
    success: false,
    code,
    message: first.message,
    errors: problemsToTell(problems).map(toProblemBody),
    request_id: reply.request.id,
  } satisfies z.output<typeof errorBody>)
}
