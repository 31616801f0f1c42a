const jobs = (table: string, dead = 'dead') => {
  const has = (status: string) => `${table}.status = '${status}'`
  return { table, dueAt: `${table}.due_at`, waits: has('pending'), dead: has(dead) }
}

/** Queues of the background jobs, in SQL: when a job is due, and which wait or were given up. The reader says what is late. */
export const queues = {
  deliveries: jobs('deliveries'),
  webhooks: jobs('webhook_deliveries'),
  refunds: jobs('refunds', 'failed'),
  sessions: { table: 'open_sessions', dueAt: 'due_at', waits: 'true' },
  holds: { table: 'holds', dueAt: 'expires_at', waits: 'true' },
  retention: { table: 'retention_turns', dueAt: 'due_at', waits: 'true' },
  feed: { table: 'changes', dueAt: 'created_at', waits: 'feed_position is null' },
}
