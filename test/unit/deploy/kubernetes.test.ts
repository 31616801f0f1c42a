import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { parseConfig, secretSettings, settingNames } from '../../../src/config/config.ts'
import { requestLimits } from '../../../src/shared/request-limits.ts'
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
const workloads = [...ofKind('Job'), ...ofKind('Deployment')]
const podOf = ({ spec }: Manifest) => spec?.template?.spec ?? expect.fail('there is no pod')
const labelsOf = ({ spec }: Manifest): Labels => spec?.template?.metadata.labels ?? {}
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
    'ConfigMap ingress-nginx-controller',
    'Deployment boxoffice-background',
    'Deployment boxoffice-web',
    'HorizontalPodAutoscaler boxoffice-web',
    'Ingress boxoffice',
    'Job boxoffice-migrate',
    'NetworkPolicy boxoffice',
    'NetworkPolicy boxoffice-background',
    'NetworkPolicy boxoffice-web',
    'PodDisruptionBudget boxoffice-background',
    'PodDisruptionBudget boxoffice-web',
    'Service boxoffice',
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
  const roles = ofKind('Deployment').map((workload) => [
    workload.metadata.name,
    environmentIn(workload).BACKGROUND,
  ])
  expect(roles.sort()).toEqual([
    ['boxoffice-background', 'only'],
    ['boxoffice-web', 'off'],
  ])
  for (const {
    metadata: { name },
    spec,
  } of ofKind('Deployment')) {
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
    expect(command.at(-1)).toBe(container.command ? 'migrate' : 'dist/server.js')
  }
})

test('selectors match the pods that they are meant for, and ports those that are served', () => {
  const pods = workloads.map(labelsOf)
  const matches = (wanted: Labels) =>
    pods.filter((labels) => Object.entries(wanted).every(([name, value]) => labels[name] === value))
  for (const { kind, metadata, spec } of manifests) {
    const { matchLabels, ...plain } = spec?.selector ?? {}
    const wanted = spec?.podSelector?.matchLabels ?? matchLabels ?? plain
    if (kind !== 'Job' && Object.keys(wanted).length > 0)
      expect([metadata.name, matches(wanted).length]).toEqual([metadata.name, wanted.role ? 1 : 3])
  }
  const served = ofKind('Deployment').flatMap((workload) => podOf(workload).containers[0].ports ?? [])
  const config = parseConfig(environmentIn(ofKind('Deployment')[0] as Manifest), readSecret)
  expect(new Set(served.map(({ containerPort }) => containerPort))).toEqual(new Set([config.port, 9464]))
  expect(settings?.data?.METRICS_PORT).toBe('9464')
  const [service] = ofKind('Service')
  expect(served.map(({ name }) => name)).toContain(service?.spec?.ports?.[0]?.targetPort)
  const admitted = ofKind('NetworkPolicy').flatMap(({ spec }) => spec?.ingress ?? [])
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

test('a pod leaves before it is killed, and is asked whether it is ready while it leaves', () => {
  for (const workload of ofKind('Deployment')) {
    const { containers, terminationGracePeriodSeconds } = podOf(workload)
    const [{ readinessProbe, livenessProbe }] = containers
    const { drainSeconds, shutdownSeconds } = parseConfig(environmentIn(workload), readSecret)
    expect(terminationGracePeriodSeconds).toBeGreaterThan(drainSeconds + shutdownSeconds)
    expect(readinessProbe?.httpGet).toEqual({ path: '/ready', port: 'http' })
    expect(livenessProbe?.httpGet).toEqual({ path: '/health', port: 'http' })
    const { periodSeconds = 0, failureThreshold = 0 } = readinessProbe ?? {}
    expect(failureThreshold).toBeGreaterThanOrEqual(2)
    expect(periodSeconds * failureThreshold).toBeLessThanOrEqual(drainSeconds)
  }
})
