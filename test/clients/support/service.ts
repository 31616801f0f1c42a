import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { mustStartDemo } from '../../support/processes.ts'
import { makeDatabaseFolder } from '../../support/setup/temporary-folder.ts'

// The built service with the demo, and the commands of the clients.

const run = promisify(execFile)
const folderOf = (client: string) => fileURLToPath(new URL(`../${client}/`, import.meta.url))

/** Address of the service, and the demo's keys: a channel's, a publishable one for this address, and an
 *  integration's. */
export type Service = { url: string; key: string; publishableKey: string; integrationKey: string }

type Keys = { key: string; publishable_key: string; integration_key: string }

/** Starts the service with the demo on an embedded database of its own. */
export async function startDemo(
  settings: Record<string, string> = {},
): Promise<Service & { stop(): Promise<void> }> {
  const folder = await makeDatabaseFolder('clients')
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const server = await mustStartDemo({ DATA_DIR: folder, LOG_LEVEL: 'info', ...settings })
    const demo: Keys = JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8'))
    return {
      url: server.url,
      key: demo.key,
      publishableKey: demo.publishable_key,
      integrationKey: demo.integration_key,
      async stop() {
        await server.stop()
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Runs a script of a client's folder with these variables, and resolves to its output. */
export async function runScript(
  client: string,
  script: string,
  variables: Record<string, string> = {},
): Promise<string> {
  const options = { cwd: folderOf(client), env: { ...process.env, ...variables } }
  return (await run('sh', [script], options)).stdout
}

/** Checks the types of a client, with what was generated for it. Rejects with the mistakes. */
export async function compile(client: string): Promise<void> {
  await run('npx', ['tsc', '-p', '.'], { cwd: folderOf(client) }).catch(({ stdout }) => {
    throw new Error(stdout)
  })
}

/** Sends requests as a page of the service's address does: browsers name the origin. */
export const fetchFrom =
  (origin: string): typeof fetch =>
  (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('Origin', origin)
    return fetch(input, { ...init, headers })
  }

/** Presses Pay on the payment page. */
export async function pay(url: string): Promise<number> {
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams({ action: 'pay' }) })
  await answer.arrayBuffer()
  return answer.status
}
