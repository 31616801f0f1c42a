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
  variables = {},
): Promise<Result> {
  const input = `${field.charAt(0).toUpperCase()}${field.slice(1).replace(/\(.*/s, '')}Input`
  const declared = Object.keys(variables).length > 0 ? `mutation ($input: ${input}!)` : 'mutation'
  const refused = '... on Refused { errors { code path } }'
  const { data, errors } = await graphql<{ answer: Result }>(
    `${declared} { answer: ${field} { ${fields} ${refused} } }`,
    variables,
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
  const args = Object.entries({ nonce: nextNonce(), ...given }).map(
    ([name, value]) => `${name}: ${name === 'direction' ? value : JSON.stringify(value)}`,
  )
  const fields = '... on CheckIn { result people entered admits idempotentReplayed ticket { id enter for } }'
  return answerOf(desk, `checkInTicket(${args.join(', ')})`, [fields, headers])
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
    'checkInTickets(input: $input)',
    [fields, headers],
    { input },
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
  const input = { nonce: nextNonce(), ...given }
  return answerOf(desk, 'redeemSupplement(input: $input)', [fields, headers], { input })
}
