import type { Authenticated, Credentials } from '../../base/caller.ts'
import { Refusal } from '../../base/errors.ts'
import type { Services } from '../../request/context.ts'
import type { Origin } from '../errors.ts'
import type { EventStream } from './event-stream.ts'
import type { LiveOperation } from './live-operation.ts'

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

/** Watches the credentials of open streams. Each is authenticated again every second or two, so that a stream ends
 *  with its key, and sees no more than a request of its caller would: keys together in one statement. */
export function watchSessions({ db, access }: Services, { onRevoked, onChanged }: OnChange) {
  const sessions = new Map<string, LiveSession>()
  let due: LiveSession[] = []
  let isChecking = false

  async function checkOne(session: LiveSession): Promise<void> {
    const { credentials, authenticated, members } = session
    if (members.size === 0) return
    try {
      const now = await access.authenticate(db, credentials)
      if (!now) return
      session.authenticated = now
      if (viewOf(now) !== viewOf(authenticated)) for (const member of members) onChanged(member)
    } catch (error) {
      if (error instanceof Refusal) onRevoked(members, error)
    }
  }

  return {
    add(credentials: Credentials, authenticated: Authenticated, stream: Omit<Member, 'session'>): Member {
      const found = sessions.get(credentials.hash)
      const session = found ?? { credentials, authenticated, members: new Set() }
      sessions.set(credentials.hash, session)
      const member = { ...stream, session }
      session.members.add(member)
      return member
    },
    remove(member: Member): void {
      const { members, credentials } = member.session
      members.delete(member)
      if (members.size === 0) sessions.delete(credentials.hash)
    },
    /** Authenticates the next ones again. A database that is away ends nobody. */
    async check(): Promise<void> {
      if (isChecking) return
      isChecking = true
      if (due.length === 0) due = [...sessions.values()]
      await Promise.all(due.splice(0, maxTogether).map(checkOne))
      isChecking = false
    },
  }
}
