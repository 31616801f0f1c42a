import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'

const folder = 'test/bench/mercurius'

const changedAt = (path: string): Promise<number> =>
  stat(`${folder}/${path}`).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )

/** Installs the package that the nested page is held against, unless what its lock file names is there already.
 *  Resolves to its server's file. */
export async function installMercurius(say: (text: string) => void): Promise<string> {
  // npm writes the hidden lock file last.
  if ((await changedAt('node_modules/.package-lock.json')) < (await changedAt('package-lock.json'))) {
    say(`Installing ${folder}…`)
    await promisify(execFile)('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder })
  }
  return `${folder}/server.js`
}
