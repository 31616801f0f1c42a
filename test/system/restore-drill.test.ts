import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chmod, chown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payments } from '../../src/domain/payment/table.ts'
import { issued, localhost, rolePostgres } from '../support/certificates.ts'
import { cursorRefusal, readChanges } from '../support/change-feed.ts'
import { aCatalogueOfTwo } from '../support/factories.ts'
import { type Gateway, startGateway } from '../support/harness.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { settlePaymentById } from '../support/settle-payment.ts'
import { copyFolder } from '../support/setup/database.ts'
import { findUser } from '../support/setup/managed-process.ts'
import { type PostgresServer, startPostgres } from '../support/setup/postgres-server.ts'
import { paidOutcome } from '../support/stub-provider.ts'
import { holdTickets } from '../support/tickets.ts'
import { databaseAt, emptyDatabase, findDebianPostgres, runProgram } from './debian-postgres.ts'

// deploy/restore-drill, which restores backups of a server that sells meanwhile.

const script = fileURLToPath(new URL('../../deploy/restore-drill', import.meta.url))

let debian: string
let folder: string
let archive: string
let server: PostgresServer
let url: string
let sale: Sale

beforeAll(async () => {
  debian = await findDebianPostgres()
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-drill-'))
  archive = await mkdtemp(join(folder, 'archive-'))
  // The server writes its archive as another user than the one who runs the tests as root.
  const user = await findUser()
  if (user) await chown(archive, user.uid, user.gid)
  for (const path of [folder, archive]) await chmod(path, 0o755)
  const archiving = { archive_mode: 'on', archive_command: `cp %p ${archive}/%f && chmod a+r ${archive}/%f` }
  server = await startPostgres({ ...archiving, full_page_writes: 'on' }, undefined, debian)
  url = await emptyDatabase(server, 'box')
  const database = databaseAt(url)
  const opened = await database.open()
  await opened.migrate()
  await opened.close()
  sale = await openSale(aCatalogueOfTwo(5_000), { database })
})
afterAll(async () => {
  await sale?.close()
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})

async function sell(gateway: Gateway, number: 1 | 2): Promise<string> {
  const { payment_id } = await holdTickets({ ...sale, ...gateway }, { rate: number })
  await settlePaymentById(gateway.db, payment_id, paidOutcome(payment_id))
  return payment_id
}

/** Sells on until the returned function is called, which resolves to all payments. */
function sellOn(): { sold: string[]; end(): Promise<string[]> } {
  const sold: string[] = []
  let isOver = false
  const sellOne = async (number: 1 | 2) => {
    while (!isOver) sold.push(await sell(sale, number))
  }
  const selling = Promise.all([sellOne(1), sellOne(2)])
  return {
    sold,
    async end() {
      isOver = true
      await selling
      return sold
    },
  }
}

type Drill = { code: number | null; output: string; errors: string }

/** Starts the drill. A check that prints `DATABASE_URL` may wait for its standard input. */
function startDrill(args: string[], settings: Record<string, string> = {}) {
  const { PATH = '' } = process.env
  const env = { PATH, TMPDIR: folder, PG_BIN: join(debian, 'bin'), DATABASE_URL: url, ...settings }
  const child = spawn(script, args, { env })
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (errors += chunk))
  const ended = once(child, 'close').then(([code]): Drill => ({ code, output, errors }))
  return {
    ended,
    /** Resolves to the address of the restored database, or throws if the drill ends before. */
    restored: () =>
      new Promise<string>((resolve, reject) => {
        child.stdout.on('data', () => {
          const address = /^checking (postgres:.*)$/m.exec(output)?.[1]
          if (address) resolve(address)
        })
        ended.then(({ errors }) => reject(new Error(errors)))
      }),
    goOn: () => child.stdin.end('\n'),
  }
}
const expectSuccess = ({ code, errors }: Drill) => {
  expect(code, errors).toBe(0)
  expect(errors).toBe('')
}
const check = ['--', 'sh', '-c', 'echo "checking $DATABASE_URL"; read -r line']

const paymentsIn = async ({ db }: Gateway) =>
  new Set((await db.select().from(payments)).filter(({ paidAt }) => paidAt !== null).map(({ id }) => id))

const leftOvers = async () => (await readdir(folder)).filter((name) => name.startsWith('restore-drill'))

