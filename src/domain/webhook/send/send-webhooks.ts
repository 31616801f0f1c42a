import { setMaxListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import pLimit from 'p-limit'
import { byKey } from '../../../data/prepared.ts'
import type { Database } from '../../../database/database.ts'
import { signatures } from '../webhook-secret.ts'
import { giveBack } from './give-back.ts'
import { judgeAnswer } from './judge-answer.ts'
import { type PostOptions, postSigned } from './post-signed.ts'
import { type Attempt, recordAttempts } from './record-attempts.ts'
import { pace, type TakenDelivery, takeDeliveries } from './take-deliveries.ts'

// Taken and not sent yet, of all webhooks together.
const maxTaken = 400

// A process has buyers to serve as well.
const maxInASecond = 500

/** What a receiver is sent. `sequence` counts what happened to one subject, so that what comes in another order can be
 *  put right. */
const bodyOf = ({ change }: TakenDelivery): string =>
  JSON.stringify({
    type: change.type,
    timestamp: change.createdAt.toISOString(),
    subject_id: change.subjectId,
    sequence: change.sequence,
    data: change.data,
  })

// Null for what was on its way, or had yet to be, when it was told to stop.
async function send(taken: TakenDelivery, options: PostOptions): Promise<Attempt | null> {
  if (options.stopping.aborted) return null
  const message = { id: taken.change.id, timestamp: Math.floor(Date.now() / 1000), body: bodyOf(taken) }
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Boxoffice-Webhooks',
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestamp),
    'webhook-signature': signatures(taken.secrets, message),
  }
  const answer = await postSigned(new URL(taken.url), { headers, body: message.body }, options)
  return answer.error === 'STOPPED' ? null : { taken, verdict: judgeAnswer(answer, taken.attempts) }
}

const pause = (milliseconds: number) => setTimeout(Math.max(0, milliseconds), undefined, { ref: false })

/** Sends what is due to the webhooks, signed, until nothing is: at least once, and any number of processes at once,
 *  each with rows of its own. A webhook that is slow holds up no other. What is on its way when it is told to stop is
 *  given back at once (DECISIONS 7; Standard Webhooks). */
export async function sendWebhooks(
  db: Database,
  { timeoutSeconds = 10, ...more }: Omit<PostOptions, 'timeoutSeconds'> & { timeoutSeconds?: number },
): Promise<void> {
  const options = { timeoutSeconds, ...more }
  const { stopping } = options
  setMaxListeners(0, stopping)
  const leaseSeconds = timeoutSeconds * pace.inARow + 20
  // What runs, by webhook: one that is busy is left out until all that was taken of it is done.
  const running = new Map<string, Promise<void>>()
  const tried: Attempt[] = []
  const left: TakenDelivery[] = []
  let underway = 0
  const run = async (webhookId: string, of: TakenDelivery[]) => {
    underway += of.length
    let isWell = true
    await pLimit(pace.atOnce).map(of, async (taken) => {
      const attempt = isWell ? await send(taken, options) : null
      underway--
      if (attempt) tried.push(attempt)
      else left.push(taken)
      // Where one fails, the others are not sent into the same trouble.
      isWell = isWell && attempt?.verdict.status === 'delivered'
    })
    running.delete(webhookId)
  }
  const writeDown = async () => {
    await recordAttempts(db, tried.splice(0))
    await giveBack(db, left.splice(0))
  }
  let second = { endsAt: performance.now() + 1000, left: maxInASecond }
  let goesOn = true
  while (goesOn && !stopping.aborted) {
    if (performance.now() >= second.endsAt) second = { endsAt: performance.now() + 1000, left: maxInASecond }
    const limit = Math.min(maxTaken - underway, second.left)
    const except = [...running.keys()]
    const taken = limit > 0 ? await takeDeliveries(db, { limit, leaseSeconds, except }) : []
    second.left -= taken.length
    for (const [webhookId, of] of byKey(taken, ({ webhookId }) => webhookId))
      running.set(webhookId, run(webhookId, of))
    goesOn = running.size > 0 || second.left === 0
    // What comes to be due in the meantime for another webhook waits no longer than this.
    if (goesOn) await Promise.race([...running.values(), pause(second.endsAt - performance.now())])
    await writeDown()
  }
  await Promise.all(running.values())
  await writeDown()
}
