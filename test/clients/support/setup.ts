import { execFile } from 'node:child_process'
import { access } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { type Service, startDemo } from './service.ts'

declare module 'vitest' {
  interface ProvidedContext {
    service: Service
  }
}

const folder = fileURLToPath(new URL('../', import.meta.url))

/** Installs the clients' packages unless they are there, and starts the service that all clients share. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  // npm writes this file last.
  const installed = await access(`${folder}node_modules/.package-lock.json`).then(
    () => true,
    () => false,
  )
  if (!installed) await promisify(execFile)('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder })
  const { stop, ...service } = await startDemo()
  project.provide('service', service)
  return stop
}
