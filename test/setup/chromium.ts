import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { TestProject } from 'vitest/node'

/** Finds Chromium, which npm doesn't bring: Debian's package `chromium`. */
export default async function setUp(project: TestProject): Promise<void> {
  for (const folder of (process.env.PATH ?? '').split(delimiter))
    for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
      const found = await access(join(folder, name), constants.X_OK).then(
        () => true,
        () => false,
      )
      if (found) return project.provide('chromium', join(folder, name))
    }
  throw new Error('Chromium is missing. Install the package chromium: apt-get install chromium')
}
