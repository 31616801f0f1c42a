import type { TestProject } from 'vitest/node'
import { findProgram } from './managed-process.ts'

/** Finds Chromium, which npm doesn't install: Debian's package `chromium`. */
export default async function setUp(project: TestProject): Promise<void> {
  const chromium = await findProgram('chromium', 'chromium-browser', 'google-chrome')
  if (!chromium)
    throw new Error('Chromium is missing. Install the package chromium: apt-get install chromium')
  project.provide('chromium', chromium)
}
