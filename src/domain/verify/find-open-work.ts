import type { Database } from '../../engine/database/database.ts'
import { findTroubles, needsPerson, type Trouble } from '../sale/report/count-backlog.ts'
import type { QueueName } from '../sale/report/queues.ts'
import { countRows, readQuietly } from './verify.ts'

type Question = { query: string; advice: string }
type Work = { name: string; count: number; advice: string }

const questionsOf = (provider: string): Record<string, Question> => ({
  'mails and messages that were given up': {
    query: `select from deliveries where status = 'dead'`,
    advice: 'npm run deliveries -- list, then correct the address or retry',
  },
  'deliveries to webhooks that were given up in the last week': {
    query: `select from webhook_deliveries join webhooks on webhooks.id = webhook_id
      where webhook_deliveries.status = 'dead' and webhooks.status = 'enabled' and due_at > now() - interval '7 days'`,
    advice: 'tell the owners of the webhooks: they can redeliver, and the feed has all changes',
  },
  'webhooks that were disabled because they failed': {
    query: `select from webhooks where status = 'disabled' and disabled_reason in ('GONE', 'FAILING')`,
    advice: 'tell their owners: they enable them again, and the feed has what was missed',
  },
  'refunds that failed': {
    query: `select from refunds where status = 'failed' and amount > (
        select coalesce(sum(later.amount), 0) from refunds as later
        where later.organization_id = refunds.organization_id and later.charge_id = refunds.charge_id
          and later.ticket_id is not distinct from refunds.ticket_id
          and later.status = 'succeeded' and later.created_at > refunds.created_at)`,
    advice: 'give the money back at the provider, which tells it, or by hand: docs/refunds.md',
  },
  'charges of the last week that did not match their payment': {
    query: `select from refunds where reason = 'AMOUNT_MISMATCH' and created_at > now() - interval '7 days'`,
    advice: 'find out who changed the amount: the money is given back by itself',
  },
  'sessions that should be closed at another provider': {
    query: `select from open_sessions where due_at < now() - interval '1 hour' and provider <> '${provider}'`,
    advice: 'PAYMENT_PROVIDER is another than before',
  },
  'keys that expire within two weeks': {
    query: `select from keys where revoked_at is null and expires_at between now() and now() + interval '14 days'`,
    advice: 'npm run key -- list, then issue others: two may live side by side',
  },
})

const nobodyWorks = 'no process does its background work, or they are too few: look at their logs'
const ofProvider = 'the provider is out of reach, or refuses the key or its rights: docs/payments.md'
const ofDatabase = 'the log says why a background job failed'

// Jobs of each queue, in words, and what to do if they fail.
const queueTexts: Record<QueueName, [jobs: string, ifFailing: string]> = {
  deliveries: ['mails and messages', 'look at the mail server, its login and WHATSAPP_TOKEN'],
  webhooks: ['deliveries to webhooks', 'tell the owners of the webhooks, who see each failure'],
  refunds: ['refunds', ofProvider],
  sessions: ['sessions at the provider that should be closed', ofProvider],
  holds: ['holds that should have ended', ofDatabase],
  retention: ['organizations whose old data waits to be deleted', ofDatabase],
  feed: ['changes that wait for their place in the feed', ofDatabase],
  notices: ['events whose attendees are to be told of another date', ofDatabase],
}

// As long as an alert waits.
const lateMinutes = 10

function workOf({ queue, code, count }: Trouble): Work {
  const [jobs, ifFailing] = queueTexts[queue]
  if (code === 'LATE') return { name: `${jobs}, late`, count, advice: nobodyWorks }
  const advice = needsPerson(code) ? `it is refused until a person acts: ${ifFailing}` : ifFailing
  return { name: `${jobs}, failing with ${code}`, count, advice }
}

/** Lists what needs a person, on the primary or a replica: how many there are, and what to do. `provider` is the one
 *  that money is taken through. */
export async function findOpenWork(db: Database, timeoutMs: number, provider: string): Promise<Work[]> {
  const found: Work[] = []
  for (const [name, { query, advice }] of Object.entries(questionsOf(provider))) {
    const count = await readQuietly(db, timeoutMs, (tx) => countRows(tx, query))
    if (count > 0) found.push({ name, count, advice })
  }
  const asked = { provider, minutes: lateMinutes }
  const troubles = await readQuietly(db, timeoutMs, (tx) => findTroubles(tx, asked))
  return [...found, ...troubles.map(workOf)]
}
