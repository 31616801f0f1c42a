import type { Database } from '../../database/database.ts'
import { queues } from '../sale/report/queues.ts'
import { countQuietly } from './verify.ts'

type Question = { query: string; advice: string }

const nobodyWorks = 'no process does its background work, or they are too few: look at their logs'

// Work that waits longer than it should.
const late = ({ table, dueAt, waits }: (typeof queues)['holds'], pause: string): Question => ({
  query: `select from ${table} where ${dueAt} < now() - interval '${pause}' and ${waits}`,
  advice: nobodyWorks,
})

const questions: Record<string, Question> = {
  'mails and messages that were given up': {
    query: `select from deliveries where ${queues.deliveries.dead}`,
    advice: 'npm run deliveries -- list, then correct the address or retry',
  },
  'deliveries to webhooks that were given up in the last week': {
    query: `select from webhook_deliveries join webhooks on webhooks.id = webhook_id
      where ${queues.webhooks.dead} and webhooks.status = 'enabled' and due_at > now() - interval '7 days'`,
    advice: 'tell the owners of the webhooks: they can redeliver, and the feed has all changes',
  },
  'webhooks that were disabled because they failed': {
    query: `select from webhooks where status = 'disabled' and disabled_reason in ('GONE', 'FAILING')`,
    advice: 'tell their owners: they enable them again, and the feed has what was missed',
  },
  'refunds that failed': {
    query: `select from refunds where ${queues.refunds.dead}`,
    advice: 'give the money back at the provider or by hand: docs/refunds.md',
  },
  'charges of the last week that did not match their payment': {
    query: `select from refunds where reason = 'AMOUNT_MISMATCH' and created_at > now() - interval '7 days'`,
    advice: 'find out who changed the amount: the money is given back by itself',
  },
  'holds that should have ended': late(queues.holds, '5 minutes'),
  'sessions at the provider that should be closed': {
    ...late(queues.sessions, '1 hour'),
    advice: 'the provider does not answer, or PAYMENT_PROVIDER is another than before',
  },
  'refunds that wait for an hour': late(queues.refunds, '1 hour'),
  'mails and messages that wait for an hour': late(queues.deliveries, '1 hour'),
  'deliveries to webhooks that wait for an hour': {
    query: `select from webhooks join webhook_deliveries on webhook_id = webhooks.id
      where ${queues.webhooks.waits} and due_at < now() - interval '1 hour'
        and webhooks.status = 'enabled' and (paused_until is null or paused_until < now())`,
    advice: nobodyWorks,
  },
  'changes that wait for their place in the feed': late(queues.feed, '5 minutes'),
  'organizations whose old data waits to be deleted': late(queues.retention, '1 day'),
  'keys that expire within two weeks': {
    query: `select from keys where revoked_at is null and expires_at between now() and now() + interval '14 days'`,
    advice: 'npm run key -- list, then issue others: two may live side by side',
  },
}

/** Lists what needs a person, on the primary or a replica: how many there are, and what to do. */
export async function findOpenWork(db: Database, timeoutMs: number) {
  const found: { name: string; count: number; advice: string }[] = []
  for (const [name, { query, advice }] of Object.entries(questions)) {
    const count = await countQuietly(db, query, timeoutMs)
    if (count > 0) found.push({ name, count, advice })
  }
  return found
}
