import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { logCodes } from '../http/request-log.ts'
import {
  type Code,
  limitProblems,
  type Problem,
  type Refusal,
  retryAfterOf,
  statusOf,
} from '../shared/errors.ts'
import { toSnakeCase } from './snake-case.ts'

const codes = Object.keys(statusOf) as [Code, ...Code[]]

const problemBody = z.looseObject({
  code: z.enum(codes).describe('Machine-readable error code.'),
  message: z.string().describe('Human-readable message.'),
  path: z.string().optional().describe('Path of the invalid input, such as `tickets.0.answers.1`.'),
})

/** JSON shape of a refusal (DECISIONS 6). Each of `errors` also carries its facts. */
export const errorBody = z
  .object({
    success: z.literal(false).describe('Always false for an error.'),
    code: z.enum(codes).describe('Code of the first error.'),
    message: z.string().describe('Message of the first error.'),
    errors: z.array(problemBody).describe('All errors, at most 100.'),
    request_id: z.string().describe('Identifier of the request, which the logs name.'),
  })
  .describe('Refused request.')

const inSnakeCase = (facts: object) =>
  Object.fromEntries(Object.entries(facts).map(([name, fact]) => [toSnakeCase(name), fact]))

// An unknown field keeps the client's spelling: ticketRateId is not ticket_rate_id.
const toPath = ({ code, path = [] }: Problem) =>
  path.map((key) => (typeof key === 'string' && code !== 'UNKNOWN_FIELD' ? toSnakeCase(key) : key)).join('.')

const toProblemBody = (problem: Problem): z.output<typeof problemBody> => ({
  code: problem.code,
  message: problem.message,
  ...(problem.path && problem.path.length > 0 && { path: toPath(problem) }),
  ...inSnakeCase(problem.facts ?? {}),
})

/** Sends a refusal with its status and the documented body. */
export function sendRefusal(reply: FastifyReply, { problems, code }: Refusal): FastifyReply {
  const [first] = problems
  logCodes(
    reply.request,
    problems.map(({ code }) => code),
  )
  const retryAfter = retryAfterOf(first)
  if (retryAfter) reply.header('retry-after', retryAfter)
  return reply.code(statusOf[code]).send({
    success: false,
    code,
    message: first.message,
    errors: limitProblems(problems).map(toProblemBody),
    request_id: reply.request.id,
  } satisfies z.output<typeof errorBody>)
}