test('a backup that was taken while tickets were sold has each sale until its end, whole', async () => {
  const before = [await sell(sale, 1), await sell(sale, 2)]
  const kept = await readChanges(sale, sale.channel)
  const selling = sellOn()
  const drill = startDrill(check)
  const address = await drill.restored()
  const sold = await selling.end()
  const { end: lost } = await readChanges(sale, sale.channel)

  const restored = await startGateway({ database: databaseAt(address) })
  expect((await restored.rest('GET', '/ready')).statusCode).toBe(200)
  expect(await brokenInvariants(restored.db)).toEqual([])
  const held = await paymentsIn(restored)
  expect(before.filter((id) => !held.has(id))).toEqual([])
  // Sold during the backup, and so in its WAL alone, if not after its end.
  expect(sold.filter((id) => held.has(id)).length).toBeGreaterThan(0)
  expect(sold.filter((id) => !held.has(id)).length).toBeGreaterThan(0)
  expect([...held].filter((id) => !before.includes(id) && !sold.includes(id))).toEqual([])

  // Cursors from before the backup go on, and those of changes that it lacks are refused for ever.
  const behind = await readChanges(restored, sale.channel, kept.end)
  const paid = behind.nodes.filter(({ type }) => type === 'PAYMENT_PAID').map(({ subjectId }) => subjectId)
  expect(paid.toSorted()).toEqual([...held].filter((id) => !before.includes(id)).sort())
  expect(await cursorRefusal(restored, sale.channel, lost)).toBe('CURSOR_UNKNOWN')
  const resold = await sell(restored, 1)
  expect(
    (await readChanges(restored, sale.channel, behind.end)).nodes.map(({ subjectId }) => subjectId),
  ).toContain(resold)
  expect(await cursorRefusal(restored, sale.channel, lost)).toBe('CURSOR_UNKNOWN')
  await restored.close()

  drill.goOn()
  expectSuccess(await drill.ended)
  expect(await leftOvers()).toEqual([])
})

function withoutPassword(): string {
  const address = new URL(url)
  address.password = ''
  return address.href
}

test('a backup is taken with a password from a file', async () => {
  const { hostname, port, username, password } = new URL(url)
  const file = join(folder, 'passwords')
  await writeFile(file, `${hostname}:${port}:*:${username}:${decodeURIComponent(password)}\n`, {
    mode: 0o600,
  })
  const drill = await startDrill(['--', 'true'], { DATABASE_URL: withoutPassword(), PGPASSFILE: file }).ended
  expectSuccess(drill)
})

test('a base backup and an archive are restored to a point in time, and to no other', async () => {
  const base = join(folder, 'base')
  await runProgram(debian, 'pg_basebackup', '--checkpoint=fast', '--wal-method=none', '-d', url, '-D', base)
  const sold = [await sell(sale, 1), await sell(sale, 2)]
  const { end: kept } = await readChanges(sale, sale.channel)
  const [point] = await sale.db
    .select({ at: sql<string>`clock_timestamp()::text` })
    .from(sql`(values (1)) as one`)
  const later = await sell(sale, 1)
  const { end: lost } = await readChanges(sale, sale.channel)
  const [archived] = await sale.db
    .select({ file: sql<string>`pg_walfile_name(pg_switch_wal())` })
    .from(sql`(values (1)) as one`)
  await expect.poll(() => readdir(archive)).toContain(archived?.file)

  const given = ['--base', base, '--wal', archive]
  const drill = startDrill([...given, '--until', point?.at ?? '', ...check])
  const restored = await startGateway({ database: databaseAt(await drill.restored()) })
  const held = await paymentsIn(restored)
  expect([...sold, later].map((id) => held.has(id))).toEqual([true, true, false])
  expect(await brokenInvariants(restored.db)).toEqual([])
  expect((await readChanges(restored, sale.channel, kept)).nodes).toEqual([])
  expect(await cursorRefusal(restored, sale.channel, lost)).toBe('CURSOR_UNKNOWN')
  await restored.close()
  drill.goOn()
  expectSuccess(await drill.ended)

  // All WAL, and the check where none is named.
  const whole = await startDrill(given).ended
  expectSuccess(whole)
  expect(whole.output).toContain('The tables are up to date.')

  // A role without a password, as with peer, trust or a certificate.
  const bare = await startDrill(given, { DATABASE_URL: withoutPassword() }).ended
  expectSuccess(bare)
  expect(bare.output).toContain('The tables are up to date.')

  // The exit code is the check's.
  const failed = await startDrill([...given, '--', 'sh', '-c', 'exit 7']).ended
  expect(failed).toMatchObject({ code: 7, errors: 'restore-drill: the check ended with 7\n' })

  const without = await mkdtemp(join(folder, 'empty-'))
  await chmod(without, 0o755)
  const gap = await startDrill(['--base', base, '--wal', without, ...check]).ended
  expect(gap).toMatchObject({ code: 1, errors: expect.stringContaining("can't be restored") })
  expect(gap.output).not.toContain('checking')

  const tooLate = await startDrill([...given, '--until', '2100-01-01', ...check]).ended
  expect(tooLate.errors).toContain('recovery ended before configured recovery target was reached')
  expect(tooLate.code).toBe(1)

  const damaged = join(folder, 'damaged')
  await copyFolder(base, damaged)
  await appendFile(join(damaged, 'global/pg_filenode.map'), 'x')
  const refused = await startDrill(['--base', damaged, '--wal', archive, ...check]).ended
  expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining('not as it was written') })
  expect(await leftOvers()).toEqual([])
})

