import { closest, distance } from 'fastest-levenshtein'
import { z } from 'zod'
import { type Problem, problem, refusalOf } from './errors.ts'

type Issue = z.core.$ZodIssue

// Names that other services have for a field.
const otherNames: Record<string, string> = { q: 'search', query: 'search', text: 'search' }

// Marks a message that lists names of fields, unlike those of zod or of a type.
const namesMark = 'fields: '

/** Names, in the message of an unknown field, all fields that its object has. */
const nameFields: z.core.$ZodErrorMap = (issue) =>
  issue.code === 'unrecognized_keys' && issue.inst instanceof z.ZodObject
    ? `${namesMark}${Object.keys(issue.inst.shape).join(' ')}`
    : undefined

const namesIn = (message: string): string[] =>
  message.startsWith(namesMark) ? message.slice(namesMark.length).split(' ').filter(Boolean) : []

function hintTo(key: string, names: string[]): string {
  if (names.length === 0) return ''
  const other = otherNames[key] ?? ''
  const nearest = names.includes(other) ? other : closest(key.slice(0, 50), names)
  const isNear = nearest === other || distance(key, nearest) <= Math.ceil(nearest.length / 3)
  return isNear ? ` Did you mean ${nearest}?` : ''
}

function problemsOf(issue: Issue): Problem[] {
  const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)))
  if (issue.code === 'unrecognized_keys') {
    const names = namesIn(issue.message)
    const messageOf = (key: string) => `There is no such field.${hintTo(key, names)}`
    return issue.keys.map((key) => problem('UNKNOWN_FIELD', messageOf(key), [...path, key]))
  }
  if (issue.code === 'invalid_type' && issue.input === undefined)
    return [problem('REQUIRED', 'This field is required.', path)]
  const custom: Partial<Problem> = issue.code === 'custom' ? (issue.params ?? {}) : {}
  return [{ ...problem('INVALID', toSentence(issue, path), path), ...custom }]
}

// Messages of input types begin with «must»; those of zod are full sentences.
const toSentence = (issue: Issue, path: (string | number)[]) =>
  issue.message.startsWith('must ')
    ? `${path.findLast((key) => typeof key === 'string') ?? 'The value'} ${issue.message}.`
    : `${issue.message}.`

/** Converts the issues of a parser into problems, each with its path. */
export const problemsIn = ({ issues }: Pick<z.ZodError, 'issues'>): Problem[] => issues.flatMap(problemsOf)

/** Options of a parser with which `problemsIn` tells what is missing and which field may be meant. */
export const parseOptions = { reportInput: true, error: nameFields }

/** Parses the input of a client. Reports all mistakes at once. Refuses: REQUIRED, INVALID, UNKNOWN_FIELD,
 *  METADATA_TOO_LARGE. */
export function parse<T extends z.ZodType>(type: T, input: unknown): z.output<T> {
  const parsed = type.safeParse(input, parseOptions)
  if (!parsed.success) throw refusalOf(problemsIn(parsed.error))
  return parsed.data
}

/** Command of the command line, by the types of its arguments: of several, the one whose first field is given counts, else
 *  the last. The function does the work, with what the command line gives it besides. */
export const command = <Type extends z.ZodObject, Given extends unknown[], Output>(
  types: Type | Type[],
  run: (input: z.output<Type>, ...given: Given) => Promise<Output>,
) => ({ types: [types].flat() as Type[], run })

/** Returns the value of a parser; undefined if it throws. */
export function tryParse<Value>(parser: () => Value): Value | undefined {
  try {
    return parser()
  } catch {
    return undefined
  }
}

const placeOf = (issue: Issue) => issue.path.join('.')

// Removes the fields that are refused and blank from a copy of an input, but for keys that make a request unique.
// Returns their places.
function removeBlank(copy: unknown, issues: Issue[]): Set<string> {
  const removed = issues.filter(({ path }) => {
    const holder = path.slice(0, -1).reduce<unknown>((value, key) => Object(value)[key], copy)
    const key = path.at(-1) ?? ''
    const value = Object(holder)[key]
    if (typeof value !== 'string' || value.trim() !== '' || /^idempotency/i.test(String(key))) return false
    return Reflect.deleteProperty(Object(holder), key)
  })
  return new Set(removed.map(placeOf))
}

/** Parses what people fill in, as `parse` does. An optional field that may not be blank counts as absent where it is
 *  (DECISIONS 92). */
export function parseRequest<T extends z.ZodType>(type: T, input: unknown): z.output<T> {
  const parsed = type.safeParse(input, parseOptions)
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  const copy = structuredClone(input)
  const blank = removeBlank(copy, issues)
  const again = blank.size > 0 ? type.safeParse(copy, parseOptions) : parsed
  if (again.success) return again.data
  // A required field is told as blank, not as missing.
  const given = new Map(issues.map((issue) => [placeOf(issue), issue] as const))
  const asGiven = (issue: Issue) => (blank.has(placeOf(issue)) && given.get(placeOf(issue))) || issue
  throw refusalOf(problemsIn({ issues: again.error.issues.map(asGiven) }))
}
