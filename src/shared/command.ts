import type { z } from 'zod'
import { parse } from './parse.ts'

/** Makes a command of the command line: its arguments are parsed first, where a Refusal is a usage error; the function
 *  that this returns then does the work, with what the command line gives it. */
export const command =
  <Type extends z.ZodType, Given extends unknown[], Output>(
    type: Type,
    run: (input: z.output<Type>, ...given: Given) => Promise<Output>,
  ) =>
  (input: object): ((...given: Given) => Promise<Output>) => {
    const parsed = parse(type, input)
    return (...given) => run(parsed, ...given)
  }
