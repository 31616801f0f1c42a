import { readdirSync, readFileSync } from 'node:fs'
import { validate } from 'dockerfile-utils'
import { expect, test } from 'vitest'
import {
  commandOf,
  environmentOf,
  parseDockerfile,
  readFromRepository,
  repository,
  type Stage,
  textsOf,
} from '../../support/dockerfile.ts'

// The Dockerfile. test/long/production-install.test.ts does what it says.

const text = readFromRepository('Dockerfile')
const stages = parseDockerfile(text)
const image = stages.at(-1) as Stage

test('the Dockerfile has no mistake that a linter finds', () => {
  expect(validate(text)).toEqual([])
  expect(validate('FROM node\nCPY . .\n')).not.toEqual([])
})

test('both stages are of one exact version of Node 24', () => {
  expect(stages.map(({ name }) => name)).toEqual(['build', ''])
  expect(new Set(stages.map(({ image }) => image)).size).toBe(1)
  // With a digest, if whoever builds it pins one (docs/operations.md).
  expect(image.image).toMatch(/^node:24\.\d+\.\d+-[a-z]+-slim(@sha256:[0-9a-f]{64})?$/)
})

test('the image runs the built service, not as root, with production dependencies and a health check', () => {
  expect(commandOf(image, 'CMD')).toEqual(['node', '--max-old-space-size=1024', 'dist/server.js'])
  expect(textsOf(image, 'USER')).toEqual(['node'])
  const commands = textsOf(image, 'RUN').flatMap((text) => text.split(/\s*&&\s*/))
  expect(commands).toEqual([
    'npm ci --omit=dev --ignore-scripts --no-audit --no-fund',
    'node trim-packages.mjs',
  ])
  expect(environmentOf(image)).toEqual({ NODE_ENV: 'production', HOST: '0.0.0.0' })
  expect(commandOf(image, 'HEALTHCHECK').join(' ')).toContain('/health')
  // Nothing is copied once the user may not write.
  const order = image.instructions.map(({ name }) => name)
  expect(order.lastIndexOf('COPY')).toBeLessThan(order.indexOf('USER'))
})

test('the image keeps of drizzle-orm what the service imports, and nothing else', () => {
  const [, list = ''] = /^const used = \[(.*)\]$/m.exec(readFromRepository('deploy/trim-packages.mjs')) ?? []
  const kept = [...list.matchAll(/'([^']+)'/g)].map(([, name = '']) => name.replace(/^\./, 'drizzle-orm'))
  const source = new URL('src/', repository)
  const texts = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(new URL(name, source), 'utf8'))
  // Types are no longer imported once it is built.
  const imported = texts.flatMap((text) =>
    [...text.matchAll(/(?:^import (?!type )[^'"]*|\bimport\()['"](drizzle-orm[^'"]*)['"]/gm)].map(
      ([, name]) => name,
    ),
  )
  expect([...new Set(imported)].sort()).toEqual(kept.sort())
})
