/** Keeps what was started, to stop it in the other order, however what it was started for ends. */
export type Scope = {
  /** Resolves to what was started, and stops it at the end. */
  keep<Started>(starting: Promise<Started>, stop: (started: Started) => Promise<unknown>): Promise<Started>
  stop(): Promise<void>
}

export function openScope(): Scope {
  const running: (() => Promise<unknown>)[] = []
  return {
    async keep(starting, stop) {
      const started = await starting
      running.push(() => stop(started))
      return started
    },
    async stop() {
      for (let stop = running.pop(); stop; stop = running.pop()) await stop().catch(console.error)
    },
  }
}
