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
  input: Record<string, unknown>,
): Promise<Result> {
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

/** Input of a scan with a nonce, and with its ticket as the one choice that it is. */
function withTicket({ qrCode, ticketId, ...rest }: Record<string, unknown>): Record<string, unknown> {
  const ticket = { ...(qrCode !== undefined && { qrCode }), ...(ticketId !== undefined && { ticketId }) }
  return { nonce: nextNonce(), ticket, ...rest }
}

/** Scans a ticket at the door. */
export function scanTicket(
  desk: Desk,
  given: { direction?: 'IN' | 'OUT'; nonce?: string } & Record<string, unknown>,
  headers?: Record<string, string>,
): Promise<Scan> {
  const fields = '... on CheckIn { result people entered admits idempotentReplayed ticket { id enter for } }'
  return answerOf(desk, 'checkInTicket', [fields, headers], withTicket(given))
}

const resultFields = `... on CheckIn { result reasons people entered admits at firstEnteredAt idempotentReplayed
  ticket { id enter for } } ... on Refused { errors { code path } }`

export type LateScan = Scan & { reasons: string[]; at: string; firstEnteredAt: string | null }

/** Uploads scans that were made offline. Returns their outcomes, or the errors of the whole batch. */
export async function uploadScans(
  desk: Desk,
  scans: ({ direction?: 'IN' | 'OUT'; nonce?: string } & Record<string, unknown>)[],
  headers?: Record<string, string>,
): Promise<LateScan[] & { errors?: Problem[] }> {
  const input = { scans: scans.map((scan) => ({ nonce: nextNonce(), ...scan })) }
  const fields = `... on CheckInTicketsPayload { results { ${resultFields} } }`
  const answer = await answerOf<{ results?: LateScan[]; errors?: Problem[] }>(
    desk,
    'checkInTickets',
    [fields, headers],
    input,
  )
  return Object.assign(answer.results ?? [], answer.errors && { errors: answer.errors })
}

/** Redeems a supplement at the bar. */
export function redeem(
  desk: Desk,
  given: Record<string, unknown>,
  headers?: Record<string, string>,
): Promise<Redemption> {
  const fields = '... on Redemption { result redeemed left supplementId idempotentReplayed ticket { id } }'
  return answerOf(desk, 'redeemSupplement', [fields, headers], withTicket(given))
}
