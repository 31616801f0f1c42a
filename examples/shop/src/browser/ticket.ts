import type { CheckoutTicketInput, RateFragment } from './documents.ts'
import { el } from './dom.ts'
import { checkField, type Field, mistakeIn, questionField, textField } from './fields.ts'
import { money, text } from './texts.ts'

/** Part of the form for one ticket. */
export type TicketForm = {
  element: HTMLElement
  /** Ticket for the gateway. Empty name and address are those of the first ticket. */
  read(priceId: string, first: TicketForm | null): CheckoutTicketInput
  /** The same, with an example wherever something is still missing: a quote wants the whole checkout. */
  readForQuote(priceId: string): CheckoutTicketInput
  /** Field that a path of the gateway means, such as `answers.0.answer`. */
  fieldAt(path: string[]): Field | null
  /** Shows what is missing. Returns the fields that are wrong. */
  check(): Field[]
  name: Field
  email: Field
}

/** Creates the part of a ticket, from 0. */
export function ticketForm(rate: RateFragment, index: number): TicketForm {
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
  const currency = rate.currentPrice?.currency ?? 'EUR'
  const supplements = rate.supplements.map(({ id, label, description, price, hasFakePrice, fakePrice }) => {
    const field = checkField(`${label} (+${money(price, currency)})`, description)
    if (hasFakePrice && fakePrice !== null)
      field.element
        .querySelector('label')
        ?.append(' ', el('s', { class: 'soft' }, money(fakePrice, currency)))
    return { id, field }
  })
  const { enabled, percentage, hours } = rate.warranty
  const warranty = enabled ? checkField(text('form.warranty', { percentage, hours })) : null
  const ticked = ({ field }: { field: Field }) => field.value() !== ''

  const rest = () => ({
    supplements: supplements.filter(ticked).map(({ id }) => ({ supplementId: id })),
    warranty: warranty?.value() === 'true',
  })
  const answersOf = (answered: typeof questions, answerOf: (one: (typeof questions)[number]) => string) =>
    answered.map((one) => ({ questionId: one.question.id, answer: answerOf(one) }))
  const example = ({ question: { items, type } }: (typeof questions)[number]) =>
    items[0] ?? (type === 'CHECKBOX' ? 'true' : '…')

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
      fullName: name.value() || (first?.name.value() ?? ''),
      email: email.value() || (first?.email.value() ?? ''),
      answers: answersOf(questions.filter(ticked), ({ field }) => field.value()),
      ...rest(),
    }),
    readForQuote: (priceId) => ({
      priceId,
      fullName: 'Quote',
      email: 'quote@example.com',
      answers: answersOf(
        questions.filter((one) => ticked(one) || one.question.required),
        (one) => one.field.value() || example(one),
      ),
      ...rest(),
    }),
    fieldAt: ([part, at]) => {
      if (part === 'fullName') return name
      if (part === 'email') return email
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
