import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { parseConfig, secretSettings, settingNames } from '../../../src/app/settings.ts'
import { requestLimits } from '../../../src/engine/base/request-limits.ts'
import { localhost } from '../../support/certificates.ts'
import {
  commandOf,
  environmentOf,
  parseDockerfile,
  readFromRepository,
  repository,
  type Stage,
} from '../../support/dockerfile.ts'

// deploy/kubernetes/, by the schemas of Kubernetes and by rules that those can't tell: no cluster runs here.

type Labels = Record<string, string>
type Probe = { httpGet: { path: string; port: string }; periodSeconds: number; failureThreshold: number }
type Container = {
  image: string
  command?: string[]
  env?: { name: string; value: string }[]
  ports?: { name: string; containerPort: number }[]
  startupProbe?: Probe
  livenessProbe?: Probe
  readinessProbe?: Probe
  securityContext: object
  resources: { requests: { cpu: string } }
  volumeMounts: { name: string; mountPath: string }[]
}
type PodSpec = { containers: [Container]; terminationGracePeriodSeconds?: number; securityContext: object }
type Manifest = {
  apiVersion: string
  kind: string
  metadata: { name: string; annotations?: Record<string, string> }
  data?: Record<string, string>
  spec?: {
    selector?: Labels & { matchLabels?: Labels }
    podSelector?: { matchLabels: Labels }
    template?: { metadata: { labels: Labels }; spec: PodSpec }
    jobTemplate?: { spec: NonNullable<Manifest['spec']> }
    ports?: { name: string; targetPort: string }[]
    rules?: { host: string; http: { paths: { backend: { service: object } }[] } }[]
    replicas?: number
    minReplicas?: number
    scaleTargetRef?: { name: string }
    minAvailable?: number
    ingress?: { ports: { port: number }[] }[]
    egress?: { ports: { port: number }[] }[]
  }
}

const folder = new URL('deploy/kubernetes/', repository)
const manifests = readdirSync(folder).flatMap((name) =>
  parseAllDocuments(readFromRepository(`deploy/kubernetes/${name}`)).map((document): Manifest => {
    expect(document.errors).toEqual([])
    return document.toJS()
  }),
)
const image = parseDockerfile(readFromRepository('Dockerfile')).at(-1) as Stage
const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind)
const named = (kind: string, name: string) => ofKind(kind).find(({ metadata }) => metadata.name === name)
const settings = named('ConfigMap', 'boxoffice')
const templateOf = ({ spec }: Manifest) => (spec?.jobTemplate?.spec ?? spec)?.template
const podOf = (workload: Manifest) => templateOf(workload)?.spec ?? expect.fail('there is no pod')
const labelsOf = (workload: Manifest): Labels => templateOf(workload)?.metadata.labels ?? {}
const isOurs = (manifest: Manifest) => labelsOf(manifest).app === 'boxoffice'
const deployments = ofKind('Deployment').filter(isOurs)
/** Processes of the service: all but PgBouncer. */
const workloads = [...ofKind('Job'), ...ofKind('CronJob'), ...deployments]
const environmentIn = (workload: Manifest) => ({
  ...environmentOf(image),
  ...settings?.data,
  ...Object.fromEntries((podOf(workload).containers[0].env ?? []).map(({ name, value }) => [name, value])),
})

/** Copies a value so that each field is in `unread`, by its path, until it is read. */
function watch(value: unknown, path: string, unread: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const copied = Object.entries(value).map(([key, inner]) => {
    unread.add(`${path}.${key}`)
    return [key, watch(inner, `${path}.${key}`, unread)] as const
  })
  const copy = Array.isArray(value) ? copied.map(([, inner]) => inner) : Object.fromEntries(copied)
  return new Proxy(copy, {
    get(target, key, receiver) {
      unread.delete(`${path}.${String(key)}`)
      return Reflect.get(target, key, receiver)
    },
  })
}

/** Throws for a manifest that the schema of its kind refuses, and for fields that it doesn't know: the models
 *  ignore those, so they are found as those that nobody reads. */
