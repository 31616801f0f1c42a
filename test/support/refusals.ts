import { expect } from 'vitest'
import { type Code, problemCodes } from '../../src/domain/contract/problem-codes.ts'
import { idempotencyKeys, payments } from '../../src/domain/payment/table.ts'
import { stock } from '../../src/domain/stock/table.ts'
import { tickets } from '../../src/domain/ticket/table.ts'
import type { Gateway } from './harness.ts'

type Answer = {
  statusCode: number
  headers: Record<string, unknown>
  body: string
  json(): unknown
}
type Problem = { code: Code; message: string; path?: string }

/** Matches what must never reach a client: SQL, a stack, a file path, a secret. */
export const internalDetails =
  /\b(select|insert into|update|delete from)\b.+\b(from|values|set|where)\b|\$\d\b|\bat \S+ \(|node_modules|\.[cm]?[jt]s:\d|\/(work|tmp|home|root)\/|PGlite|postgres|drizzle|box_(live|test)_/i

const describeProblem = ({ code, path }: Problem) => (path === undefined ? code : `${code} ${path}`)

/** Summarizes a REST refusal: its status, then code and path of each problem. Fails if the body deviates from
 *  the documented shape. */
export function documentedRefusal(answer: Answer): string {
  expect(answer.statusCode, answer.body).toBeGreaterThanOrEqual(400)
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  const { errors, ...body } = answer.json() as { errors: [Problem, ...Problem[]] }
  expect(body).toEqual({
    success: false,
    code: errors[0].code,
    message: errors[0].message,
    request_id: answer.headers['x-request-id'],
  })
  expect(answer.statusCode).toBe(problemCodes[errors[0].code].status)
  expect(errors.every(({ code, message }) => code in problemCodes && message !== '')).toBe(true)
  return [answer.statusCode, ...errors.map(describeProblem)].join(' ')
}

/** Like `documentedRefusal`, and also fails if the body leaks internal details. */
export function refusal(answer: Answer): string {
  expect(internalDetails.exec(answer.body)?.[0]).toBeUndefined()
  return documentedRefusal(answer)
}

type GraphqlError = { message: string; extensions: Problem & { request_id: string } }

/** Summarizes a GraphQL refusal, whose data must be null. */
export function documentedGraphqlRefusal(answer: Answer): string {
  const { errors, data } = answer.json() as { errors: GraphqlError[]; data?: object }
  expect(Object.values(data ?? {}).filter((value) => value !== null)).toEqual([])
  for (const { message, extensions } of errors) {
    expect(message).not.toBe('')
    expect(Object.keys(problemCodes)).toContain(extensions.code)
    expect(extensions.request_id).toBe(answer.headers['x-request-id'])
  }
  return [answer.statusCode, ...errors.map(({ extensions }) => describeProblem(extensions))].join(' ')
}

export function graphqlRefusal(answer: Answer): string {
  expect(internalDetails.exec(answer.body)?.[0]).toBeUndefined()
  return documentedGraphqlRefusal(answer)
}

/** Counts what checkouts wrote: payments, tickets, idempotency keys and taken places. */
export async function countCheckoutRows({ db }: Gateway) {
  const counters = await db.select().from(stock)
  return {
    payments: await db.$count(payments),
    tickets: await db.$count(tickets),
    keys: await db.$count(idempotencyKeys),
    places: counters.reduce((sum, { sold, held }) => sum + sold + held, 0),
  }
}

export const noRows = { payments: 0, tickets: 0, keys: 0, places: 0 }
