/** Stops what was started in reverse order, even after a failure. */
export type Scope = {
  /** Resolves to the started resource and stops it when the scope closes. */
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
