import { tryMailServer } from '../domain/delivery/send-mail.ts'
import { findOpenWork } from '../domain/verify/find-open-work.ts'
import { type Checked, verify } from '../domain/verify/verify.ts'
import type { OpenDatabase } from '../engine/database/database.ts'
import {
  type Inspection,
  inspectDatabase,
  inspectServers,
  inspectTables,
} from '../engine/database/inspect.ts'
import { problemOf, type Unready } from '../engine/database/pool/failures.ts'
import { describeError } from './log.ts'
import type { Config } from './settings.ts'

/** Result of an examination: `attention` needs a person, `broken` must not be. */
export type Finding = { check: string; level: 'ok' | 'attention' | 'broken'; text: string }

type Opened = { primary: OpenDatabase; replicas: OpenDatabase[] }
type Examine = (opened: Opened) => Promise<Finding[]>

/** Access of commands to settings and databases. Each throws a reason without values of settings. */
export type Access = {
  /** Settings as the service reads them, or as a command does, which takes no payments. */
  readConfig(of: 'service' | 'command'): Config
  /** Opens the database: to migrate it, to use it as it is, or to examine it, whatever is wrong with it. */
  open(purpose: 'migrate' | 'use' | 'examine'): Promise<OpenDatabase>
  /** Opens the replicas that the settings name. */
  openReplicas(): Promise<OpenDatabase[]>
}

const oldestVersion = 150_000
// Webhooks are signed with the time, which receivers compare with their own to some minutes.
const clockLimits = { attention: 2_000, broken: 60_000 }
// A rule reads whole tables, but never in the way of a sale.
const timeoutMs = 120_000

const ok = (check: string, text: string): Finding => ({ check, level: 'ok', text })
const attention = (check: string, text: string): Finding => ({ check, level: 'attention', text })
const broken = (check: string, text: string): Finding => ({ check, level: 'broken', text })

function judgeClock({ clockMs, roundTripMs }: Inspection): Finding {
  const off = Math.max(0, Math.abs(clockMs) - roundTripMs)
  const text = `the clock of the database is ${Math.abs(clockMs)} ms ${clockMs < 0 ? 'behind' : 'ahead of'} this machine's`
  if (off > clockLimits.broken) return broken('clocks', `${text}: set them by NTP`)
  return off > clockLimits.attention ? attention('clocks', `${text}: set them by NTP`) : ok('clocks', text)
}

function judgeMigrations({ migrations: { missing, unknown } }: Inspection): Finding {
  if (missing > 0) return broken('migrations', `${missing} are missing: run npm run migrate`)
  return unknown > 0
    ? attention('migrations', `all are there, and ${unknown} of a later version of the service`)
    : ok('migrations', 'all are there')
}

const judgeVersion = ({ version, versionNumber }: Inspection): Finding =>
  versionNumber < oldestVersion
    ? broken('database', `PostgreSQL ${version} is too old: 15 is the oldest that the service runs on`)
    : ok('database', `it answers, takes writes, and is PostgreSQL ${version}`)

function judgeUnready({ reason, code, parameter }: Unready): Finding {
  const check = /^(MIGRATIONS|TABLES)_/.test(reason) ? 'migrations' : 'database'
  return broken(check, problemOf({ reason, parameter }) + (code === undefined ? '' : ` (${code})`))
}

async function examineDatabase(database: OpenDatabase): Promise<Finding[]> {
  const unready = await database.whyUnready()
  // Without a code, only the newest migrations are missing, and the database can be examined all the same.
  if (unready && (unready.reason !== 'MIGRATIONS_MISSING' || unready.code)) return [judgeUnready(unready)]
  const found = await inspectDatabase(database.db)
  const timeouts = (await database.hasStatementTimeouts())
    ? ok('timeouts', 'the database ends statements that take too long')
    : attention('timeouts', 'the database sets no statement timeout: run npm run migrate')
  const extensions = ok('extensions', found.extensions.join(', ') || 'none')
  return [
    ...[judgeVersion(found), judgeMigrations(found), judgeClock(found), extensions, timeouts],
    ...(await judgeServers(database)),
    ...(await judgeTables(database)),
  ]
}

async function judgeServers({ db }: OpenDatabase): Promise<Finding[]> {
  const { unreachableShards: shards, preparedTransactions: prepared } = await inspectServers(db)
  const away = `${shards} parts of the sales are on servers that are out of reach: see docs/scaling.md`
  const left = `${prepared} prepared transactions hold their locks: see pg_prepared_xacts, docs/alerts.md`
  return [
    ...(shards > 0 ? [broken('servers', away)] : []),
    ...(prepared > 0 ? [attention('prepared', left)] : []),
  ]
}

