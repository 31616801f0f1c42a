import { expect } from 'vitest'
import { type CommandResult, runCommand } from '../../src/app/commands.ts'
import { parseConfig } from '../../src/app/settings.ts'
import type { OpenDatabase } from '../../src/engine/database/database.ts'

type Settings = Record<string, string>

/** Runs the command line in this process, on a database that stays open. Tests of exit codes and streams
 *  start a process instead. */
export function commandRunner(
  database: () => OpenDatabase,
  { settings = {}, replicas = () => [] }: { settings?: Settings; replicas?: () => OpenDatabase[] } = {},
) {
  const keepOpen = (opened: OpenDatabase) => ({ ...opened, close: async () => {} })
  const open = async () => keepOpen(database())
  const readConfig = () => parseConfig(settings)
  const openReplicas = async () => replicas().map(keepOpen)
  const run = (...args: string[]) => runCommand(args, { readConfig, open, openReplicas })

  /** Runs a command that must succeed, and returns its output. */
  async function succeed(...args: string[]): Promise<string> {
    const { code, output, errors } = await run(...args)
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    return output
  }

  return {
    run,
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
