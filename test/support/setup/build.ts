import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Builds the service and the shop for the tests that start processes, without looking for type errors: npm run check
 *  does. */
export default async function build(): Promise<void> {
  for (const project of ['tsconfig.build.json', 'examples/shop'])
    await promisify(execFile)('npx', ['tsc', '-p', project, '--noCheck']).catch(({ stdout }) =>
      console.warn(`${project} was built from source that can't be parsed:\n${stdout}`),
    )
}
