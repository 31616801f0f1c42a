import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse, parseDocument } from 'yaml'
import { parseConfig, settingNames } from '../../../src/app/settings.ts'
import {
  environmentOf,
  parseDockerfile,
  readFromRepository,
  repository,
  type Stage,
} from '../../support/dockerfile.ts'

// compose.yaml, by the rules of the Compose specification that it makes use of: no container engine runs here.

type Service = {
  image?: string
  environment?: Record<string, string>
  depends_on?: string[] | Record<string, { condition: string }>
  volumes?: string[]
  ports?: string[]
  command?: string[]
  healthcheck?: { test?: string[]; disable?: boolean }
  stop_grace_period?: string
  read_only?: boolean
  cap_drop?: string[]
}
type Compose = { services: Record<string, Service>; volumes: Record<string, unknown> }

const serviceKeys = [
  ...['build', 'image', 'command', 'environment', 'depends_on', 'volumes', 'ports', 'healthcheck', 'restart'],
  ...['read_only', 'tmpfs', 'cap_drop', 'security_opt', 'stop_grace_period'],
]
const topKeys = /^(name|services|volumes|x-[\w-]+)$/
const conditions = ['service_started', 'service_healthy', 'service_completed_successfully']

const dependenciesOf = ({ depends_on: on = {} }: Service): [string, string][] =>
  Array.isArray(on)
    ? on.map((name) => [name, 'service_started'])
    : Object.entries(on).map(([name, { condition }]) => [name, condition])

const sourceOf = (volume: string) => volume.split(':')[0] ?? ''

/** Lists mistakes that Docker would find, or that it would not. */
function mistakesIn(text: string): string[] {
  const document = parseDocument(text, { merge: true })
  const compose = document.toJS() as Compose
  const mistakes = document.errors.map(({ message }) => message)
  for (const key of Object.keys(compose)) if (!topKeys.test(key)) mistakes.push(`unknown key ${key}`)
  for (const [name, service] of Object.entries(compose.services)) {
    const wrong = (mistake: string) => mistakes.push(`${name}: ${mistake}`)
    for (const key of Object.keys(service)) if (!serviceKeys.includes(key)) wrong(`unknown key ${key}`)
    if (!/^[\w./-]+:v?\d+\.\d+[\w.-]*$/.test(service.image ?? '')) wrong(`version of ${service.image}`)
    for (const [other, condition] of dependenciesOf(service)) {
      const wanted = compose.services[other]
      if (!wanted || !conditions.includes(condition)) wrong(`depends on ${other}: ${condition}`)
      if (condition === 'service_healthy' && !wanted?.healthcheck?.test) wrong(`${other} has no health check`)
    }
    for (const volume of service.volumes ?? []) {
      const source = sourceOf(volume)
      const isThere = source.startsWith('./')
        ? existsSync(new URL(source, repository))
        : source in compose.volumes
      if (!isThere) wrong(`no volume ${source}`)
    }
    for (const port of service.ports ?? [])
      if (!/^127\.0\.0\.1:\d+:\d+$/.test(port)) wrong(`port ${port} is open to other machines`)
    for (const [key, value] of Object.entries(service.environment ?? {}))
      if (typeof value !== 'string') wrong(`${key} is no text`)
  }
  return mistakes
}

const text = readFromRepository('compose.yaml')
const { services } = parseDocument(text, { merge: true }).toJS() as Compose
const image = parseDockerfile(readFromRepository('Dockerfile')).at(-1) as Stage
const own = Object.entries(services).filter(([, service]) => 'build' in service)

test('compose.yaml has no mistake', () => {
  expect(mistakesIn(text)).toEqual([])
})

test.each([
  ['image: postgres:18.4-bookworm', 'image: postgres', 'postgres: version of postgres'],
  ['restart: on-failure', 'restrat: on-failure', 'migrate: unknown key restrat'],
  ['./deploy/pgbouncer', './deploy/pooler', 'pgbouncer: no volume ./deploy/pooler'],
  ['condition: service_completed_successfully', 'condition: completed', 'web: depends on migrate: completed'],
  ["'127.0.0.1:8025:8025'", "'8025:8025'", 'mail: port 8025:8025 is open to other machines'],
  ["METRICS_PORT: '9464'", 'METRICS_PORT: 9464', 'migrate: METRICS_PORT is no text'],
])('a mistake is found: %s → %s', (right, wrong, mistake) => {
  expect(mistakesIn(text.replace(right, wrong))).toContain(mistake)
})

