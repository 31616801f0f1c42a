import type { InputObjectRef } from '@pothos/core'
import { builder } from './builder.ts'

type Types = typeof builder.$inferSchemaTypes

/** Description of an input field that leaves out the mails of a mutation. */
export const notifyDescription = 'False if nobody is to be told by mail. Defaults to true.'

type Identified<Field extends string> = Record<Field, string> & { notify?: boolean | null | undefined }

/** Defines `<name>Input`, the input of a mutation that takes one identifier, under the name `field`, and with
 *  `mails` whether anybody is told. */
export const idInput = <Field extends string>(
  name: string,
  field: Field,
  description: string,
  mails = false,
) =>
  builder.inputRef<Identified<Field>>(`${name}Input`).implement({
    description,
    fields: (t) =>
      ({
        [field]: t.id({ required: true, description }),
        ...(mails && { notify: t.boolean({ description: notifyDescription }) }),
      }) as never,
  }) as InputObjectRef<Types, Identified<Field>>
