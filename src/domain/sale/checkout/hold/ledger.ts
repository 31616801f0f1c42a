import { type Problem, problem, Refusal } from '../../../../shared/errors.ts'
import type { StockName } from '../../../ticket-rate/move-stock.ts'
import { type HoldJob, movesOf } from './hold-rows.ts'

/** Idempotency keys that jobs can't take: a checkout that uses the key is in progress, or completed. */
export type TakenKeys = Map<string, 'in progress' | 'completed'>

/** Key of a counter in a ledger. */
export const counterOf = ({ kind, id }: StockName): string => `${kind} ${id}`

export const requestedCodes = ({ plan }: HoldJob): string[] =>
  plan.tickets.flatMap(({ entry: { qrCode } }) => (qrCode ? [qrCode] : []))

const keyInUse = () =>
  new Refusal(
    problem('IDEMPOTENCY_KEY_IN_USE', 'A checkout with this key is still in progress.', ['idempotencyKey']),
  )

/** Accounts for jobs of one rate that are decided together: what is left of the stock, and which idempotency
 *  keys and ticket codes are taken. Read it under the lock of the stock rows: it is true for as long as that
 *  is held. */
export class Ledger {
  readonly #keys: TakenKeys
  readonly #codes: Set<string>
  readonly #left: Map<string, number>

  /** `left` has what is left of each rate, price and discount, `codes` the codes in use within the event. */
  constructor(keys: TakenKeys, codes: Iterable<string>, left: Map<string, number>) {
    this.#keys = new Map(keys)
    this.#codes = new Set(codes)
    this.#left = new Map(left)
  }

  /** Takes all that a job needs, or nothing. Null if the caller should plan the checkout again. */
  take(job: HoldJob): 'taken' | Refusal | null {
    const key = job.idempotency && this.#keys.get(job.idempotency.id)
    if (key) return key === 'completed' ? null : keyInUse()
    const [problem, ...more] = this.#codeProblems(job)
    if (problem) return new Refusal(problem, ...more)
    const moves = movesOf([job])
    if (moves.some((move) => this.#leftOf(move) < move.held)) return null
    for (const move of moves) this.#left.set(counterOf(move), this.#leftOf(move) - move.held)
    for (const code of requestedCodes(job)) this.#codes.add(code)
    if (job.idempotency) this.#keys.set(job.idempotency.id, 'completed')
    return 'taken'
  }

  isUsedUp(name: StockName): boolean {
    return this.#left.get(counterOf(name)) === 0
  }

  #leftOf(name: StockName): number {
    return this.#left.get(counterOf(name)) ?? 0
  }

  #codeProblems({ plan }: HoldJob): Problem[] {
    return plan.tickets.flatMap(({ entry: { qrCode } }, index) =>
      qrCode && this.#codes.has(qrCode)
        ? problem('QR_CODE_TAKEN', 'The code is already used within the event.', ['tickets', index, 'qrCode'])
        : [],
    )
  }
}
