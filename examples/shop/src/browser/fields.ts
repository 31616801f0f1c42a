import type { QuestionFragment } from './documents.ts'
import { el, fill, newId } from './dom.ts'
import { text } from './texts.ts'

type Input = HTMLInputElement | HTMLSelectElement

/** Input with its label, and a place for what is wrong with it. */
export type Field = {
  element: HTMLElement
  input: Input
  /** Value: trimmed text, the identifier of a chosen option, `true` of a checkbox, or ''. */
  value(): string
  /** Shows a problem at the input, or takes it away. */
  complain(problem: string | null): void
}

function fieldOf(label: string, input: Input, hint: string | null = null): Field {
  const isBox = input instanceof HTMLInputElement && input.type === 'checkbox'
  const [id, noteId] = [newId(), newId()]
  input.id = id
  input.setAttribute('aria-describedby', noteId)
  const note = el('p', { class: 'note-below', id: noteId }, hint)
  const named = el('label', { for: id }, label)
  const element = el('div', { class: isBox ? 'field box' : 'field' })
  element.append(...(isBox ? [input, named] : [named, input]), note)
  const complain = (problem: string | null) => {
    input.toggleAttribute('aria-invalid', problem !== null)
    if (problem !== null) input.setAttribute('aria-invalid', 'true')
    note.classList.toggle('problem', problem !== null)
    fill(note, problem ?? hint)
  }
  input.addEventListener('input', () => complain(null))
  const value = () => (isBox ? (input.checked ? 'true' : '') : input.value.trim())
  return { element, input, value, complain }
}

/** Field for a line of text. */
export const textField = (
  label: string,
  attributes: Record<string, string | boolean>,
  hint?: string,
): Field => fieldOf(label, el('input', { type: 'text', ...attributes }), hint)

/** Field with a box to tick. */
export const checkField = (label: string, hint?: string | null): Field =>
  fieldOf(label, el('input', { type: 'checkbox' }), hint)

/** Field for the answer to a question of the rate: its options, a box to tick, or text. */
export function questionField({ label, type, required, options }: QuestionFragment): Field {
  const name = required ? label : `${label} ${text('form.optional')}`
  if (type === 'CHECKBOX') return checkField(name)
  if (type === 'TEXT') return textField(name, { maxlength: '500' })
  const choices = options.map(({ id, label }) => el('option', { value: id }, label))
  return fieldOf(name, el('select', {}, el('option', { value: '' }, text('form.choose')), ...choices))
}

/** Finds what is wrong with a field before anything is sent; null if nothing is. */
export function mistakeIn({ input, value }: Field, required: boolean): string | null {
  if (value() === '') return required ? text('error.REQUIRED') : null
  return input instanceof HTMLInputElement && input.validity.typeMismatch ? text('form.email') : null
}
