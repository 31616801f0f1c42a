import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { inject } from 'vitest'

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

/** Opens a page in its own profile. `complaints` collects console errors and requests to other origins. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; complaints: string[]; close(): Promise<void> }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
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
