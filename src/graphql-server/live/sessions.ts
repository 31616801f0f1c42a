import { authenticate } from '../../auth/authenticate.ts'
import type { Authenticated } from '../../auth/caller.ts'
import type { Credentials } from '../../auth/credentials.ts'
import type { Database } from '../../database/database.ts'
import { Refusal } from '../../shared/errors.ts'
import type { EventStream } from './event-stream.ts'
import type { LiveOperation, Origin } from './live-operation.ts'

/** A stream with its operation. */
export type Member = {
  operation: LiveOperation
  origin: Origin
  stream: EventStream
  session: LiveSession
  /** Takes the stream from its source. */
  leave(): void
}

/** Credentials with open streams, and the result of their last authentication. */
type LiveSession = {
  credentials: Credentials
  authenticated: Authenticated
  members: Set<Member>
}

type OnChange = {
  /** The credentials are not valid any more. */
  onRevoked(members: Iterable<Member>, refusal: Refusal): void
  /** The caller may see more or less than before. */
  onChanged(member: Member): void
}

// Credentials that are authenticated again each second. More of them take as many seconds more.
const maxTogether = 500

const viewOf = ({ caller }: Authenticated): string => JSON.stringify(caller)

/** Credentials of open streams. Each is authenticated again every second or two, so that a stream ends with
 *  its key, and sees no more than a request of its caller would: keys together in one statement. */
export class Sessions {
  readonly #db: Database
  readonly #on: OnChange
  readonly #sessions = new Map<string, LiveSession>()
  #due: LiveSession[] = []
  #isChecking = false

  constructor(db: Database, on: OnChange) {
    this.#db = db
    this.#on = on
  }

  add(credentials: Credentials, authenticated: Authenticated, stream: Omit<Member, 'session'>): Member {
    const found = this.#sessions.get(credentials.hash)
    const session = found ?? { credentials, authenticated, members: new Set() }
    this.#sessions.set(credentials.hash, session)
    const member = { ...stream, session }
    session.members.add(member)
    return member
  }

  remove(member: Member): void {
    const { members, credentials } = member.session
    members.delete(member)
    if (members.size === 0) this.#sessions.delete(credentials.hash)
  }

  /** Authenticates the next ones again. A database that is away ends nobody. */
  async check(): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    if (this.#due.length === 0) this.#due = [...this.#sessions.values()]
    await Promise.all(this.#due.splice(0, maxTogether).map((session) => this.#checkOne(session)))
    this.#isChecking = false
  }

  async #checkOne(session: LiveSession): Promise<void> {
    const { credentials, authenticated, members } = session
    if (members.size === 0) return
    try {
      const now = await authenticate(this.#db, credentials)
      if (!now) return
      session.authenticated = now
      if (viewOf(now) !== viewOf(authenticated)) for (const member of members) this.#on.onChanged(member)
    } catch (error) {
      if (error instanceof Refusal) this.#on.onRevoked(members, error)
    }
  }
}
