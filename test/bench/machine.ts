import { availableParallelism, cpus, release, totalmem } from 'node:os'

/** Describes the machine of the measurement. */
export const describeMachine = () => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  memoryGigabytes: Math.round(totalmem() / 2 ** 30),
  system: `${process.platform} ${release()}`,
  node: process.version,
})
