import { expect } from 'vitest'
import type { ServerProcess } from './processes.ts'

export type Sample = { name: string; labels: Record<string, string>; value: number }

/** Address of the metrics that a started service has logged. */
export function metricsUrlOf({ output }: ServerProcess): string {
  const url = /Metrics at (http[^"\s]+)/.exec(output())?.[1]
  if (!url) throw new Error('the service serves no metrics')
  return url
}

const labelsOf = (text = ''): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value]))

/** Parses the text format of Prometheus. Fails if a line is neither a comment nor a sample. */
export const parseMetrics = (text: string): Sample[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels, value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      expect(name, line).not.toBe('')
      return { name, labels: labelsOf(labels), value: Number(value) }
    })

/** Scrapes a service. */
export async function scrape(url: string): Promise<Sample[]> {
  const answer = await fetch(url)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  return parseMetrics(await answer.text())
}

/** Adds up the samples of a name that have these labels. */
export const sumOf = (samples: Sample[], name: string, labels: Record<string, string> = {}): number =>
  samples
    .filter(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    )
    .reduce((sum, { value }) => sum + value, 0)
