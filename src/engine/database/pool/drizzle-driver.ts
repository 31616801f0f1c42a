import { LRUCache } from 'lru-cache'
import postgres from 'postgres'
import { inSpan, instruments } from '../../base/instruments.ts'
import { everybody } from '../../base/turns.ts'
import type { Pool } from './pool.ts'
import type { Run, Statement } from './pool-connection.ts'

// Bounded by the length of the texts, because a statement may have a row for each of many things.
const summaries = new LRUCache<string, string>({
  maxSize: 2 ** 20,
  sizeCalculation: (summary, text) => text.length + summary.length,
})
// As long as OpenTelemetry lets it be.
const maxLength = 255

// Operations with the tables that they name, in order, as OpenTelemetry's `db.query.summary` has them.
const operation =
  /(?<!\b(?:for|do|key|distinct)\s)\b(insert into|update|delete from|from|join)\s+(?:only\s+)?"?([a-z_][a-z0-9_.]*)"?/gi
// Names that a statement gives to its own parts, which are no tables.
const part = /\b([a-z_]\w*)\s*(?:\([^()]*\)\s*)?\bas\s+(?:(?:not\s+)?materialized\s+)?\(/gi
const verbOf = (command: string) => /^(insert|update|delete)/i.exec(command)?.[0].toUpperCase() ?? 'SELECT'

/** Summarizes a statement by its operations and tables, or by the function that it calls, never by its values:
 *  `UPDATE counters INSERT orders`, `SELECT total`. */
export function summaryOf(text: string): string {
  const known = summaries.get(text)
  if (known !== undefined) return known
  const own = new Set([...text.matchAll(part)].map(([, name]) => name))
  const operations = [...text.matchAll(operation)]
    .filter(([, , table]) => !own.has(table))
    .map(([, command = '', table]) => `${verbOf(command)} ${table}`)
  const [, first = '', called = ''] = /^\s*(\w+)(?: (\w+)\()?/.exec(text) ?? []
  const summary =
    operations.length > 0
      ? [...new Set(operations)].join(' ').slice(0, maxLength)
      : `${first.toUpperCase()} ${called}`.trimEnd()
  summaries.set(text, summary)
  return summary
}

/** Runs a statement in a span, if traces are on. */
export function traced(run: Run, statement: Statement, isRaw: boolean): Promise<unknown> {
  if (!instruments.tracer) return run(statement, isRaw)
  const summary = summaryOf(statement[0])
  const facts = { 'db.system.name': 'postgresql', 'db.query.summary': summary }
  return inSpan(summary, facts, () => run(statement, isRaw))
}

// The statement starts in the next microtask, because Drizzle asks for raw rows by calling `values` on it.
const unsafeOver =
  (run: Run) =>
  (...statement: Statement) => {
    let isRaw = false
    const answer = Promise.resolve().then(() => traced(run, statement, isRaw))
    const values = () => {
      isRaw = true
      return answer
    }
    return Object.assign(answer, { values })
  }

/** Creates the part of a driver that Drizzle uses: runs the statements and transactions of an owner on our pool. No
 *  transaction is nested. */
export const clientOver = (pool: Pool, owner: string) => ({
  unsafe: unsafeOver((...statement) => pool.execute(owner, ...statement)),
  begin: <Result>(run: (transaction: object) => Promise<Result>) =>
    inSpan('transaction', { 'db.system.name': 'postgresql' }, () =>
      pool.begin(owner, (execute) => run({ unsafe: unsafeOver(execute) })),
    ),
})

/** Creates a driver for Drizzle over our pool, for everybody. The driver's own pool stays unused, and opens no
 *  connection. */
export const driverOver = (settings: object, pool: Pool) =>
  Object.assign(postgres(settings), clientOver(pool, everybody))
