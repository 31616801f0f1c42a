import type { InputObjectRef } from '@pothos/core'
import { builder } from './builder.ts'

type Types = typeof builder.$inferSchemaTypes

/** Defines `<name>Input`, the input of a mutation that takes one identifier, under the name `field`. */
export const idInput = <Field extends string>(name: string, field: Field, description: string) =>
  builder.inputRef<Record<Field, string>>(`${name}Input`).implement({
    description,
    fields: (t) => ({ [field]: t.id({ required: true, description }) }) as never,
  }) as InputObjectRef<Types, Record<Field, string>>
