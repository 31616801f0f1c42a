import type { Problem } from './errors.ts'
import { requestLimits } from './request-limits.ts'

const { maxErrors, maxErrorCharacters } = requestLimits

type Problems = readonly [Problem, ...Problem[]]

const charactersOf = ({ message, path = [] }: Problem) =>
  path.reduce<number>((sum, key) => sum + String(key).length + 1, message.length)

/** Limits problems to the number and size that a response may list. Always keeps the first. */
export function limitProblems([first, ...others]: Problems): [Problem, ...Problem[]] {
  let characters = charactersOf(first)
  const kept = others.slice(0, maxErrors - 1)
  const end = kept.findIndex((problem) => {
    characters += charactersOf(problem)
    return characters > maxErrorCharacters
  })
  return [first, ...(end < 0 ? kept : kept.slice(0, end))]
}
