import { expect } from 'vitest'
import { type CommandResult, runCommand } from '../../src/app/commands.ts'
import type { OpenDatabase } from '../../src/database/database.ts'

/** Runs the command line in this process, on a database that stays open. Tests of exit codes and streams
 *  start a process instead. */
export function commandRunner(database: () => OpenDatabase) {
  const staysOpen = async () => ({ ...database(), close: async () => {} })
  const run = (...args: string[]) => runCommand(args, staysOpen)

  /** Runs a command that must succeed, and returns its output. */
  async function succeed(...args: string[]): Promise<string> {
    const { code, output, errors } = await run(...args)
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    return output
  }

  return {
    succeed,
    /** Runs a command with --json and parses its output, which must be one line. */
    async json<Answer>(...args: string[]): Promise<Answer> {
      const output = await succeed(...args, '--json')
      expect(output).not.toContain('\n')
      return JSON.parse(output) as Answer
    },
    /** Runs a command that must fail. It must print no output, and neither a stack nor SQL in its errors. */
    async fail(...args: string[]): Promise<Pick<CommandResult, 'code' | 'errors'>> {
      const { code, output, errors } = await run(...args)
      expect(output).toBe('')
      expect(errors).not.toMatch(/^\s+at |select |insert |\$1/m)
      return { code, errors }
    },
  }
}
