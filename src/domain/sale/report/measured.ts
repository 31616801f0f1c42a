import type { CountGauge } from '../../../engine/telemetry/database-metrics.ts'
import type { Backlog } from './count-backlog.ts'

const ofQueues = (column: 'due' | 'late' | 'failing' | 'dead', help: string): CountGauge<Backlog> => ({
  ...{ name: `boxoffice_jobs_${column}`, help, label: 'queue' },
  of: (queues) =>
    Object.fromEntries(Object.entries(queues).map(([queue, counts]) => [queue, counts[column]])),
})

const gauges: CountGauge<Backlog>[] = [
  ofQueues('due', 'Jobs that are due, at most 10000'),
  ofQueues('late', 'Jobs first due more than a minute ago and not done, at most 10000 of each reason'),
  ofQueues('failing', 'Jobs that are tried again and again in vain, at most 10000 of each code'),
  ofQueues('dead', 'Jobs that were given up, at most 10000'),
  {
    name: 'boxoffice_payments',
    help: 'Payments that hold places, at most 10000 together',
    label: 'status',
    of: ({ holds }) => ({ pending: holds?.pending, processing: holds?.processing }),
  },
  {
    name: 'boxoffice_refunds',
    help: 'Refunds that are not done, at most 10000 of each status',
    label: 'status',
    of: ({ refunds }) => ({ pending: refunds?.pending, failed: refunds?.dead }),
  },
]

/** Metrics of sales: queues, counters, and gauges of what `countBacklog` counts. */
export const measured = {
  queues: ['holds', 'payments', 'check-ins'],
  counters: [
    {
      name: 'boxoffice_changes_total',
      help: 'Changes of payments, tickets and rates that this process has committed',
      labelNames: ['type', 'mode'],
    },
  ],
  gauges,
  help: {
    replica_read: '1 if the catalogue is read from this replica, 0 if the primary answers for it',
    shards_unreachable: 'Parts of the tables of sales on servers of a cluster that are out of reach',
  },
}
