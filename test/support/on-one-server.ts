import { inject, test } from 'vitest'

/** True if the tests run on a cluster. */
export const isCluster = inject('database').kind === 'citus'

/** Defines a test of what one server alone has, such as a view of a table and a plan: none on a cluster. */
export function testOnOneServer(name: string, run: () => Promise<void>): void {
  if (!isCluster) test(name, run)
}

/** Rounds of a test: a sixth of them on a cluster, whose servers share the machine. */
export const roundsOf = (count: number): number => (isCluster ? Math.ceil(count / 6) : count)
