import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Builds dist/ for the tests that start processes, without looking for type errors: npm run check does. */
export default async function build(): Promise<void> {
  await promisify(execFile)('npx', ['tsc', '-p', 'tsconfig.build.json', '--noCheck']).catch(({ stdout }) =>
    console.warn(`dist/ was built from source that can't be parsed:\n${stdout}`),
  )
}
