import { authenticate } from '../../auth/authenticate.ts'
import type { Authenticated } from '../../auth/caller.ts'
import type { Credentials } from '../../auth/credentials.ts'
import type { Database } from '../../database/database.ts'
import { Refusal } from '../../shared/errors.ts'

/** Credentials with open streams, and the result of their last authentication. */
export type LiveSession<Member> = {
  readonly credentials: Credentials
  authenticated: Authenticated
  readonly members: Set<Member>
}

type OnChange<Member> = {
  /** The credentials are not valid any more. */
  onRevoked(session: LiveSession<Member>, refusal: Refusal): void
  /** The caller may see more or less than before. */
  onChanged(session: LiveSession<Member>): void
}

// Credentials that are authenticated again each second. More of them take as many seconds more.
const maxTogether = 500

const viewOf = ({ caller }: Authenticated): string => JSON.stringify(caller)

/** Credentials of open streams. Each is authenticated again every second or two, so that a stream ends with
 *  its key, and sees no more than a request of its caller would: keys together in one statement. */
export class Sessions<Member> {
  readonly #db: Database
  readonly #on: OnChange<Member>
  readonly #sessions = new Map<string, LiveSession<Member>>()
  #due: LiveSession<Member>[] = []
  #isChecking = false

  constructor(db: Database, on: OnChange<Member>) {
    this.#db = db
    this.#on = on
  }

  add(credentials: Credentials, authenticated: Authenticated, member: Member): LiveSession<Member> {
    const session = this.#sessions.get(credentials.hash) ?? {
      credentials,
      authenticated,
      members: new Set<Member>(),
    }
    this.#sessions.set(credentials.hash, session)
    session.members.add(member)
    return session
  }

  remove(session: LiveSession<Member>, member: Member): void {
    session.members.delete(member)
    if (session.members.size === 0) this.#sessions.delete(session.credentials.hash)
  }

  /** Authenticates the next ones again. A database that is away ends nobody. */
  async check(): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    if (this.#due.length === 0) this.#due = [...this.#sessions.values()]
    await Promise.all(this.#due.splice(0, maxTogether).map((session) => this.#checkOne(session)))
    this.#isChecking = false
  }

  async #checkOne(session: LiveSession<Member>): Promise<void> {
    if (session.members.size === 0) return
    const { credentials, authenticated } = session
    try {
      const now = await authenticate(this.#db, credentials)
      if (!now) return
      session.authenticated = now
      if (viewOf(now) !== viewOf(authenticated)) this.#on.onChanged(session)
    } catch (error) {
      if (error instanceof Refusal) this.#on.onRevoked(session, error)
    }
  }
}
