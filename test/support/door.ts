import { expect } from 'vitest'
import type { Sale } from './sale.ts'

// Scans at the door and at the bar, by an integration.

type Problem = { code: string; path: string | null }
export type Scan = {
  result: string
  people: number
  entered: number | null
  admits: number | null
  idempotentReplayed: boolean
  ticket: { id: string; enter: number; for: number } | null
  errors?: Problem[]
}
export type Redemption = {
  result: string
  redeemed: number
  left: number
  supplementId: string
  idempotentReplayed: boolean
  ticket: { id: string } | null
  errors?: Problem[]
}

let nonces = 0
const nextNonce = () => `nonce_${nonces++}`

type Desk = Pick<Sale, 'graphql' | 'integration'>

async function answerOf<Result>(
  { graphql, integration }: Desk,
  field: string,
  [fields, headers]: [string, Record<string, string> | undefined],
  given: Record<string, unknown>,
): Promise<Result> {
  const { qrCode, ticketId, ...rest } = given
  const ticket = { ...(qrCode !== undefined && { qrCode }), ...(ticketId !== undefined && { ticketId }) }
  const input = { nonce: nextNonce(), ticket, ...rest }
  const declared = `mutation ($input: ${field[0]?.toUpperCase()}${field.slice(1)}Input!)`
  const refused = '... on Refused { errors { code path } }'
  const { data, errors } = await graphql<{ answer: Result }>(
    `${declared} { answer: ${field}(input: $input) { ${fields} ${refused} } }`,
    { input },
    headers ?? integration.v2,
  )
  expect(errors).toBeUndefined()
  if (!data) throw new Error('a scan has data')
  return data.answer
}

/** Scans a ticket at the door. */
export function scanTicket(
  desk: Desk,
  given: { direction?: 'IN' | 'OUT'; nonce?: string } & Record<string, unknown>,
  headers?: Record<string, string>,
): Promise<Scan> {
  const fields = '... on CheckIn { result people entered admits idempotentReplayed ticket { id enter for } }'
  return answerOf(desk, 'checkInTicket', [fields, headers], given)
}

/** Redeems a supplement at the bar. */
export function redeem(
  desk: Desk,
  given: Record<string, unknown>,
  headers?: Record<string, string>,
): Promise<Redemption> {
  const fields = '... on Redemption { result redeemed left supplementId idempotentReplayed ticket { id } }'
  return answerOf(desk, 'redeemSupplement', [fields, headers], given)
}
