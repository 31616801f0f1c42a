import postgres from 'postgres'
import { afterAll, beforeAll } from 'vitest'
import { type FaultService, startFaultService } from './fault-service.ts'
import { inDatabase } from './setup/database.ts'

/** Starts a fault service before the tests of a file, with a second connection that can hold locks in its
 *  database. Both getters are valid inside tests only. */
export function useContendedService(options: Parameters<typeof startFaultService>[0] = {}) {
  let fault: FaultService
  let locker: postgres.Sql
  beforeAll(async () => {
    fault = await startFaultService(options)
    locker = postgres(inDatabase(fault.server.url, 'tickets'), {
      max: 1,
      fetch_types: false,
      onnotice: () => {},
    })
  })
  afterAll(async () => {
    await locker?.end({ timeout: 1 })
    await fault?.close()
  })
  return {
    get fault() {
      return fault
    },
    get locker() {
      return locker
    },
  }
}
