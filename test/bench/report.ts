import type { Measured, Reach, Result } from './measure.ts'

const number = (value: number | null, digits = 0): string =>
  value === null || Number.isNaN(value) ? '–' : value.toFixed(digits)

const rate = (value: number) => number(value, value < 100 ? 1 : 0)

const inWords = (reach: Reach | null): string =>
  reach === null ? '' : 'atLeast' in reach ? `≥ ${reach.atLeast}×` : `≤ ${reach.atMost}×`

const latencies = ({ p50, p99 }: Measured) => [number(p50, p50 < 10 ? 1 : 0), number(p99, p99 < 10 ? 1 : 0)]

const head = [
  ...['job', 'clients', 'requests/s', 'p50 ms', 'p99 ms', 'CPU ms/request', 'memory MB', 'yardstick'],
  ...['requests/s', 'p50 ms', 'p99 ms', 'ratio', 'to reach', 'reached'],
]

const cellsOf = ({ description, gateway, yardstick, ratio, reach, reached, problem }: Result): string[] => [
  ...[description, number(gateway.clients), rate(gateway.requestsPerSecond), ...latencies(gateway)],
  ...[number(gateway.cpuMillisecondsPerRequest, 2), number(gateway.residentMegabytes)],
  ...(yardstick
    ? [yardstick.name, rate(yardstick.requestsPerSecond), ...latencies(yardstick)]
    : ['', '', '', '']),
  ...[ratio !== null ? `${ratio.toFixed(2)}×` : yardstick || problem ? 'none' : '', inWords(reach)],
  reached === null ? '' : reached ? 'yes' : 'no',
]

/** Formats the results as a Markdown table, followed by the reasons of missing ratios. */
export function tableOf(results: Result[]): string {
  const rows = [head, ...results.map(cellsOf)]
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  const [first = '', ...rest] = rows.map((row) =>
    line(row.map((cell, column) => cell.padEnd(widths[column] ?? 0))),
  )
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  const refused = results.flatMap(({ job, problem }) => (problem ? [`No ratio for ${job}: ${problem}`] : []))
  return [first, rule, ...rest, ...(refused.length > 0 ? ['', ...refused] : [])].join('\n')
}
