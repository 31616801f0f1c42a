import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { mustStartServer } from '../../support/processes.ts'
import { makeDatabaseFolder } from '../../support/setup/temporary-folder.ts'

// The built service with the demo, and the commands of the clients.

const run = promisify(execFile)
const folderOf = (client: string) => fileURLToPath(new URL(`../${client}/`, import.meta.url))

/** Address of the service, and the demo's keys: a channel's, a publishable one for this address, and an
 *  integration's. */
export type Service = { url: string; key: string; publishableKey: string; integrationKey: string }

type Keys = { key: string; publishable_key: string; integration_key: string }

// Reads the keys once the service has issued the publishable one, which takes its address.
async function readKeys(file: string, url: string): Promise<Keys> {
  const start = performance.now()
  while (performance.now() - start < 60_000) {
    const demo = JSON.parse(await readFile(file, 'utf8'))
    if (demo.publishable_origin === url) return demo
    await setTimeout(50)
  }
  throw new Error('the demo has no publishable key')
}

/** Starts the service with the demo on an embedded database of its own. */
export async function startDemo(
  settings: Record<string, string> = {},
): Promise<Service & { stop(): Promise<void> }> {
  const folder = await makeDatabaseFolder('clients')
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const server = await mustStartServer({ DATA_DIR: folder, LOG_LEVEL: 'info', ...settings })
    const demo = await readKeys(join(folder, 'demo.json'), server.url)
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
