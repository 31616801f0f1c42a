import { once } from 'node:events'
import { mustStartServer } from './processes.ts'
import { freePort } from './setup/managed-process.ts'

/** The call that outsiders see just before the service is killed; `any` kills it whatever it is doing. */
export type Moment =
  | 'session asked for'
  | 'refund asked for'
  | 'event told'
  | 'mail taken'
  | 'change told'
  | 'any'

export type KilledService = Awaited<ReturnType<typeof startKilledService>>

/** The built service on a fixed port, to be killed at chosen moments and restarted. */
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
    /** Reports that a moment was reached. */
    reach: (moment: Moment) => meet(moment),
    /** Kills it `afterMs` after the next such moment, or after `maxMs` if none comes. Resolves once it is
     *  dead, to true if the moment came. */
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
    async restart() {
      server = await start()
    },
    stop: () => server.stop(),
  }
}
