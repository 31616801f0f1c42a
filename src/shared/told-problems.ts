import type { Problem } from './errors.ts'
import { requestLimits } from './request-limits.ts'

const { maxErrors, maxErrorCharacters } = requestLimits

type Problems = readonly [Problem, ...Problem[]]

const charactersOf = ({ message, path = [] }: Problem) =>
  path.reduce<number>((sum, key) => sum + String(key).length + 1, message.length)

/** The first problems, as many of them as an answer lists, and always the first. */
export function problemsToTell([first, ...others]: Problems): [Problem, ...Problem[]] {
  let characters = charactersOf(first)
  const told = others.slice(0, maxErrors - 1)
  const end = told.findIndex((problem) => {
    characters += charactersOf(problem)
    return characters > maxErrorCharacters
  })
  return [first, ...(end < 0 ? told : told.slice(0, end))]
}