async function judgeTables({ db }: OpenDatabase): Promise<Finding[]> {
  const neglected = await inspectTables(db)
  const text = `tables in need of vacuum or analyze: ${neglected.join(', ')} (docs/operations.md, Autovacuum)`
  return neglected.length > 0 ? [attention('tables', text)] : []
}

async function examineReplica(replica: OpenDatabase, number: number): Promise<Finding> {
  const check = `replica ${number}`
  const unready = await replica.whyUnready()
  if (unready) return attention(check, `${problemOf(unready)}; the primary answers for it`)
  const { version, lagSeconds } = await inspectDatabase(replica.db)
  // Without writes a replica seems to lag for as long as nothing was written.
  const lag = lagSeconds === null ? 'it is no replica' : `last change ${lagSeconds.toFixed(1)} s ago`
  const text = `it answers, PostgreSQL ${version}, ${lag}`
  return lagSeconds === null ? attention(check, text) : ok(check, text)
}

// Ready, and behind a primary.
const isReplica = async (replica: OpenDatabase): Promise<boolean> =>
  (await replica.whyUnready()) === null && (await inspectDatabase(replica.db)).lagSeconds !== null

const judgeRule = ({ rule, broken: rows, code }: Checked): Finding | null => {
  if (rows === 0) return null
  if (rows === null) return attention('invariants', `not checked (${code ?? 'no code'}): ${rule}`)
  return broken('invariants', `${rule}: ${rows}`)
}

/** Checks every invariant, on the first replica that is ready, else on the primary, and lists those that are
 *  broken or could not be checked. */
export async function examineInvariants({ primary, replicas }: Opened): Promise<Finding[]> {
  const ready = await Promise.all(replicas.map((replica) => isReplica(replica)))
  const number = ready.indexOf(true) + 1
  const chosen = replicas[number - 1] ?? primary
  const unready = await chosen.whyUnready()
  if (unready) return [judgeUnready(unready)]
  const checked = await verify(chosen.db, timeoutMs)
  const wrong = checked.flatMap((result) => judgeRule(result) ?? [])
  const where = number > 0 ? `replica ${number}` : 'the primary'
  return wrong.length > 0 ? wrong : [ok('invariants', `all ${checked.length} hold, checked on ${where}`)]
}

async function examineWork({ db }: OpenDatabase, { paymentProvider }: Config): Promise<Finding[]> {
  try {
    const found = await findOpenWork(db, timeoutMs, paymentProvider)
    return found.length === 0
      ? [ok('work', 'nothing needs a person')]
      : found.map(({ name, count, advice }) => attention('work', `${name}: ${count} (${advice})`))
  } catch (error) {
    return [attention('work', `not counted: ${describeError(error)}`)]
  }
}

async function examineOpened(opened: Opened, config: Config): Promise<Finding[]> {
  const { primary, replicas } = opened
  const findings = [
    ...(await examineDatabase(primary)),
    ...(await Promise.all(replicas.map((replica, index) => examineReplica(replica, index + 1)))),
  ]
  // The rest would fail for the same reason.
  if (findings.some(({ level, check }) => level === 'broken' && check !== 'clocks')) return findings
  return [...findings, ...(await examineInvariants(opened)), ...(await examineWork(primary, config))]
}

// Greets the mail server and logs in, as a mail would, and sends none.
async function examineMail({ delivery: { mail } }: Config): Promise<Finding[]> {
  if (mail.smtpUrl === undefined) return []
  const code = await tryMailServer(mail.smtpUrl)
  const wrong = `the mail server refuses us, or is out of reach: see SMTP_URL (${code})`
  return [
    code === null ? ok('mail', 'the mail server answers and takes the login') : attention('mail', wrong),
  ]
}

/** Examines the databases, or finds that they can't be opened. */
export async function examineDatabases({ open, openReplicas }: Access, examineAll: Examine) {
  try {
    const primary = await open('examine')
    const replicas = await openReplicas()
    const close = () => Promise.all([primary, ...replicas].map((each) => each.close()))
    return await examineAll({ primary, replicas }).finally(close)
  } catch (error) {
    return [broken('database', describeError(error))]
  }
}

/** Examines settings, mail server, database, migrations, clocks, extensions, timeouts, replicas and invariants, and counts
 *  what needs a person. Changes nothing. Stops at what the rest depends on. */
export async function examine(access: Access): Promise<Finding[]> {
  try {
    const config = access.readConfig('service')
    const { databaseUrl, misspelt } = config
    const settings = misspelt.map((mistake) => attention('settings', mistake))
    if (settings.length === 0)
      settings.push(ok('settings', `in order, with ${databaseUrl ? 'PostgreSQL' : 'the embedded database'}`))
    const databases = await examineDatabases(access, (opened) => examineOpened(opened, config))
    return [...settings, ...(await examineMail(config)), ...databases]
  } catch (error) {
    return [broken('settings', describeError(error))]
  }
}
