const jobs = (table: string, dead = 'dead') => {
  const has = (status: string) => `${table}.status = '${status}'`
  return { table, dueAt: `${table}.due_at`, waits: has('pending'), dead: has(dead) }
}

/** Queues of the background jobs, as SQL: the time that a job is due at, and the conditions of those that wait and of those
 *  that were given up. From when on a job is late is for those who ask to say: the metrics and the doctor. */
export const queues = {
  deliveries: jobs('deliveries'),
  webhooks: jobs('webhook_deliveries'),
  refunds: jobs('refunds', 'failed'),
  sessions: { table: 'open_sessions', dueAt: 'due_at', waits: 'true' },
  holds: { table: 'holds', dueAt: 'expires_at', waits: 'true' },
  retention: { table: 'retention_turns', dueAt: 'due_at', waits: 'true' },
  feed: { table: 'changes', dueAt: 'created_at', waits: 'feed_position is null' },
}
