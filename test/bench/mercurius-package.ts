import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'

const folder = 'test/bench/mercurius'

const changedAt = (path: string): Promise<number> =>
  stat(`${folder}/${path}`).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )

/** Installs the yardstick of the nested page, unless it is already installed as locked. Resolves to the file
 *  of its server. */
export async function installMercurius(say: (text: string) => void): Promise<string> {
  // npm writes the hidden lock file last.
  if ((await changedAt('node_modules/.package-lock.json')) < (await changedAt('package-lock.json'))) {
    say(`Installing ${folder}…`)
    await promisify(execFile)('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder })
  }
  return `${folder}/server.js`
}