test('a drill reaches a server that speaks TLS alone, as the settings of the service say', async () => {
  const user = await findUser()
  const certificates = await mkdtemp(join(folder, 'tls-'))
  const write = async (name: string, text: string) => {
    const path = join(certificates, name)
    await writeFile(path, text, { mode: 0o600 })
    if (user) for (const each of [certificates, path]) await chown(each, user.uid, user.gid)
    return path
  }
  const tls = await startPostgres(
    {
      ssl: 'on',
      ssl_cert_file: await write('certificate.pem', issued.certificate),
      ssl_key_file: await write('key.pem', issued.key),
      ssl_ca_file: await write('clients.pem', rolePostgres.certificate),
      hba_file: await write('hba.conf', 'hostssl all,replication all all password clientcert=verify-ca\n'),
    },
    undefined,
    debian,
  )
  // Nobody but the user who starts the drill may enter their home, or read their files.
  const home = await mkdtemp(join(folder, 'home-'))
  const own = async (name: string, text: string) => {
    await writeFile(join(home, name), text, { mode: 0o600 })
    return join(home, name)
  }
  const address = tls.url.replace('127.0.0.1', 'localhost')
  const shown = {
    DATABASE_SSL_CERT_FILE: await own('cert.pem', rolePostgres.certificate),
    DATABASE_SSL_KEY_FILE: await own('key.pem', rolePostgres.key),
  }
  const authority = { DATABASE_SSL_CA_FILE: await own('ca.pem', issued.authority) }
  try {
    const verified = await startDrill(['--', 'node', 'dist/cli.js', 'migrate'], {
      ...{ HOME: home, DATABASE_URL: address, ...shown, ...authority },
    }).ended
    expectSuccess(verified)
    expect(verified.output).toContain('The tables are up to date.')
    const unverified = { HOME: home, DATABASE_URL: `${address}?sslmode=require`, ...shown }
    expectSuccess(await startDrill(['--', 'true'], unverified).ended)
    const strange = await startDrill(['--', 'true'], {
      ...{ HOME: home, DATABASE_URL: address, ...shown, DATABASE_SSL_CA: localhost.certificate },
    }).ended
    expect(strange).toMatchObject({ code: 1, errors: expect.stringContaining('certificate verify failed') })
  } finally {
    await tls.stop()
  }
})

test('a drill without an address, or with half of a backup, says how it is used', async () => {
  const drills = [
    startDrill([], { DATABASE_URL: '' }),
    startDrill(['--base', folder]),
    startDrill(['--until', '2026-11-22']),
    startDrill(['--for', 'ever']),
  ]
  for (const { code, errors } of await Promise.all(drills.map(({ ended }) => ended)))
    expect([code, errors.slice(0, 27)]).toEqual([2, 'Usage: deploy/restore-drill'])
})

test('a drill whose role may take no backups fails with the reason, and shows no password', async () => {
  const address = new URL(url)
  address.password = 'secret-x'
  const { code, output, errors } = await startDrill([], { BACKUP_URL: address.href }).ended
  expect([code, output]).toEqual([1, ''])
  expect(errors).toContain('password authentication failed')
  expect(errors).not.toContain('secret-x')
})
