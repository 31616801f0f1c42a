import { rm } from 'node:fs/promises'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { inject } from 'vitest'
import { mustStartDemo, type ServerProcess } from '../support/processes.ts'
import { makeDatabaseFolder } from '../support/setup/temporary-folder.ts'

/** Starts headless Chromium without background network traffic. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: inject('chromium'),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })

/** Opens a page in its own profile, of somebody who reads English unless told otherwise: not every Chromium has a
 *  language of its own. `complaints` collects console errors and requests to other origins. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; complaints: string[]; close(): Promise<void> }> {
  const desk = { viewport: { width: 1280, height: 800 }, locale: 'en-US' }
  const context = await browser.newContext({ ...desk, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  context.on('request', (request) => {
    const url = request.url()
    if (![origin, `blob:${origin}`].some((own) => url.startsWith(`${own}/`)) && !url.startsWith('data:'))
      complaints.push(`asked ${url}`)
  })
  return { page, complaints, close: () => context.close() }
}

/** The service with its demo, and a browser. */
export type BrowsedDemo = {
  browser: Browser
  /** Address of the service. */
  url: string
  /** Stops the service and starts it again on the same port. `isDown` runs meanwhile. */
  restart(isDown: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

/** Starts the service with its demo, as `npm start` runs it, and a browser. */
export async function openDemo(): Promise<BrowsedDemo> {
  const folder = await makeDatabaseFolder('demo')
  const start = (more = {}) => mustStartDemo({ DATA_DIR: folder, LOG_LEVEL: 'info', ...more })
  let server: ServerProcess = await start()
  const browser = await openBrowser()
  const { url } = server
  return {
    browser,
    url,
    async restart(isDown) {
      await server.stop()
      await isDown()
      server = await start({ PORT: new URL(url).port })
    },
    async close() {
      await browser.close()
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
