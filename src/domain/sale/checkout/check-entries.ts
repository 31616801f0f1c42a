import type { Problem } from '../../../shared/errors.ts'
import { minimumAge } from '../../event/minimum-age.ts'
import type { CheckoutEntry } from './checkout-input.ts'
import type { Terms } from './terms-loaders.ts'

function checkSupplements(entry: CheckoutEntry, { supplements }: Terms): Problem[] {
  const seen = new Set<string>()
  return (entry.supplements ?? []).flatMap(({ supplementId }, index): Problem[] => {
    const path = ['supplements', index, 'supplementId']
    if (!supplements.some((supplement) => supplement.id === supplementId))
      return [{ code: 'SUPPLEMENT_NOT_IN_RATE', message: 'The rate has no such supplement.', path }]
    if (seen.has(supplementId))
      return [{ code: 'DUPLICATE_SUPPLEMENT', message: 'A ticket takes each supplement at most once.', path }]
    seen.add(supplementId)
    return []
  })
}

function checkAnswers(entry: CheckoutEntry, { questions }: Terms): Problem[] {
  const answered = new Set<string>()
  const problems = (entry.answers ?? []).flatMap(({ questionId, answer }, index): Problem[] => {
    const question = questions.find((question) => question.id === questionId)
    if (!question)
      return [
        {
          code: 'QUESTION_NOT_IN_RATE',
          message: 'The rate has no such question.',
          path: ['answers', index, 'questionId'],
        },
      ]
    if (answered.has(questionId))
      return [
        {
          code: 'DUPLICATE_ANSWER',
          message: 'A question can be answered only once.',
          path: ['answers', index, 'questionId'],
        },
      ]
    answered.add(questionId)
    if (question.type === 'dropdown' && !question.items.includes(answer))
      return [
        {
          code: 'ANSWER_NOT_AN_ITEM',
          message: `The answer must be one of: ${question.items.join(', ')}.`,
          path: ['answers', index, 'answer'],
        },
      ]
    return []
  })
  const missing = questions.filter((question) => question.required && !answered.has(question.id))
  return [
    ...problems,
    ...missing.map(
      ({ label }): Problem => ({
        code: 'ANSWER_REQUIRED',
        message: `The question must be answered: ${label}`,
        path: ['answers'],
      }),
    ),
  ]
}

// Age in whole years on a calendar day in the location's time zone. Swedish formats dates as YYYY-MM-DD.
function ageAt(birthday: string, time: Date, timezone: string): number {
  const day = new Intl.DateTimeFormat('sv', { timeZone: timezone, dateStyle: 'short' }).format(time)
  const years = Number(day.slice(0, 4)) - Number(birthday.slice(0, 4))
  return day.slice(5) < birthday.slice(5) ? years - 1 : years
}

function checkAge({ birthday }: CheckoutEntry, { event, timezone }: Terms): Problem[] {
  const minimum = minimumAge(event)
  if (!birthday || minimum === null || ageAt(birthday, event.startDate, timezone ?? 'UTC') >= minimum)
    return []
  return [
    {
      code: 'UNDER_AGE',
      message: `Attendees must be at least ${minimum} years old on the day the event starts.`,
      path: ['birthday'],
      facts: { minimumAge: minimum },
    },
  ]
}

const checkWarranty = ({ warranty }: CheckoutEntry, { rate }: Terms): Problem[] =>
  warranty && !rate.warrantyEnabled
    ? [{ code: 'WARRANTY_NOT_OFFERED', message: 'The rate offers no warranty.', path: ['warranty'] }]
    : []

function checkQrCodes(entries: CheckoutEntry[]): Problem[] {
  const seen = new Set<string>()
  return entries.flatMap(({ qrCode }, index): Problem[] => {
    if (!qrCode) return []
    if (seen.has(qrCode))
      return [
        {
          code: 'DUPLICATE_QR_CODE',
          message: 'Two tickets have the same code.',
          path: ['tickets', index, 'qrCode'],
        },
      ]
    seen.add(qrCode)
    return []
  })
}

/** Checks the entries of a checkout against the terms of its rate. Each problem has the path of its field
 *  (DECISIONS 4). */
export const checkEntries = (entries: CheckoutEntry[], terms: Terms): Problem[] => [
  ...entries.flatMap((entry, index) =>
    [checkSupplements, checkAnswers, checkAge, checkWarranty]
      .flatMap((check) => check(entry, terms))
      .map((problem): Problem => ({ ...problem, path: ['tickets', index, ...(problem.path ?? [])] })),
  ),
  ...checkQrCodes(entries),
]
