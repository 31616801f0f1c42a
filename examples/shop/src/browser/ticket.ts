import type {
  AnswerValueInput,
  QuestionFragment,
  QuotedTicketInput,
  RateFragment,
  TicketInput,
} from './documents.ts'
import { el } from './dom.ts'
import { checkField, type Field, mistakeIn, questionField, textField } from './fields.ts'
import { longDate, money, text } from './texts.ts'

/** Part of the form for one ticket. */
export type TicketForm = {
  element: HTMLElement
  /** Ticket for the gateway. Empty name and address are those of the first ticket. */
  read(priceId: string, first: TicketForm | null): TicketInput
  /** What a quote needs of it. */
  readForQuote(priceId: string): QuotedTicketInput
  /** Field that a path of the gateway means, such as `attendee.email` or `answers.0.answer`. */
  fieldAt(path: string[]): Field | null
  /** Shows what is missing. Returns the fields that are wrong. */
  check(): Field[]
  name: Field
  email: Field
}

const answerOf = ({ type }: QuestionFragment, value: string): AnswerValueInput =>
  type === 'DROPDOWN' ? { optionId: value } : type === 'CHECKBOX' ? { checked: true } : { text: value }

/** Creates the part of a ticket, from 0. `zone` is that of the venue. */
export function ticketForm(rate: RateFragment, zone: string, index: number): TicketForm {
  const isFirst = index === 0
  const hint = isFirst ? undefined : text('form.sameAsFirst')
  const autocomplete = (name: string) => (isFirst ? name : 'off')
  const name = textField(text('form.name'), { autocomplete: autocomplete('name'), maxlength: '200' }, hint)
  const email = textField(
    text('form.emailLabel'),
    { type: 'email', autocomplete: autocomplete('email'), inputmode: 'email', maxlength: '254' },
    hint,
  )
  const questions = rate.questions.map((question) => ({ question, field: questionField(question) }))
  const supplements = rate.supplements.map(({ id, name, description, price, compareAtPrice }) => {
    const field = checkField(`${name} (+${money(price)})`, description)
    if (compareAtPrice)
      field.element.querySelector('label')?.append(' ', el('s', { class: 'soft' }, money(compareAtPrice)))
    return { id, field }
  })
  const { percentage = 0, endsAt } = rate.warranty ?? {}
  const warranty = endsAt
    ? checkField(text('form.warranty', { percentage, until: longDate(endsAt, zone) }))
    : null
  const ticked = ({ field }: { field: Field }) => field.value() !== ''

  const rest = () => ({
    supplements: supplements.filter(ticked).map(({ id }) => ({ supplementId: id })),
    warranty: warranty?.value() === 'true',
  })

  const form: TicketForm = {
    name,
    email,
    element: el(
      'fieldset',
      { class: 'ticket' },
      el('legend', {}, text('form.ticket', { number: index + 1 })),
      el('div', { class: 'pair' }, name.element, email.element),
      ...questions.map(({ field }) => field.element),
      ...supplements.map(({ field }) => field.element),
      warranty?.element,
    ),
    read: (priceId, first) => ({
      priceId,
      attendee: {
        fullName: name.value() || (first?.name.value() ?? ''),
        email: email.value() || (first?.email.value() ?? ''),
      },
      answers: questions.filter(ticked).map(({ question, field }) => ({
        questionId: question.id,
        answer: answerOf(question, field.value()),
      })),
      ...rest(),
    }),
    readForQuote: (priceId) => ({ priceId, ...rest() }),
    fieldAt: ([part, at]) => {
      if (part === 'attendee') return at === 'email' ? email : name
      if (part === 'warranty') return warranty
      if (part === 'supplements') return supplements.filter(ticked)[Number(at)]?.field ?? null
      if (part !== 'answers') return null
      // Without a number it is about the questions that are not answered.
      const unanswered = questions.find((one) => one.question.required && !ticked(one))
      return (at === undefined ? unanswered : questions.filter(ticked)[Number(at)])?.field ?? null
    },
    check: () => {
      const checked: [Field, boolean][] = [
        [name, isFirst],
        [email, isFirst],
        ...questions.map(({ field, question }): [Field, boolean] => [field, question.required]),
      ]
      return checked.flatMap(([field, required]) => {
        const mistake = mistakeIn(field, required)
        field.complain(mistake)
        return mistake === null ? [] : [field]
      })
    },
  }
  return form
}
