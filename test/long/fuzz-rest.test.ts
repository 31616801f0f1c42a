// Runs in: long, first

import '../postgres/fuzz-rest.test.ts'
import { expectResponses } from '../support/fuzz/long-run.ts'

// The fuzz tests of every run, with six times as many values (FUZZ_TIMES in vitest.config.ts).
expectResponses(5_000)
