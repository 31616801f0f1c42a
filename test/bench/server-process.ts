import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../support/setup/managed-process.ts'

/** A child process that serves HTTP on a loopback port. */
export type Server = { port: number; pid: number; stop(): Promise<void> }

/** Starts a Node program that listens on `PORT`, and waits until `path` returns 200. */
export async function startServer(
  args: string[],
  env: Record<string, string>,
  path: string,
): Promise<Server> {
  const port = await freePort()
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}${path}`).then(
      (response) => response.ok,
      () => false,
    )
  for (let tries = 0; !(await isReady()); tries++) {
    if (hasEnded() || tries === 600) {
      child.kill('SIGKILL')
      throw new Error(`${args.join(' ')} ${hasEnded() ? 'ended' : 'does not answer'}`)
    }
    await wait(50)
  }
  return {
    port,
    pid: child.pid ?? 0,
    async stop() {
      if (hasEnded()) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Resource usage of a process. */
export type Usage = { cpuSeconds: number; residentMegabytes: number }

// The kernel reports CPU time in hundredths of a second on every Linux that Node runs on.
const ticksPerSecond = 100

/** Reads the resource usage of a process from /proc, or returns null if there is none. */
export async function usageOf(pid: number): Promise<Usage | null> {
  try {
    const [stat, status] = await Promise.all(
      ['stat', 'status'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8')),
    )
    // Splits after the command name, which may contain spaces and parentheses.
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
    return {
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
      residentMegabytes: Number(/VmRSS:\s+(\d+) kB/.exec(status ?? '')?.[1]) / 1024,
    }
  } catch {
    return null
  }
}
