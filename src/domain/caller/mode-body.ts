import { z } from 'zod'
import { field } from '../../engine/rest/body.ts'

/** True in the body of a test sale; absent from any other. */
export const isTest = (text: string) =>
  field(
    ({ mode }: { mode: 'live' | 'test' }) => (mode === 'test' ? (true as const) : undefined),
    z.literal(true).optional().describe(text),
    undefined,
  )
