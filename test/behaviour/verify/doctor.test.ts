// Runs in: pglite, postgres, citus

import { sql } from 'drizzle-orm'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { runCommand } from '../../../src/app/commands.ts'
import { parseConfig } from '../../../src/app/settings.ts'
import { invariants } from '../../../src/domain/verify/rules.ts'
import type { OpenDatabase } from '../../../src/engine/database/database.ts'
import { commandRunner } from '../../support/commands.ts'
import { buyDeliverable, deliveryCatalogue } from '../../support/deliveries.ts'
import { sharedSale } from '../../support/sale.ts'

// What an operator is told, and the exit codes that a script goes by.

let replicas: OpenDatabase[]
let runner: ReturnType<typeof commandRunner>
const sale = sharedSale(deliveryCatalogue)
beforeAll(async () => {
  runner = commandRunner(() => sale.database, { replicas: () => replicas })
  await buyDeliverable(sale, [{}])
})
beforeEach(() => {
  replicas = []
})

type Report = { code: number; findings: { check: string; level: string; text: string }[] }

async function report(command: 'doctor' | 'verify'): Promise<Report> {
  const { code, output, errors } = await runner.run(command, '--json')
  expect(errors).toBe('')
  const printed = JSON.parse(output) as Report
  expect(printed.code).toBe(code)
  return printed
}

/** Runs on a database that is changed, and undone afterwards. */
async function afterChange(statement: string, undo: string, work: () => Promise<void>): Promise<void> {
  await sale.db.execute(sql.raw(statement))
  await work().finally(() => sale.db.execute(sql.raw(undo)))
}

const count = Object.keys(invariants).length

test('a service in good health ends with 0, and everything is listed', async () => {
  const { code, findings } = await report('doctor')
  expect(findings.filter(({ level }) => level !== 'ok')).toEqual([])
  expect(code).toBe(0)
  expect(findings.map(({ check }) => check)).toEqual([
    ...['settings', 'database', 'migrations', 'clocks', 'extensions', 'timeouts', 'invariants', 'work'],
  ])
  expect(findings.find(({ check }) => check === 'database')?.text).toMatch(/PostgreSQL \d+/)
  expect(findings.find(({ check }) => check === 'extensions')?.text).toContain('plpgsql')
  const { output } = await runner.run('doctor')
  expect(output).toContain(`ok      invariants  all ${count} hold, checked on the primary`)
})

test('a broken invariant ends with 2, and says which', async () => {
  await afterChange('update stock set held = held + 1', 'update stock set held = held - 1', async () => {
    for (const command of ['doctor', 'verify'] as const) {
      const { code, findings } = await report(command)
      expect(code).toBe(2)
      const wrong = findings.filter(({ level }) => level === 'broken')
      expect(wrong.map(({ text }) => text)).toEqual(['stock counters differ from the tickets: 8'])
    }
  })
  expect(await report('verify')).toMatchObject({ code: 0, findings: [{ check: 'invariants', level: 'ok' }] })
})

test('amounts that are stored with other decimals than those of the currency end with 2', () =>
  afterChange('update organizations set decimals = 0', 'update organizations set decimals = 2', async () => {
    const { code, findings } = await report('doctor')
    expect(code).toBe(2)
    expect(findings.filter(({ level }) => level !== 'ok').map(({ text }) => text)).toEqual([
      'amounts of an organization are stored with other decimals than its currency has: 1',
    ])
  }))

test.each([
  [
    `update deliveries set status = 'dead', due_at = now() - interval '3 hours'`,
    `update deliveries set status = 'pending', due_at = now()`,
    'mails and messages that were given up: 1 (npm run deliveries -- list, then correct the address or retry)',
  ],
  [
    `update deliveries set due_at = now() - interval '11 minutes'`,
    `update deliveries set due_at = now()`,
    /^mails and messages, late: 1 /,
  ],
  [
    `update keys set expires_at = now() + interval '13 days'`,
    `update keys set expires_at = null`,
    /^keys that expire within two weeks: 2 /,
  ],
  [
    `update changes set created_at = now() - interval '11 minutes'`,
    `update changes set created_at = now()`,
    /^changes that wait for their place in the feed, late: 2 /,
  ],
])('what needs a person ends with 1: %s', (change, undo, text) =>
  afterChange(change, undo, async () => {
    const { code, findings } = await report('doctor')
    expect(findings.filter(({ level }) => level !== 'ok').map((finding) => finding.text)).toEqual([
      typeof text === 'string' ? text : expect.stringMatching(text),
    ])
    expect(code).toBe(1)
  }),
)

