import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Bytes that this process holds after a garbage collection: objects, and buffers beside them. */
export async function heldBytes(): Promise<number> {
  // What is freed in one collection may hold what the next one frees.
  for (let time = 0; time < 3; time++) {
    collect()
    await setImmediate()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
