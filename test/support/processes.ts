import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, vi } from 'vitest'

// The built programs, run as child processes: those of this clone, or of a build in another folder.

const here = fileURLToPath(new URL('../../', import.meta.url))

type Settings = Record<string, string>

const programs = {
  server: 'dist/server.js',
  cli: 'dist/cli.js',
  demo: 'examples/shop/start.js',
  seed: 'examples/shop/dist/demo/seed.js',
}

function run(
  name: keyof typeof programs,
  args: string[],
  settings: Settings,
  build: string,
  node = process.execPath,
) {
  const { PATH = '' } = process.env
  const program = join(build, programs[name])
  const child = spawn(node, [program, ...args], { env: { PATH, ...settings } })
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (errors += chunk))
  return { child, output: () => output, errors: () => errors }
}

export type ExitResult = { code: number | null; output: string; errors: string }

// What a command says about its progress where the machine is too busy to end it within ten seconds.
const progressLine = /^[\w ]+: \d+ of \d+.*\n/gm

/** Runs a CLI command to its end, or another program that ends. Leaves out what it says about its progress. */
export async function runCli(
  args: string[],
  settings: Settings,
  build = here,
  program: 'cli' | 'seed' = 'cli',
): Promise<ExitResult> {
  const { child, output, errors } = run(program, args, settings, build)
  const [code] = await once(child, 'close')
  return { code, output: output(), errors: errors().replace(progressLine, '') }
}

/** Imports the demo, as `npm run seed` does. */
export const runSeed = (args: string[], settings: Settings): Promise<ExitResult> =>
  runCli(args, settings, here, 'seed')

export type ServerProcess = {
  child: ChildProcess
  url: string
  output(): string
  errors(): string
  /** Sends a signal and resolves to the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Starts the service on a free port, with this Node unless another is named. Resolves once it listens, or to its
 *  exit if it never does. */
export async function startServer(
  settings: Settings,
  build = here,
  node?: string,
  program: 'server' | 'demo' = 'server',
): Promise<ServerProcess | ExitResult> {
  const { child, output, errors } = run(program, [], { PORT: '0', ...settings }, build, node)
  const ended = once(child, 'close').then(
    ([code]): ExitResult => ({ code, output: output(), errors: errors() }),
  )
  const listening = new Promise<ServerProcess>((resolve) => {
    child.stdout.on('data', () => {
      const url = /Server listening at (http:[^"\s]+)/.exec(output())?.[1]
      if (!url) return
      const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
        child.kill(signal)
        return (await ended).code
      }
      resolve({ child, url, output, errors, stop })
    })
  })
  return Promise.race([listening, ended])
}

/** Starts the service, and throws if it exits instead of listening. */
export async function mustStartServer(
  settings: Settings,
  build?: string,
  node?: string,
  program?: 'server' | 'demo',
): Promise<ServerProcess> {
  const started = await startServer(settings, build, node, program)
  if ('code' in started) throw new Error(`the service ended with ${started.code}: ${started.errors}`)
  return started
}

/** Starts the service with the demo, as `npm start` does on an embedded database, and waits until all of it is there. */
export async function mustStartDemo(settings: Settings): Promise<ServerProcess> {
  const demo = await mustStartServer(settings, undefined, undefined, 'demo')
  // Without Vitest, which may not be asked in a global setup.
  const isThere = () => demo.output().includes('Demo integration')
  while (!isThere() && demo.child.exitCode === null) await setTimeout(50)
  if (!isThere()) throw new Error(`the demo ended with ${demo.child.exitCode}: ${demo.errors()}`)
  return demo
}

/** Starts the service as several processes without limits on requests, and waits until all of them listen. */
export async function mustStartWorkers(count: number, settings: Settings): Promise<ServerProcess> {
  const service = await mustStartServer({
    ...settings,
    WEB_CONCURRENCY: String(count),
    RATE_LIMIT: 'off',
  })
  const listening = () => service.output().match(/"Server listening/g)
  await vi.waitFor(() => expect(listening()).toHaveLength(count), 60_000)
  return service
}
