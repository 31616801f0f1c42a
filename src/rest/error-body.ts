import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { logCodes } from '../http/request-log.ts'
import {
  type Code,
  type FactName,
  limitProblems,
  type Problem,
  type Refusal,
  retryAfterOf,
  statusOf,
} from '../shared/errors.ts'
import { requestLimits } from '../shared/request-limits.ts'
import { toSnakeCase } from './snake-case.ts'

const errorCode = z
  .enum(Object.keys(statusOf) as [Code, ...Code[]])
  .meta({ id: 'ErrorCode', description: 'Machine-readable error code, the same in REST and GraphQL.' })

const count = z.int()
const amount = z.number()
const moment = z.iso.datetime()
const described = (type: z.ZodType, description: string) => type.optional().describe(description)

const facts: Record<FactName, z.ZodOptional> = {
  available: described(count, 'Number of places, or of uses of a discount, that are left.'),
  min: described(count, 'Minimum number of tickets per checkout.'),
  max: described(count, 'Maximum number of tickets per checkout.'),
  limit: described(count, 'Limit that was exceeded: requests per second, or bytes of metadata.'),
  validFrom: described(moment, 'Start of the sale, or of the validity of a discount.'),
  validUntil: described(moment, 'End of the sale, or of the validity of a discount.'),
  startDate: described(moment, 'Start of the event.'),
  minimumAge: described(count, 'Minimum age of the event, in years.'),
  totalAmount: described(amount, 'Total at the current price, in major units.'),
  retryAfter: described(count, 'Number of seconds after which to retry, as in the `Retry-After` header.'),
  refundable: described(amount, 'Amount that can still be refunded, in major units.'),
  from: described(z.string(), 'Current status.'),
  to: described(z.string(), 'Requested status.'),
}

const inSnakeCase = <Fields extends object>(fields: Fields): Record<string, Fields[keyof Fields]> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [toSnakeCase(name), value]))

const problemBody = z
  .looseObject({
    code: errorCode.describe('Code of this error.'),
    message: z.string().describe('Human-readable message.'),
    path: z.string().optional().describe('Path of the invalid input, such as `tickets.0.answers.1`.'),
  })
  .extend(inSnakeCase(facts))
  .meta({
    id: 'Problem',
    description: 'One error of a refused request, with the facts that its code has.',
  })

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

type ErrorBody = z.output<typeof errorBody>

// An unknown field keeps the client's spelling: ticketRateId is not ticket_rate_id.
const toPath = ({ code, path = [] }: Problem) =>
  path.map((key) => (typeof key === 'string' && code !== 'UNKNOWN_FIELD' ? toSnakeCase(key) : key)).join('.')

const toProblemBody = (problem: Problem): z.output<typeof problemBody> => ({
  code: problem.code,
  message: problem.message,
  ...(problem.path && problem.path.length > 0 && { path: toPath(problem) }),
  ...inSnakeCase(problem.facts ?? {}),
})

/** Shapes a refusal with all its errors. */
export const toErrorBody = ({ problems, code }: Refusal, requestId: string): ErrorBody => ({
  success: false,
  code,
  message: problems[0].message,
  errors: limitProblems(problems).map(toProblemBody),
  request_id: requestId,
})

/** Sends a refusal with its status and the documented body. */
export function sendRefusal(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { problems } = refusal
  logCodes(
    reply.request,
    problems.map(({ code }) => code),
  )
  const retryAfter = retryAfterOf(problems[0])
  if (retryAfter) reply.header('retry-after', retryAfter)
  return reply.code(statusOf[refusal.code]).send(toErrorBody(refusal, reply.request.id))
}
