import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../support/setup/managed-process.ts'

/** A process that answers HTTP on a port of the loopback. */
export type Server = { port: number; pid: number; stop(): Promise<void> }

/** Starts a Node program that listens on the port in `PORT`, and waits until `path` is answered with 200. */
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

/** What a process has used. */
export type Usage = { cpuSeconds: number; residentMegabytes: number }

// The kernel counts in hundredths of a second on every Linux that Node runs on.
const ticksPerSecond = 100

/** What a process has used until now; null where the system doesn't tell it in /proc. */
export async function usageOf(pid: number): Promise<Usage | null> {
  try {
    const [stat, status] = await Promise.all(
      ['stat', 'status'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8')),
    )
    // The fields behind the command's name, which may have spaces and brackets in it.
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
    return {
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
      residentMegabytes: Number(/VmRSS:\s+(\d+) kB/.exec(status ?? '')?.[1]) / 1024,
    }
  } catch {
    return null
  }
}