test('each process of the service starts with its settings, of which all exist', () => {
  expect(own.map(([name]) => name)).toEqual(['migrate', 'web', 'background'])
  for (const [name, { environment = {} }] of own) {
    expect([name, Object.keys(environment).filter((key) => !settingNames.includes(key))]).toEqual([name, []])
    const config = parseConfig({ ...environmentOf(image), ...environment })
    expect(config).toMatchObject({
      port: 4000,
      publicUrl: 'http://localhost:4000',
      databasePooler: 'transaction',
    })
  }
  expect([services.web, services.background].map((service) => service?.environment?.BACKGROUND)).toEqual([
    'off',
    'only',
  ])
})

test('each process of the service writes nowhere, and has the time that it takes to end', () => {
  const { version } = JSON.parse(readFromRepository('package.json')) as { version: string }
  for (const [, service] of own) {
    expect(service).toMatchObject({ image: `boxoffice:${version}`, read_only: true, cap_drop: ['ALL'] })
    const config = parseConfig({ ...environmentOf(image), ...service.environment })
    const grace = Number(service.stop_grace_period?.replace(/s$/, ''))
    expect(grace).toBeGreaterThan(config.drainSeconds + config.shutdownSeconds)
  }
})

test('addresses in compose.yaml lead to its services, with the passwords that they know', () => {
  const { DATABASE_URL = '', DIRECT_DATABASE_URL = '', SMTP_URL = '' } = services.web?.environment ?? {}
  const [pooled, direct] = [new URL(DATABASE_URL), new URL(DIRECT_DATABASE_URL)]
  const pgbouncer = readFromRepository('deploy/pgbouncer/pgbouncer.ini')
  expect(pgbouncer).toContain(`listen_port = ${pooled.port}\n`)
  expect(pgbouncer).toContain(
    `${pooled.pathname.slice(1)} = host=${direct.hostname} port=${direct.port} dbname=${direct.pathname.slice(1)}\n`,
  )
  expect(pgbouncer).toContain('auth_file = /etc/pgbouncer/userlist.txt\n')
  expect(readFromRepository('deploy/pgbouncer/userlist.txt')).toBe(
    `"${pooled.username}" "${pooled.password}"\n`,
  )
  expect(services.postgres?.environment).toEqual({
    POSTGRES_USER: direct.username,
    POSTGRES_PASSWORD: direct.password,
    POSTGRES_DB: direct.pathname.slice(1),
  })
  for (const { hostname } of [pooled, direct, new URL(SMTP_URL)])
    expect(Object.keys(services)).toContain(hostname)
  // Docker mounts the folder at the place that these name.
  expect(services.pgbouncer?.volumes).toEqual(['./deploy/pgbouncer:/etc/pgbouncer:ro'])
})

test('Prometheus asks the processes at their port, and Grafana shows the dashboard', () => {
  type Scrapes = { scrape_configs: { dns_sd_configs: { names: string[]; port: number }[] }[] }
  const { scrape_configs: scrapes } = parse(
    readFromRepository('deploy/prometheus/prometheus.yaml'),
  ) as Scrapes
  const targets = scrapes.flatMap(({ dns_sd_configs: found }) => found)
  expect(targets.flatMap(({ names }) => names)).toEqual(['web', 'background'])
  for (const { port } of targets) expect(String(port)).toBe(services.web?.environment?.METRICS_PORT)
  expect(services.prometheus?.command).toContain('--config.file=/etc/prometheus/prometheus.yaml')
  expect(services.prometheus?.volumes).toContain('./deploy/prometheus:/etc/prometheus:ro')

  const provisioned = (kind: string) =>
    parse(readFromRepository(`deploy/grafana/provisioning/${kind}/boxoffice.yaml`)) as {
      providers?: { options: { path: string } }[]
      datasources?: { url: string }[]
    }
  const path = provisioned('dashboards').providers?.[0]?.options.path ?? ''
  const { volumes, environment } = services.grafana ?? {}
  expect(volumes).toContain(`./deploy/grafana/dashboards:${path}:ro`)
  expect(environment?.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH).toBe(`${path}/boxoffice.json`)
  expect(existsSync(new URL('deploy/grafana/dashboards/boxoffice.json', repository))).toBe(true)
  const source = new URL(provisioned('datasources').datasources?.[0]?.url ?? '')
  expect(Object.keys(services)).toContain(source.hostname)
})
