import { setImmediate, setTimeout } from 'node:timers/promises'
import type { EventStream } from './event-stream.ts'

/** Latest states of one operation, and the streams that are sent them. */
export class Audience {
  readonly streams = new Set<EventStream>()
  readonly #latest = new Map<string, { number: number; bytes: Buffer }>()
  #newest = 0
  /** Times of the last changes of the states that wait for a round, the oldest first. */
  readonly waiting = new Map<string, number>()

  /** Replaces a state. */
  set(name: string, bytes: Buffer): void {
    this.#newest++
    this.waiting.delete(name)
    this.waiting.set(name, performance.now())
    this.#latest.set(name, { number: this.#newest, bytes })
  }

  /** Sends a stream the states that it has not been sent yet. */
  deliver(stream: EventStream): void {
    if (stream.seen === this.#newest) return
    for (const { number, bytes } of this.#latest.values()) if (number > stream.seen) stream.write(bytes)
    stream.seen = this.#newest
  }
}

// Time after which requests have their turn.
const sliceMs = 4
// Pause after a round, in proportion to the time that it took, so that sending takes a sixth of the process. With
// thousands of streams it is shorter: the next round begins in time for all to have the last state in a second.
const pausesPerRound = 5
const minPauseMs = 25
const maxPeriodMs = 750
// Pauses and period while all that is to be sent keeps changing: a state that does not rest is not the
// last one.
const pausesWhileChanging = 12
const changingPeriodMs = 2_000
const restMs = 250
// A client that has read nothing for so long is cut off.
const maxBlockedMs = 30_000

/** Sends states to audiences in rounds. A stream is sent what is current at its turn; one whose client does
 *  not read is left out, and sent what is current once it has read. */
export class FanOut {
  readonly #dirty = new Set<Audience>()
  readonly #blocked = new Map<EventStream, Audience | null>()
  #isRunning = false
  #sliceStart = 0
  #busyMs = 0

  /** Sends the new states of an audience to all of its streams. */
  publish(audience: Audience): void {
    this.#dirty.add(audience)
    this.#start()
  }

  /** Sends a stream the states of its audience. */
  deliver(stream: EventStream, audience: Audience): void {
    if (stream.isOver) return
    if (stream.isBlocked) this.#block(stream, audience)
    else audience.deliver(stream)
  }

  /** Resolves once a stream is not blocked, or is over. */
  async whenWritable(stream: EventStream): Promise<void> {
    if (stream.isOver || !stream.isBlocked) return
    await new Promise<void>((resolve) => {
      stream.onWritable = resolve
      this.#block(stream, null)
    })
    stream.onWritable = null
  }

  #block(stream: EventStream, audience: Audience | null): void {
    stream.blockedAt ??= performance.now()
    this.#blocked.set(stream, audience)
    this.#start()
  }

  #start(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    void this.#run()
  }

  async #run(): Promise<void> {
    while (this.#dirty.size > 0 || this.#blocked.size > 0) {
      // Deferred, so that states of one turn of the event loop go together.
      await setImmediate()
      const roundStart = performance.now()
      this.#sliceStart = roundStart
      this.#busyMs = 0
      await this.#retryBlocked()
      const audiences = [...this.#dirty]
      this.#dirty.clear()
      for (const audience of audiences) {
        audience.waiting.clear()
        for (const stream of audience.streams) {
          this.deliver(stream, audience)
          await this.#yield()
        }
      }
      await this.#pause(roundStart, this.#busyMs + performance.now() - this.#sliceStart)
    }
    this.#isRunning = false
  }

  async #pause(roundStart: number, busyMs: number): Promise<void> {
    const now = performance.now()
    const usual = Math.min(now + busyMs * pausesPerRound, roundStart + maxPeriodMs)
    const longest = Math.min(now + busyMs * pausesWhileChanging, roundStart + changingPeriodMs)
    let until = Math.max(usual, now + minPauseMs)
    do {
      await setTimeout(until - performance.now(), undefined, { ref: false })
      until = Math.min(longest, this.#restsAt())
    } while (this.#dirty.size > 0 && until > performance.now())
  }

  // Time at which the first of the states that wait has rested.
  #restsAt(): number {
    let changedAt = Number.POSITIVE_INFINITY
    for (const { waiting } of this.#dirty) {
      const [oldest = changedAt] = waiting.values()
      changedAt = Math.min(changedAt, oldest)
    }
    return changedAt + restMs
  }

  async #retryBlocked(): Promise<void> {
    for (const [stream, audience] of this.#blocked) {
      const isStuck = stream.blockedAt !== null && performance.now() - stream.blockedAt > maxBlockedMs
      if (isStuck) stream.destroy()
      if (!stream.isOver && !isStuck && stream.isBlocked) continue
      this.#blocked.delete(stream)
      stream.blockedAt = null
      stream.onWritable?.()
      if (audience) this.deliver(stream, audience)
      await this.#yield()
    }
  }

  // Awaits nothing in most calls: a promise for each stream would cost more than the writes.
  #yield(): Promise<void> | undefined {
    const elapsed = performance.now() - this.#sliceStart
    if (elapsed < sliceMs) return undefined
    this.#busyMs += elapsed
    return setImmediate().then(() => {
      this.#sliceStart = performance.now()
    })
  }
}
