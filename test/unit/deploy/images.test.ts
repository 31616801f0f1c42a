import { validate } from 'dockerfile-utils'
import { expect, test } from 'vitest'
import {
  commandOf,
  environmentOf,
  parseDockerfile,
  readFromRepository,
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
  expect(image.image).toMatch(/^node:24\.\d+\.\d+-[a-z]+-slim$/)
})

test('the image runs the built service, not as root, with production dependencies and a health check', () => {
  expect(commandOf(image, 'CMD')).toEqual(['node', '--max-old-space-size=1024', 'dist/server.js'])
  expect(textsOf(image, 'USER')).toEqual(['node'])
  expect(textsOf(image, 'RUN')).toEqual(['npm ci --omit=dev --ignore-scripts --no-audit --no-fund'])
  expect(environmentOf(image)).toEqual({ NODE_ENV: 'production', HOST: '0.0.0.0' })
  expect(commandOf(image, 'HEALTHCHECK').join(' ')).toContain('/health')
  // Nothing is copied once the user may not write.
  const order = image.instructions.map(({ name }) => name)
  expect(order.lastIndexOf('COPY')).toBeLessThan(order.indexOf('USER'))
})
