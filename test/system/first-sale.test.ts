import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { freePort } from '../support/setup/managed-process.ts'

// The README's first sale: its commands, in its order, in a shell, at the built service with its demo, as `npm start` runs
// it, and the press of a button between them. TEST_NODE names another Node to run it with; .ci/run does so with the one
// of the image.

const root = new URL('../../', import.meta.url)
const node = process.env.TEST_NODE || process.execPath

/** Shell commands of a section of the README. */
async function commandsOf(title: string): Promise<string[]> {
  const readme = await readFile(new URL('README.md', root), 'utf8')
  const section = readme.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? ''
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, commands = '']) => commands)
}

test("the README's first sale", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'boxoffice-first-sale-'))
  const PORT = String(await freePort())
  // A plain `node` in the commands is the same Node.
  const env = { PATH: `${dirname(node)}:${process.env.PATH ?? ''}`, PORT }
  const server = fileURLToPath(new URL('examples/shop/start.js', root))
  const service = spawn(node, ['--max-old-space-size=1024', server], { cwd: folder, env })
  let output = ''
  service.stdout.on('data', (chunk) => (output += chunk))
  service.stderr.on('data', (chunk) => (output += chunk))
  const ended = once(service, 'close')
  try {
    await vi.waitFor(() => expect(output).toContain('Boxoffice sells tickets at'), 120_000)
    const blocks = await commandsOf('Sell a ticket')
    expect(blocks).toHaveLength(3)
    const [list = '', checkOut = '', readBack = ''] = blocks
    const run = async (command: string) => {
      const script = command.replaceAll('127.0.0.1:4000', `127.0.0.1:${PORT}`)
      const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
        cwd: folder,
        env,
      })
      return stdout
    }
    expect(await run(list)).toContain('"ticket_rates":[{"_id":"rate_demo_8_1"')
    const { payment_url, total_amount } = JSON.parse(await run(checkOut)).data
    expect(total_amount).toBe(9.72)
    const body = new URLSearchParams({ action: 'pay' })
    expect((await fetch(payment_url, { method: 'POST', body })).status).toBe(200)
    expect(await run(readBack)).toMatch(/"status":"activated"/)
  } finally {
    service.kill()
    await ended
    await rm(folder, { recursive: true, force: true })
  }
})
