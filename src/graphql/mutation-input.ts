import type { InputObjectRef } from '@pothos/core'
import { builder } from './builder.ts'

type Types = typeof builder.$inferSchemaTypes

/** Description of an input field that leaves out the mails of a mutation. */
export const notifyDescription = 'False if nobody is to be told by mail. Defaults to true.'

/** Defines `<name>Input`, the input of a mutation that takes a ticket and mails its holder and its payer. */
export const noticeInput = (name: string, description: string) =>
  builder.inputType(`${name}Input`, {
    description,
    fields: (t) => ({
      ticketId: t.id({ required: true, description }),
      notify: t.boolean({ description: notifyDescription }),
    }),
  })

/** Defines `<name>Input`, the input of a mutation that takes one identifier, under the name `field`. */
export const idInput = <Field extends string>(name: string, field: Field, description: string) =>
  builder.inputRef<Record<Field, string>>(`${name}Input`).implement({
    description,
    fields: (t) => ({ [field]: t.id({ required: true, description }) }) as never,
  }) as InputObjectRef<Types, Record<Field, string>>
