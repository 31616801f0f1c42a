import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'
import { type DatabaseOptions, isTrue, logger, migrations, type OpenDatabase, readiness } from './database.ts'

// Any number will do, as long as every version of this service takes the same one.
const migrationLock = 7_264_337

// Nobody waits for the database longer than this, in milliseconds:
// a stuck statement must not hold a connection or a row.
const deadlines = {
  statement_timeout: 15_000,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 15_000,
}

// Whatever the role, the database and the server have for their own.
const formats = { TimeZone: 'UTC', DateStyle: 'ISO' }

const pool = {
  max: 10,
  connect_timeout: 10,
  onnotice: () => {},
  // Where BEGIN is what fills a connection's pipeline, the driver (3.4.9) doesn't reserve the connection, and the
  // transaction becomes anybody's. So no pipeline is ever full. Its types don't know the option.
  max_pipeline: 1_000_000,
}

const ofItsOwn = { ...pool, connection: { ...deadlines, ...formats } }

// What is prepared on one of the pooler's connections is not there on the next, and it refuses to begin with deadlines.
const ofAPooler = { ...pool, connection: formats, prepare: false }

// The role has them from its next connection on, so this one is given them as well.
const giveDeadlines = sql.raw(`do $$ begin
  ${Object.entries(deadlines)
    .map(
      ([name, milliseconds]) =>
        `execute format('alter role current_user in database %I set ${name} = ${milliseconds}', current_database());
  perform set_config('${name}', '${milliseconds}', false);`,
    )
    .join('\n  ')}
end $$`)

const everyDeadline = sql.raw(
  Object.keys(deadlines)
    .map((name) => `current_setting('${name}') <> '0'`)
    .join(' and '),
)

// Without a name a statement is first described and then, in a second message, bound and executed. A pooler that is
// told of an end between the two, because another statement went before on the same connection, takes its own
// connection back and the second message is lost. So outside of a transaction a connection waits for each answer. Its
// types don't know the option.
function oneAtATime(client: postgres.Sql): postgres.Sql {
  const { unsafe } = client
  const waiting = { onexecute: () => false }
  return Object.assign(client, {
    unsafe: (...[text, parameters, options]: Parameters<typeof unsafe>) =>
      unsafe(text, parameters, { ...waiting, ...options }),
  })
}

/** Where PostgreSQL is. */
export type PostgresAddress = {
  url: string
  /** Whether a pooler at `url` gives its connections to one transaction after another. */
  isPooled: boolean
  /** The database itself, for what needs a session; `url` where that is no pooler. */
  directUrl: string | undefined
}

/** Opens PostgreSQL: ten connections, made as they are needed. */
export function openPostgres(
  { url, isPooled, directUrl }: PostgresAddress,
  options: DatabaseOptions,
): OpenDatabase {
  const client = isPooled ? oneAtATime(postgres(url, ofAPooler)) : postgres(url, ofItsOwn)
  const db = drizzle(client, { logger: logger(options) })
  return {
    db,
    async migrate() {
      if (isPooled && !directUrl)
        throw new Error(
          'DIRECT_DATABASE_URL: migrations hold a lock for a session, which a pooler of transactions has none of; set it to the address of the database itself',
        )
      // A connection of its own, without the deadlines: waiting for another's migration is no failure.
      const session = postgres(directUrl ?? url, { max: 1, onnotice: () => {} })
      try {
        await session`select set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false)`
        await session`select pg_advisory_lock(${migrationLock})`
        await migrate(drizzle(session), migrations)
        // Through the pooler, for that is who the service is to the database.
        if (isPooled) await db.execute(giveDeadlines)
      } finally {
        await session.end()
      }
    },
    ready: readiness(db),
    hasDeadlines: () => isTrue(db, everyDeadline),
    replica: () => db,
    followReplicas: async () => {},
    close: () => client.end({ timeout: 5 }),
  }
}
