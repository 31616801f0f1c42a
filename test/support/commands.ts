import { expect } from 'vitest'
import { runCommand, type Told } from '../../src/app/commands.ts'
import type { OpenDatabase } from '../../src/database/database.ts'

/** The command line in this process, on a database that stays open. A process for each command, which opens the database
 *  anew, is for what a process adds. */
export function commandRunner(database: () => OpenDatabase) {
  const staysOpen = async () => ({ ...database(), close: async () => {} })
  const run = (...args: string[]) => runCommand(args, staysOpen)

  /** What a command that must succeed prints. */
  async function succeed(...args: string[]): Promise<string> {
    const { code, output, errors } = await run(...args)
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    return output
  }

  return {
    succeed,
    /** What a command with --json prints, which is JSON on one line and nothing else. */
    async json<Answer>(...args: string[]): Promise<Answer> {
      const output = await succeed(...args, '--json')
      expect(output).not.toContain('\n')
      return JSON.parse(output) as Answer
    },
    /** How a command fails that must: it prints nothing, and tells neither a stack nor a statement. */
    async fail(...args: string[]): Promise<Pick<Told, 'code' | 'errors'>> {
      const { code, output, errors } = await run(...args)
      expect(output).toBe('')
      expect(errors).not.toMatch(/^\s+at |select |insert |\$1/m)
      return { code, errors }
    },
  }
}
