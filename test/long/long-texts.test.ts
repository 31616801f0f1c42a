// Runs in: long, first

import '../postgres/long-texts.test.ts'

// Every odd text at every place, as long as a body may be.
