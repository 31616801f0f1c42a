import { z } from 'zod'

const maxMetadataBytes = 1024

// A value that survives a round trip through JSON and jsonb: no infinity (1e400), no integer that may have lost digits
// when it was read, no NUL, no lone surrogate.
const isStorable = (part: unknown) =>
  typeof part === 'number'
    ? Number.isFinite(part) && (Number.isSafeInteger(part) || !Number.isInteger(part))
    : typeof part !== 'string' || (part.isWellFormed() && !part.includes('\0'))

/** An object of at most 1024 bytes as UTF-8 JSON. Other JSON values are refused, because a text that looks
 *  like a number reads back from jsonb as a number. */
export const metadata = z
  .record(z.string(), z.unknown(), 'must be a JSON object')
  .superRefine((value, issues) => {
    let storable = true
    // The depth of input is limited, so this does not overflow the stack.
    const json = JSON.stringify(value, (key, part) => {
      storable &&= isStorable(key) && isStorable(part)
      return part
    })
    if (Buffer.byteLength(json) > maxMetadataBytes)
      issues.addIssue({
        code: 'custom',
        message: `must be at most ${maxMetadataBytes} bytes as JSON`,
        params: { code: 'METADATA_TOO_LARGE', status: 413, facts: { limit: maxMetadataBytes } },
      })
    if (!storable)
      issues.addIssue({
        code: 'custom',
        message:
          'must hold printable text, finite numbers and integers of at most 2^53 - 1 (send longer ones as text)',
      })
  })
