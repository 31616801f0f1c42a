import type { Mode } from '../shared/mode.ts'
import { builder } from './builder.ts'

/** Mode of a key, and of what was sold with it. */
export const ModeRef = builder.enumType('Mode', {
  description: 'Mode of a key, and of everything that is sold with it.',
  values: {
    LIVE: { value: 'live', description: 'Real tickets, for real money.' },
    TEST: {
      value: 'test',
      description: 'Test tickets: they cost nothing, take none of the live places and open no door.',
    },
  } satisfies Record<string, { value: Mode; description: string }>,
})