async function validate(manifest: Manifest): Promise<void> {
  const { apiVersion, kind } = manifest
  const models = await import(`kubernetes-models/${apiVersion}/${kind}`)
  const unread = new Set<string>()
  models[kind].prototype.validate.call(watch(manifest, kind, unread))
  if (unread.size > 0) throw new Error(`unknown fields: ${[...unread].join(', ')}`)
}

test('each manifest is valid', async () => {
  expect(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual([
    'ConfigMap boxoffice',
    'ConfigMap boxoffice-pgbouncer',
    'ConfigMap ingress-nginx-controller',
    'CronJob boxoffice-doctor',
    'Deployment boxoffice-background',
    'Deployment boxoffice-pgbouncer',
    'Deployment boxoffice-web',
    'HorizontalPodAutoscaler boxoffice-web',
    'Ingress boxoffice',
    'Job boxoffice-migrate',
    'NetworkPolicy boxoffice',
    'NetworkPolicy boxoffice-background',
    'NetworkPolicy boxoffice-doctor',
    'NetworkPolicy boxoffice-pgbouncer',
    'NetworkPolicy boxoffice-web',
    'PodDisruptionBudget boxoffice-background',
    'PodDisruptionBudget boxoffice-pgbouncer',
    'PodDisruptionBudget boxoffice-web',
    'Service boxoffice',
    'Service boxoffice-pgbouncer',
  ])
  for (const manifest of manifests) await validate(manifest)
})

test('control: a field of another type, and one that does not exist, are found', async () => {
  const [budget] = ofKind('PodDisruptionBudget')
  const wrong = (spec: object) => validate({ ...budget, spec: { ...budget?.spec, ...spec } } as Manifest)
  await expect(wrong({ minAvailable: [1] })).rejects.toThrow('minAvailable')
  await expect(wrong({ minimum: 1 })).rejects.toThrow('unknown fields: PodDisruptionBudget.spec.minimum')
})

/** Contents that fit each secret, by the paths of the files. */
function readSecret(path: string): string {
  const secrets: Record<string, string> = {
    'database-url': 'postgres://box:pw@pgbouncer.example:6432/boxoffice',
    'direct-database-url': 'postgres://box:pw@db.example/boxoffice',
    'database-ca.pem': localhost.certificate,
    'stripe-secret-key': 'sk_live_1',
    'stripe-webhook-secret': 'whsec_1',
    'smtp-url': 'smtps://box:pw@mail.example',
  }
  return (
    secrets[path.replace('/run/secrets/boxoffice/', '')] ?? expect.fail(`no secret is mounted at ${path}`)
  )
}

test('each process starts with its settings, of which all exist, and secrets are files', () => {
  const known = [...settingNames, ...secretSettings.map((name) => `${name}_FILE`)]
  for (const workload of workloads) {
    const environment = environmentIn(workload)
    expect(Object.keys(environment).filter((name) => !known.includes(name))).toEqual([])
    expect(secretSettings.filter((name) => name in environment)).toEqual([])
    expect(parseConfig(environment, readSecret)).toMatchObject({ host: '0.0.0.0', paymentProvider: 'stripe' })
    expect(podOf(workload).containers[0].volumeMounts).toMatchObject([
      { mountPath: '/run/secrets/boxoffice' },
    ])
  }
  const documented = readFromRepository('docs/operations.md')
  const files = Object.values(settings?.data ?? {}).filter((value) => value.startsWith('/run/secrets/'))
  expect(files).toHaveLength(6)
  for (const file of files) expect(documented).toContain(`--from-file=${file.split('/').at(-1)}`)
})

test('web and background are apart, and each outlives the loss of a node', () => {
  const roles = deployments.map((workload) => [workload.metadata.name, environmentIn(workload).BACKGROUND])
  expect(roles.sort()).toEqual([
    ['boxoffice-background', 'only'],
    ['boxoffice-web', 'off'],
  ])
  for (const {
    metadata: { name },
    spec,
  } of deployments) {
    const budget = ofKind('PodDisruptionBudget').find(
      (each) => each.spec?.selector?.matchLabels?.role === spec?.selector?.matchLabels?.role,
    )
    const scaled = ofKind('HorizontalPodAutoscaler').find((each) => each.spec?.scaleTargetRef?.name === name)
    expect([spec?.replicas, scaled?.spec?.minReplicas].filter(Boolean)).toEqual([2])
    expect(budget?.spec?.minAvailable).toBeLessThan(spec?.replicas ?? scaled?.spec?.minReplicas ?? 0)
    // The autoscaler measures by what a pod asks for.
    if (scaled) expect(spec?.template?.spec.containers[0].resources.requests.cpu).toBe('1')
  }
})

test('each process runs its command with no rights and nothing to write', () => {
  const { version } = JSON.parse(readFromRepository('package.json')) as { version: string }
  for (const workload of workloads) {
    const { containers, securityContext } = podOf(workload)
    const [container] = containers
    expect(container).toMatchObject({
      image: `boxoffice:${version}`,
      securityContext: {
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      },
    })
    expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
    // A pod without a command runs the image's.
    const command = container.command ?? commandOf(image, 'CMD')
    const name = workload.metadata.name.replace('boxoffice-', '')
    expect(command.slice(0, 3)).toEqual(
      container.command ? ['node', 'dist/cli.js', name] : commandOf(image, 'CMD'),
    )
  }
})

test('selectors match the pods that they are meant for, and ports those that are served', () => {
  const pods = manifests.filter((manifest) => templateOf(manifest)).map(labelsOf)
  const matches = (wanted: Labels) =>
    pods.filter((labels) => Object.entries(wanted).every(([name, value]) => labels[name] === value))
  for (const { kind, metadata, spec } of manifests) {
    const { matchLabels, ...plain } = spec?.selector ?? {}
    const wanted = spec?.podSelector?.matchLabels ?? matchLabels ?? plain
    const isOne = wanted.role ?? wanted.app !== 'boxoffice'
    if (kind !== 'Job' && Object.keys(wanted).length > 0)
      expect([metadata.name, matches(wanted).length]).toEqual([metadata.name, isOne ? 1 : 4])
  }
  const served = deployments.flatMap((workload) => podOf(workload).containers[0].ports ?? [])
  const config = parseConfig(environmentIn(deployments[0] as Manifest), readSecret)
  expect(new Set(served.map(({ containerPort }) => containerPort))).toEqual(new Set([config.port, 9464]))
  expect(settings?.data?.METRICS_PORT).toBe('9464')
  const portOf = (name: string) => named('Service', name)?.spec?.ports?.[0]
  expect(served.map(({ name }) => name)).toContain(portOf('boxoffice')?.targetPort)
  const isOfService = ({ spec }: Manifest) => spec?.podSelector?.matchLabels.app === 'boxoffice'
  const admitted = ofKind('NetworkPolicy')
    .filter(isOfService)
    .flatMap(({ spec }) => spec?.ingress ?? [])
  expect(new Set(admitted.flatMap(({ ports }) => ports.map(({ port }) => port)))).toEqual(
    new Set([4000, 9464]),
  )
})

test('the ingress leads to the service, and lets the headers of method v1 and whole bodies through', () => {
  const ingress = named('Ingress', 'boxoffice')
  const [path] = ingress?.spec?.rules?.[0]?.http.paths ?? []
  expect(path?.backend.service).toEqual({ name: 'boxoffice', port: { name: 'http' } })
  expect(named('Service', 'boxoffice')?.spec?.ports?.map(({ name }) => name)).toContain('http')
  expect(ingress?.spec?.rules?.[0]?.host).toBe(new URL(settings?.data?.PUBLIC_URL ?? '').host)
  const controller = named('ConfigMap', 'ingress-nginx-controller')
  expect(controller?.data).toEqual({ 'enable-underscores-in-headers': 'true' })
  const size = ingress?.metadata.annotations?.['nginx.ingress.kubernetes.io/proxy-body-size'] ?? ''
  expect(Number.parseInt(size, 10) * 1024).toBeGreaterThan(requestLimits.maxBodyBytes)
})

test('a collector of traces may be reached, at the port of OTLP over HTTP', () => {
  const policy = named('NetworkPolicy', 'boxoffice')
  expect(policy?.spec?.egress?.flatMap(({ ports }) => ports.map(({ port }) => port))).toContain(4318)
})

test('a pod leaves before it is killed, and the failures that all pods share take none of them out', () => {
  for (const workload of deployments) {
    const { containers, terminationGracePeriodSeconds } = podOf(workload)
    const [{ startupProbe, readinessProbe, livenessProbe }] = containers
    const { drainSeconds, shutdownSeconds, background } = parseConfig(environmentIn(workload), readSecret)
    expect(terminationGracePeriodSeconds).toBeGreaterThan(drainSeconds + shutdownSeconds)
    expect(livenessProbe?.httpGet).toEqual({ path: '/health', port: 'http' })
    // Who serves is ready once, and then for as long as it is healthy. Who serves nobody only shows that it is ready.
    const [first, later] = background === 'off' ? ['/ready', '/health'] : ['/health', '/ready']
    expect(startupProbe?.httpGet).toEqual({ path: first, port: 'http' })
    expect(readinessProbe?.httpGet).toEqual({ path: later, port: 'http' })
    const { periodSeconds = 0, failureThreshold = 0 } = readinessProbe ?? {}
    expect(failureThreshold).toBeGreaterThanOrEqual(2)
    expect(periodSeconds * failureThreshold).toBeLessThanOrEqual(drainSeconds)
  }
})

/** Settings of a file of PgBouncer, by section. */
const iniOf = (text: string) =>
  Object.fromEntries([...text.matchAll(/^(\w+) *= *(.*)$/gm)].map(([, ...pair]) => pair))

test('PgBouncer has the settings of the one that is tried, reaches the database and is reached by TLS', () => {
  const tried = iniOf(readFromRepository('deploy/pgbouncer/pgbouncer.ini'))
  const { boxoffice, auth_file, ...given } = iniOf(
    named('ConfigMap', 'boxoffice-pgbouncer')?.data?.['pgbouncer.ini'] ?? '',
  )
  expect(boxoffice).toMatch(/^host=\S+ port=5432 dbname=boxoffice$/)
  const { boxoffice: _, auth_file: file, ...same } = tried
  expect(file).toBeDefined()
  expect(given).toMatchObject(same)
  expect(given).toMatchObject({ client_tls_sslmode: 'require', server_tls_sslmode: 'verify-full' })
  const documented = readFromRepository('docs/operations.md')
  const files = [auth_file, given.client_tls_cert_file, given.client_tls_key_file, given.server_tls_ca_file]
  for (const path of files) {
    expect(path).toMatch(/^\/etc\/pgbouncer\/secrets\//)
    expect(documented).toContain(`--from-file=${path?.split('/').at(-1)}`)
  }
  const [port] = named('Service', 'boxoffice-pgbouncer')?.spec?.ports ?? []
  expect(port).toMatchObject({ port: Number(given.listen_port), targetPort: 'postgres' })
  const egress = named('NetworkPolicy', 'boxoffice')?.spec?.egress?.flatMap(({ ports }) => ports) ?? []
  expect(egress.map(({ port }) => port)).toContain(Number(given.listen_port))
})

test('the metrics of all processes are scraped under the job that the alerts ask for, and those of nobody else', () => {
  const [job] = parse(readFromRepository('deploy/prometheus/kubernetes.yaml')).scrape_configs
  const alerts = readFromRepository('deploy/prometheus/alerts.yaml')
  expect(new Set([...alerts.matchAll(/\bup\{job="(\w+)"/g)].map(([, name]) => name))).toEqual(
    new Set([job.job_name]),
  )
  const [{ source_labels: sources, regex, action }] = job.relabel_configs
  expect(action).toBe('keep')
  const targets = manifests.flatMap((manifest) =>
    (templateOf(manifest)?.spec.containers[0].ports ?? []).map(({ name }): [string, string] => {
      const labels: Record<string, string> = { container_port_name: name }
      for (const [label, value] of Object.entries(labelsOf(manifest))) labels[`label_${label}`] = value
      const values = sources.map((source: string) => labels[source.replace('__meta_kubernetes_pod_', '')])
      return [`${manifest.metadata.name} ${name}`, values.join(';')]
    }),
  )
  // Prometheus anchors an expression at both ends.
  const kept = targets.filter(([, value]) => new RegExp(`^(?:${regex})$`).test(value)).map(([name]) => name)
  expect(kept.sort()).toEqual(['boxoffice-background metrics', 'boxoffice-web metrics'])
  expect(targets.length).toBeGreaterThan(kept.length)
})
