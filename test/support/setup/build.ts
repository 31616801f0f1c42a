import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Builds dist/ for the tests that start processes. Type errors don't stop the tests; npm run check reports
 *  them. */
export default async function build(): Promise<void> {
  await promisify(execFile)('npx', ['tsc', '-p', 'tsconfig.build.json']).catch(({ stdout }) =>
    console.warn(`dist/ was built from source that has errors:\n${stdout}`),
  )
}