test('a database that is not migrated, and one of a later version', async () => {
  const journal = 'drizzle.__drizzle_migrations'
  await afterChange(`create table drizzle.kept as table ${journal}`, 'drop table drizzle.kept', () =>
    afterChange(`delete from ${journal}`, `insert into ${journal} table drizzle.kept`, async () => {
      const { code, findings } = await report('doctor')
      expect(code).toBe(2)
      expect(findings.at(-1)).toMatchObject({ check: 'timeouts' })
      expect(findings.find(({ check }) => check === 'migrations')?.text).toMatch(/^1 are missing: run npm/)
    }),
  )
  await afterChange(
    `insert into drizzle.__drizzle_migrations (hash, created_at) values ('later', 9999999999999)`,
    `delete from drizzle.__drizzle_migrations where hash = 'later'`,
    async () => {
      const { code, findings } = await report('doctor')
      expect(code).toBe(1)
      expect(findings.find(({ check }) => check === 'migrations')?.text).toContain('1 of a later version')
    },
  )
})

const healthy = () => ({ ...sale.database, close: async () => {} })
const examined = {
  readConfig: () => parseConfig({}),
  open: async (): Promise<OpenDatabase> => healthy(),
  openReplicas: async (): Promise<OpenDatabase[]> => [],
}
const codeAndLast = async (given: Partial<typeof examined>, command = 'doctor') => {
  const { code, output } = await runCommand([command, '--json'], {
    ...examined,
    ...given,
  })
  const { findings } = JSON.parse(output) as Report
  return [code, findings.at(-1)?.check, findings.at(-1)?.text]
}

test('wrong settings, a folder that is in use and a database out of reach end with 2', async () => {
  const wrong = { readConfig: () => parseConfig({ PORT: 'x' }) }
  expect(await codeAndLast(wrong)).toEqual([
    ...[2, 'settings', 'Settings are wrong:\n  PORT: must be a whole number'],
  ])
  const misspelt = await runCommand(['doctor', '--json'], {
    ...examined,
    readConfig: () => parseConfig({ HOLD_MINUTE: '3' }),
  })
  expect(JSON.parse(misspelt.output)).toMatchObject({
    code: 1,
    findings: [
      { check: 'settings', level: 'attention', text: 'HOLD_MINUTE is no setting: HOLD_MINUTES may be meant' },
      ...[{ check: 'database', level: 'ok' }, {}, {}, {}, {}, {}, {}],
    ],
  })
  const taken = { open: () => Promise.reject(new Error('data is in use by process 7')) }
  expect(await codeAndLast(taken)).toEqual([2, 'database', 'data is in use by process 7'])
  expect(await codeAndLast(taken, 'verify')).toEqual([2, 'database', 'data is in use by process 7'])
  const away = async () => ({
    ...healthy(),
    whyUnready: async () => ({ reason: 'UNREACHABLE' as const, code: 'ECONNREFUSED' }),
  })
  expect(await codeAndLast({ open: away })).toEqual([
    ...[2, 'database', 'the database is out of reach: see DATABASE_URL (ECONNREFUSED)'],
  ])
})

test('a replica that is none is named, and the primary is checked', async () => {
  replicas = [sale.database]
  const { code, findings } = await report('doctor')
  expect(code).toBe(1)
  expect(findings.find(({ check }) => check === 'replica 1')).toMatchObject({ level: 'attention' })
  expect(findings.find(({ check }) => check === 'invariants')?.text).toContain('on the primary')
})
