import { sha256 } from '../../engine/base/ids.ts'
import { isDuplicate } from '../../engine/database/database.ts'
import { refusal } from '../contract/problem-codes.ts'
import type { Mode } from './mode.ts'

/** Hashed idempotency key of a caller, and the hash of the request that it sent with it. */
export type Idempotency = { id: string; requestHash: string }

/** Names a caller or its key in a mode: each mode has idempotency keys of its own, so that nothing of
 *  a test is replayed to a live caller. */
export const nameInMode = ({ mode }: { mode: Mode }, name: string): string =>
  mode === 'test' ? `test ${name}` : name

/** Hashes an idempotency key and its request. */
export const hashRequest = (callerId: string, key: string, request: unknown): Idempotency => ({
  id: sha256(JSON.stringify([callerId, key])),
  // Parsing has put the fields in a fixed order, so equal requests serialize to the same text.
  requestHash: sha256(JSON.stringify(request)),
})

/** The same. Null without a key. */
export const hashIdempotency = (callerId: string, key: string | null | undefined, request: unknown) =>
  key ? hashRequest(callerId, key, request) : null

/** Checks that what was made under an idempotency key was made by the same request, and returns it to be
 *  replayed; null if nothing was made. Refuses: IDEMPOTENCY_KEY_REUSED. */
export function checkReplay<Made extends { requestHash: string | null }>(
  made: Made | null | undefined,
  requestHash: string,
  message: string,
): Made | null {
  if (made && made.requestHash !== requestHash)
    throw refusal('IDEMPOTENCY_KEY_REUSED', message, ['idempotencyKey'])
  return made ?? null
}

/** Runs a transaction that replays what was made under an idempotency key, or makes it. Concurrent requests
 *  under one key may share no lock: only a unique index stops the second, which then runs again and finds
 *  what the first has made. `attempts` is more than two where the keys are many. */
export const retryOnDuplicate = <Result>(run: () => Promise<Result>, attempts = 2): Promise<Result> =>
  run().catch((error: unknown) => {
    if (isDuplicate(error) && attempts > 1) return retryOnDuplicate(run, attempts - 1)
    throw error
  })
