import type { Problem } from '../../../engine/base/errors.ts'
import { problem } from '../../contract/problem-codes.ts'
import { minimumAge } from '../../event/minimum-age.ts'
import type { Answer } from '../../ticket/table.ts'
import type { Question } from '../../ticket-rate/table.ts'
import type { CheckoutEntry, GivenAnswer } from './checkout-input.ts'
import type { Terms } from './terms-loaders.ts'

// Returns a predicate that is true for texts that it was called with before.
function repetition(): (text: string) => boolean {
  const seen = new Set<string>()
  return (text) => seen.size === seen.add(text).size
}

function checkSupplements(entry: CheckoutEntry, { supplements }: Terms): Problem[] {
  const isRepeated = repetition()
  return (entry.supplements ?? []).flatMap(({ supplementId }, index) => {
    const path = ['supplements', index, 'supplementId']
    if (!supplements.some((supplement) => supplement.id === supplementId))
      return problem('SUPPLEMENT_NOT_IN_RATE', 'The rate has no such supplement.', path)
    return isRepeated(supplementId)
      ? problem('DUPLICATE_SUPPLEMENT', 'A ticket takes each supplement at most once.', path)
      : []
  })
}

// Reads an answer that is given by its text, whatever kind of question it may be to.
const inWords = (text: string, { options }: Question) => ({
  text,
  checked: text === 'true' || (text === 'false' ? false : undefined),
  optionId: options.find(({ label }) => label === text)?.id,
})

/** Reads an answer, as it is stored. Null if the question takes no such answer. */
export function readAnswer(question: Question, given: GivenAnswer): Answer | null {
  const { id: questionId, type, options } = question
  const { text, checked, optionId } = typeof given === 'string' ? inWords(given, question) : given
  if (type === 'text') return text === undefined ? null : { questionId, text }
  if (type === 'checkbox') return checked === undefined ? null : { questionId, checked }
  const option = options.find(({ id }) => id === optionId)
  return option ? { questionId, option } : null
}

const takenBy = ({ type, options }: Question): string =>
  type === 'dropdown'
    ? `one of: ${options.map(({ label }) => label).join(', ')}`
    : type === 'checkbox'
      ? 'true or false'
      : 'text'

function checkAnswers(entry: CheckoutEntry, { questions }: Terms): Problem[] {
  const answered = new Set<string>()
  const problems = (entry.answers ?? []).flatMap(({ questionId, answer }, index) => {
    const pathOf = (field: string) => ['answers', index, field]
    const question = questions.find((question) => question.id === questionId)
    if (!question)
      return problem('QUESTION_NOT_IN_RATE', 'The rate has no such question.', pathOf('questionId'))
    if (answered.has(questionId))
      return problem('DUPLICATE_ANSWER', 'A question can be answered only once.', pathOf('questionId'))
    answered.add(questionId)
    return readAnswer(question, answer)
      ? []
      : problem('ANSWER_NOT_OFFERED', `The answer must be ${takenBy(question)}.`, pathOf('answer'))
  })
  const missing = questions
    .filter((question) => question.required && !answered.has(question.id))
    .map(({ label }) => problem('ANSWER_REQUIRED', `The question must be answered: ${label}`, ['answers']))
  return [...problems, ...missing]
}

// Age in whole years on a calendar day in the location's time zone. Swedish formats dates as YYYY-MM-DD.
function ageAt(birthday: string, time: Date, timezone: string): number {
  const day = new Intl.DateTimeFormat('sv', { timeZone: timezone, dateStyle: 'short' }).format(time)
  const years = Number(day.slice(0, 4)) - Number(birthday.slice(0, 4))
  return day.slice(5) < birthday.slice(5) ? years - 1 : years
}

/** Checks that a known date of birth satisfies the minimum age of the event on the day it starts. */
export function checkAge(
  { birthday }: Pick<CheckoutEntry, 'birthday'>,
  { rate }: { rate: Pick<Terms['rate'], 'startDate' | 'age' | 'timezone'> },
): Problem[] {
  const minimum = minimumAge(rate)
  if (!birthday || minimum === null || ageAt(birthday, rate.startDate, rate.timezone ?? 'UTC') >= minimum)
    return []
  const message = `Attendees must be at least ${minimum} years old on the day the event starts.`
  return [problem('UNDER_AGE', message, ['birthday'], { minimumAge: minimum })]
}

const checkWarranty = ({ warranty }: CheckoutEntry, { rate }: Terms): Problem[] =>
  warranty && !rate.warrantyEnabled
    ? [problem('WARRANTY_NOT_OFFERED', 'The rate offers no warranty.', ['warranty'])]
    : []

function checkQrCodes(entries: CheckoutEntry[]): Problem[] {
  const isRepeated = repetition()
  return entries.flatMap(({ qrCode }, index) =>
    qrCode && isRepeated(qrCode)
      ? problem('DUPLICATE_QR_CODE', 'Two tickets have the same code.', ['tickets', index, 'qrCode'])
      : [],
  )
}

/** Checks the entries of a checkout against the terms of its rate. Each problem has the path of its field
 *  (DECISIONS, checkout). A quote is asked for before anybody has answered anything. */
export const checkEntries = (entries: CheckoutEntry[], terms: Terms, isQuote = false): Problem[] => [
  ...entries.flatMap((entry, index) =>
    [checkSupplements, ...(isQuote ? [] : [checkAnswers, checkAge]), checkWarranty]
      .flatMap((check) => check(entry, terms))
      .map((problem): Problem => ({ ...problem, path: ['tickets', index, ...(problem.path ?? [])] })),
  ),
  ...checkQrCodes(entries),
]
