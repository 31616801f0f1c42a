import { z } from 'zod'
import * as field from '../../engine/rest/body.ts'

/** Modes of keys, and of everything that is sold with them. A test key sells test tickets: they cost nothing,
 *  take none of the live places and open no door (DECISIONS, keys). */
export const modes = ['live', 'test'] as const

export type Mode = (typeof modes)[number]

/** Makes one value per mode, such as a query. */
export const perMode = <Value>(make: (mode: Mode) => Value) => ({ live: make('live'), test: make('test') })

/** True in the body of a test sale; absent from any other. */
export const isTest = (text: string) =>
  field.of(
    ({ mode }: { mode: 'live' | 'test' }) => (mode === 'test' ? (true as const) : undefined),
    z.literal(true).optional().describe(text),
    undefined,
  )
