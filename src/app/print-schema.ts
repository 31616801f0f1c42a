import { writeFileSync } from 'node:fs'
import { printedSchema } from './schema.ts'

writeFileSync(new URL('../../schema.graphql', import.meta.url), printedSchema())
