import type { TestProject } from 'vitest/node'
import { findProgram } from './managed-process.ts'

/** Finds Chromium, which npm doesn't install: Debian's package `chromium-headless-shell`, or a browser with windows,
 *  which takes twice as long. */
export default async function setUp(project: TestProject): Promise<void> {
  const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
  const chromium = await findProgram(...names)
  if (!chromium) throw new Error('Chromium is missing: apt-get install chromium-headless-shell, or chromium.')
  project.provide('chromium', chromium)
}
