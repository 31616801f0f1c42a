import { once } from 'node:events'
import { mustStartServer } from './processes.ts'
import { freePort } from './setup/managed-process.ts'

/** What those outside see of the service at the moment that it dies; `any` is whatever it is doing. */
export type Moment =
  | 'session asked for'
  | 'refund asked for'
  | 'event told'
  | 'mail taken'
  | 'change told'
  | 'any'

export type KilledService = Awaited<ReturnType<typeof startKilledService>>

/** The built service on a port that it keeps, to be killed at chosen moments and started again. */
export async function startKilledService(settings: Record<string, string>) {
  const port = await freePort()
  const start = () => mustStartServer({ ...settings, PORT: String(port) })
  let server = await start()
  let meet = (_moment: Moment) => {}
  const kill = () => {
    meet = () => {}
    server.child.kill('SIGKILL')
  }
  return {
    url: `http://127.0.0.1:${port}`,
    /** Tells that a moment has come. */
    reach: (moment: Moment) => meet(moment),
    /** Kills it so many milliseconds after the next such moment, or in vain of one. Resolves, once it is dead, to whether
     *  the moment came. */
    async killAt(moment: Moment, afterMs: number, maxMs = 30_000): Promise<boolean> {
      if (server.child.exitCode !== null) throw new Error(`the service died by itself: ${server.errors()}`)
      const ended = once(server.child, 'close')
      let came = false
      meet = (met) => {
        if (met !== moment || came) return
        came = true
        if (afterMs === 0) kill()
        else setTimeout(kill, afterMs)
      }
      if (moment === 'any') meet('any')
      const inVain = setTimeout(kill, maxMs)
      await ended
      clearTimeout(inVain)
      return came
    },
    /** Starts it again. */
    async restart() {
      server = await start()
    },
    stop: () => server.stop(),
  }
}
