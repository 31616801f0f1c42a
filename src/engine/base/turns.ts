import { busy } from './errors.ts'

// Turns of owners: each waits for what one turn of every other takes, however much those have.

/** Takes from the first owner that has something to give, and sets that owner behind the others. `take` returns null if
 *  an owner has nothing. */
export function takeTurn<Owner, Taken>(owners: Map<string, Owner>, take: (owner: Owner) => Taken | null) {
  for (const [name, owner] of owners) {
    const taken = take(owner)
    if (taken === null) continue
    owners.delete(name)
    owners.set(name, owner)
    return taken
  }
  return null
}

/** Owner of what is joined for many, or is the service's own work. It takes its turns, and its share has no bound. */
export const everybody = ''

export type TurnLimits = {
  /** Pieces of work at once; of all owners, and of one. */
  maxAtOnce: number
  maxOfOwner: number
  /** Pieces of one owner that wait; more are refused. */
  maxWaiting: number
  /** Words for an owner that is refused. */
  words?: string
}

/** Need of pieces that need nothing besides their turn. */
export const nothing = () => true

/** Work that waits, each owner's in order of arrival. Owners take turns, and each has a bounded share of what is done at
 *  once and of what waits, so that no owner's wait is the fault of another. */
export class Turns<Piece> {
  readonly #owners = new Map<string, { atWork: number; waiting: Piece[] }>()
  readonly #limits: TurnLimits
  /** Number of pieces that have begun and not ended. */
  atWork = 0
  /** Number of pieces that wait. */
  size = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  #mayBegin(name: string, atWork: number): boolean {
    const { maxAtOnce, maxOfOwner } = this.#limits
    return this.atWork < maxAtOnce && (name === everybody || atWork < maxOfOwner)
  }

  #ownerOf(name: string) {
    const owner = this.#owners.get(name) ?? { atWork: 0, waiting: [] }
    this.#owners.set(name, owner)
    return owner
  }

  /** Begins a piece at once, if its owner may, and `get` gives what it needs besides; else returns null. */
  begin<Got>(name: string, get: () => Got | null): Got | null {
    const got = this.#mayBegin(name, this.#owners.get(name)?.atWork ?? 0) ? get() : null
    if (got === null) return null
    this.atWork++
    this.#ownerOf(name).atWork++
    return got
  }

  /** Reports whether an owner waits. */
  isWaiting(name: string): boolean {
    return (this.#owners.get(name)?.waiting.length ?? 0) > 0
  }

  /** Adds a piece to those that wait. Refuses: BUSY if its owner has too many. */
  wait(name: string, piece: Piece): void {
    const { maxWaiting, words } = this.#limits
    if ((this.#owners.get(name)?.waiting.length ?? 0) >= maxWaiting) throw busy(words)
    this.#ownerOf(name).waiting.push(piece)
    this.size++
  }

  /** Begins the next piece that may, if `get` gives what it needs besides; else returns null. */
  next<Got>(get: () => Got | null): { name: string; piece: Piece; got: Got } | null {
    if (this.size === 0) return null
    for (const [name, owner] of this.#owners) {
      if (owner.waiting.length === 0 || !this.#mayBegin(name, owner.atWork)) continue
      const got = this.begin(name, get)
      if (got === null) return null
      const [piece] = owner.waiting.splice(0, 1) as [Piece]
      this.size--
      this.#owners.delete(name)
      this.#owners.set(name, owner)
      return { name, piece, got }
    }
    return null
  }

  /** Ends a piece that has begun. */
  end(name: string): void {
    const owner = this.#ownerOf(name)
    this.atWork--
    owner.atWork--
    if (owner.atWork === 0 && owner.waiting.length === 0) this.#owners.delete(name)
  }

  /** Takes out those that wait for too long: each owner's first ones, as far as `isOver` says so. */
  giveUp(isOver: (piece: Piece) => boolean): Piece[] {
    if (this.size === 0) return []
    return [...this.#owners].flatMap(([name, { atWork, waiting }]) => {
      const kept = waiting.findIndex((piece) => !isOver(piece))
      const over = waiting.splice(0, kept < 0 ? waiting.length : kept)
      this.size -= over.length
      if (atWork === 0 && waiting.length === 0) this.#owners.delete(name)
      return over
    })
  }
}

// The request was answered by then: see `limitResponseTime`.
const maxWaitMs = 15_000

/** Creates a bulkhead, for work that no batch joins: runs it in turns of its owners, so that a rush of one kind leaves
 *  connections for everything else, and a rush of one owner leaves turns for the others. Begins at once if it may. Refuses
 *  to an owner: BUSY if too much of its own waits, or has waited for as long as a request may. */
export function createBulkhead(limits: TurnLimits) {
  const turns = new Turns<{ since: number; start(): void; reject(error: unknown): void }>(limits)
  function startNext(): void {
    for (let next = turns.next(nothing); next; next = turns.next(nothing)) {
      const { name, piece } = next
      if (performance.now() - piece.since < maxWaitMs) piece.start()
      else {
        turns.end(name)
        piece.reject(busy(limits.words))
      }
    }
  }
  return async <Result>(owner: string, work: () => Promise<Result>): Promise<Result> => {
    if (!turns.begin(owner, nothing))
      await new Promise<void>((start, reject) => {
        turns.wait(owner, { since: performance.now(), start, reject })
      })
    try {
      return await work()
    } finally {
      turns.end(owner)
      startNext()
    }
  }
}
