import { isConnectionFailure } from '../database/database.ts'
import { type Log, logFailure } from '../http/mask-error.ts'
import { errorCode } from '../shared/errors.ts'

// The driver wrote to a socket that is already closed. Not EPIPE, which the log itself may cause.
const isClosedSocket = (error: unknown) => errorCode(error) === 'EBADF'

/** Tolerates unhandled errors of database connections, which the driver (3.4.9) causes if a server stops
 *  while it is asked for its types, or if TLS ends before the last message is written. Any other unhandled
 *  error leaves the process in an unknown state: it is logged, and the process exits with 1. */
export function watchUnhandled(log: Log): void {
  const handle = (isTolerated: (error: unknown) => boolean) => (error: unknown) => {
    if (isTolerated(error)) return logFailure(log, error, 'a connection to the database failed')
    logFailure(log, error, 'unhandled error: the process ends')
    process.exit(1)
  }
  process.on('unhandledRejection', handle(isConnectionFailure))
  process.on('uncaughtException', handle(isClosedSocket))
}
