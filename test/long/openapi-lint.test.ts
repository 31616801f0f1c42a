import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'
import { beforeAll, expect, test } from 'vitest'
import { shared, startGateway } from '../support/harness.ts'

// The served document under the recommended rules of two linters. No rule is off.

let served: string
const gateway = shared(() => startGateway({ settings: { PUBLIC_URL: 'https://tickets.example' } }))
beforeAll(async () => {
  served = (await gateway.rest('GET', '/openapi.json')).body
})

async function lintByRedocly(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer} ${message}`)
}

async function lintBySpectral(source: string): Promise<string[]> {
  const spectral = new spectralCore.Spectral()
  spectral.setRuleset({ extends: [[oas as RulesetDefinition, 'recommended']] })
  const found = await spectral.run(JSON.parse(source))
  return found.map(({ code, message, path }) => `${code} ${path.join('.')} ${message}`)
}

test('the document has no finding of Redocly', async () => {
  expect(await lintByRedocly(served)).toEqual([])
})

test('the document has no finding of Spectral', async () => {
  expect(await lintBySpectral(served)).toEqual([])
})

type Editable = {
  info: { license?: unknown; contact?: unknown }
  paths: Record<string, Record<string, { operationId?: string; tags?: string[]; security?: unknown }>>
}

/** The document with one thing spoilt. */
function spoil(change: (document: Editable) => void): string {
  const document = JSON.parse(served) as Editable
  change(document)
  return JSON.stringify(document)
}

test.each<[string, string, string | null, (document: Editable) => void]>([
  [
    'without a licence',
    'info-license',
    null,
    ({ info }) => {
      delete info.license
    },
  ],
  [
    'without a contact',
    '',
    'info-contact',
    ({ info }) => {
      delete info.contact
    },
  ],
  [
    'with an operation without an identifier',
    'operation-operationId',
    'operation-operationId',
    ({ paths }) => {
      delete paths['/events']?.get?.operationId
    },
  ],
  [
    'with an unknown tag',
    '',
    'operation-tag-defined',
    ({ paths }) => {
      if (paths['/events']?.get) paths['/events'].get.tags = ['Nobody']
    },
  ],
  [
    'with an unknown way to authenticate',
    'security-defined',
    'oas3-operation-security-defined',
    ({ paths }) => {
      if (paths['/events']?.get) paths['/events'].get.security = [{ password: [] }]
    },
  ],
])('control: a document %s has findings', async (_what, redocly, spectral, change) => {
  const source = spoil(change)
  if (redocly) expect((await lintByRedocly(source)).join('\n')).toContain(`${redocly} `)
  if (spectral) expect((await lintBySpectral(source)).join('\n')).toContain(`${spectral} `)
})

test('control: an example of another shape is found', async () => {
  const source = served.replaceAll('"total_amount":21.6', '"total_amount":"21.60"')
  expect(source).not.toBe(served)
  expect((await lintByRedocly(source)).join('\n')).toContain('no-invalid-media-type-examples ')
  expect((await lintBySpectral(source)).join('\n')).toContain('oas3-valid-media-example ')
})
