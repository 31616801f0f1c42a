import type { Measured, Result } from './measure.ts'

const number = (value: number | null, digits = 0): string =>
  value === null || Number.isNaN(value) ? '–' : value.toFixed(digits)

const rate = (value: number) => number(value, value < 100 ? 1 : 0)

const sideCells = ({ clients, requestsPerSecond, p50, p99 }: Measured) => [
  number(clients),
  rate(requestsPerSecond),
  number(p50, 1),
  number(p99, 1),
]

const head = [
  ...['job', 'clients', 'req/s', 'p50 ms', 'p99 ms', 'CPU ms/req', 'memory MB'],
  ...['yardstick', 'clients', 'req/s', 'p50 ms', 'p99 ms', 'ratio'],
]

const cellsOf = ({ job, gateway, yardstick, residentMegabytes, ratio }: Result): string[] => [
  ...[job, ...sideCells(gateway), number(gateway.cpuMillisecondsPerRequest, 2), number(residentMegabytes)],
  ...[yardstick.name, ...sideCells(yardstick), ratio === null ? 'none' : `${ratio.toFixed(2)}×`],
]

/** The results as lines of a table, and below it why a ratio is missing. */
export function tableOf(results: Result[]): string {
  const rows = [head, ...results.map(cellsOf)]
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const isText = (column: number) => column === 0 || head[column] === 'yardstick'
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  )
  const refused = results.flatMap(({ job, problem }) => (problem ? [`No ratio for ${job}: ${problem}`] : []))
  return [...lines, ...(refused.length > 0 ? ['', ...refused] : [])].join('\n')
}
