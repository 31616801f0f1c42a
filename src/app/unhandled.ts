import { databaseCode, isConnectionFailure } from '../database/database.ts'
import { type Log, logFailure } from '../http/mask-error.ts'

// A word of the driver to a socket that is gone. No broken pipe: that may be the log's own.
const isWordToNobody = (error: unknown) => databaseCode(error) === 'EBADF'

/** Survives the errors of database connections that nobody awaits, which the driver (3.4.9) leaves behind where a server
 *  ends while it is asked for its types, and where TLS is over before the last word is written. Anything else that nobody
 *  awaits or catches leaves the process in a state that nobody knows: it is logged, and the process ends with 1. */
export function watchUnhandled(log: Log): void {
  const handle = (isSurvived: (error: unknown) => boolean) => (error: unknown) => {
    if (isSurvived(error)) return logFailure(log, error, 'a connection to the database failed')
    logFailure(log, error, 'an error that nobody handles: the process ends')
    process.exit(1)
  }
  process.on('unhandledRejection', handle(isConnectionFailure))
  process.on('uncaughtException', handle(isWordToNobody))
}
