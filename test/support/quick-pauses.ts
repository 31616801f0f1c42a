import { onTestFinished, vi } from 'vitest'

// Pause of a background job between two runs.
const pauseMs = 1_000
const times = 20

/** Makes the pauses of this process's background jobs a twentieth as long until the test ends. Deadlines stay: none
 *  is as long as a pause. */
export function shortenPauses(): void {
  const { setTimeout } = globalThis
  const shortened = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    setTimeout(run, ms === pauseMs ? ms / times : ms, ...args)
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(shortened as typeof setTimeout)
  onTestFinished(() => spy.mockRestore())
}
