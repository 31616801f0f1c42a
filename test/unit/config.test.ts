// Runs in: unit

import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parseConfig } from '../../src/app/settings.ts'
import { localhost, rolePostgres } from '../support/certificates.ts'

const mistakesOf = (env: Record<string, string>): string[] => {
  try {
    parseConfig(env)
  } catch (error) {
    const [title, ...mistakes] = String(error instanceof Error ? error.message : error).split('\n')
    expect(title).toBe('Settings are wrong:')
    return mistakes.map((mistake) => mistake.trim())
  }
  return []
}

test('no settings give a loopback service on an embedded database', () => {
  expect(parseConfig({})).toEqual({
    misspelt: [],
    port: 4000,
    host: '127.0.0.1',
    trustProxy: false,
    maxConnections: 5000,
    connectionsPerAddress: 1000,
    streamsPerKey: 10_000,
    feedStreamsPerKey: 50,
    streamsPerAddress: 100,
    publicUrl: undefined,
    webConcurrency: 1,
    databaseUrl: undefined,
    databasePooler: 'none',
    directDatabaseUrl: undefined,
    databaseReplicaUrls: [],
    dataDir: resolve('data'),
    holdMinutes: 15,
    admissionHours: 12,
    logLevel: 'info',
    logFormat: undefined,
    metricsPort: undefined,
    hasTraces: false,
    trustedDocuments: undefined,
    trustedDocumentsOnly: false,
    background: 'on',
    databaseTls: null,
    rateLimit: 1000,
    publishableRateLimit: 50,
    publishableHeldPlaces: 100,
    publishableFreeHours: 6,
    sharedReadsMs: 1000,
    rememberedEvents: 2000,
    retainUnpaidDays: 30,
    retainPersonalMonths: 24,
    retainWebhookDays: 30,
    retainProviderEventDays: 90,
    retainChangeMonths: 12,
    retainCheckInMonths: 24,
    retainMailDays: 30,
    corsOrigins: [],
    channelsBasePath: '',
    integrationsBasePath: '',
    paymentProvider: 'sandbox',
    privateWebhooks: false,
    stripe: null,
    shutdownSeconds: 10,
    drainSeconds: 0,
    delivery: {
      mail: {
        smtpUrl: undefined,
        from: { name: '', address: 'tickets@boxoffice.invalid' },
        folder: resolve('data/mail'),
        perHour: 10_000,
      },
      whatsapp: null,
    },
  })
})

test('every setting is read', () => {
  const config = parseConfig({
    PORT: '0',
    BACKGROUND: 'off',
    HOST: '0.0.0.0',
    TRUST_PROXY: '10.0.0.0/8, 2001:db8::/32,192.0.2.7',
    MAX_CONNECTIONS: '20000',
    CONNECTIONS_PER_ADDRESS: '300',
    STREAMS_PER_KEY: '7',
    FEED_STREAMS_PER_KEY: '5',
    STREAMS_PER_ADDRESS: '3',
    PUBLIC_URL: 'https://tickets.example/',
    WEB_CONCURRENCY: '4',
    DATABASE_URL: 'postgresql://box:pw@db.example:5433/tickets?sslmode=require',
    DATABASE_POOLER: 'transaction',
    DIRECT_DATABASE_URL: 'postgresql://owner:pw@db.example:5432/tickets',
    DATABASE_REPLICA_URLS: 'postgres://box:pw@one.example/tickets, postgres://box:pw@two.example/tickets,',
    DATA_DIR: '/var/lib/boxoffice',
    HOLD_MINUTES: '1440',
    ADMISSION_HOURS: '0',
    LOG_LEVEL: 'silent',
    LOG_FORMAT: 'pretty',
    METRICS_PORT: '9464',
    OTEL_TRACES_EXPORTER: 'otlp',
    TRUSTED_DOCUMENTS: '/etc/boxoffice/documents.json',
    TRUSTED_DOCUMENTS_ONLY: 'true',
    RATE_LIMIT: 'off',
    PUBLISHABLE_RATE_LIMIT: '7',
    PUBLISHABLE_HELD_PLACES: '8',
    PUBLISHABLE_FREE_HOURS: '48',
    SHARED_READS_MS: '0',
    REMEMBERED_EVENTS: '0',
    RETAIN_UNPAID_DAYS: '1',
    RETAIN_PERSONAL_MONTHS: '6',
    RETAIN_WEBHOOK_DAYS: 'off',
    RETAIN_PROVIDER_EVENT_DAYS: '3650',
    RETAIN_CHANGE_MONTHS: '6',
    RETAIN_CHECK_IN_MONTHS: 'off',
    RETAIN_MAIL_DAYS: '2',
    CORS_ORIGINS: 'https://shop.example, http://localhost:5173,',
    CHANNELS_BASE_PATH: '/v1/channels/',
    INTEGRATIONS_BASE_PATH: '/',
    PAYMENT_PROVIDER: 'sandbox',
    ALLOW_SANDBOX_PAYMENTS: 'true',
    WEBHOOKS_TO_PRIVATE_ADDRESSES: 'true',
    NODE_ENV: 'production',
    DRAIN_SECONDS: '7',
    SHUTDOWN_SECONDS: '30',
    SMTP_URL: 'smtps://box:pw@mail.example:465',
    MAIL_FROM: '"Boxoffice, Ñ" <tickets@tickets.example>',
    MAIL_DIR: '/var/mail/boxoffice',
    MAILS_PER_HOUR: '500',
    WHATSAPP_TOKEN: 'token',
    WHATSAPP_PHONE_NUMBER_ID: '1234567890',
    WHATSAPP_TEMPLATE: 'ticket_ready',
    WHATSAPP_TEMPLATE_LANGUAGE: 'es_MX,en',
    WHATSAPP_API_BASE: 'https://graph.example/v1/',
    DATABASE_SSL: 'verify-ca',
    DATABASE_SSL_CA: localhost.certificate,
    DATABASE_SSL_CERT: rolePostgres.certificate,
    DATABASE_SSL_KEY: rolePostgres.key,
  })
  expect(config).toEqual({
    misspelt: [],
    background: 'off',
    databaseTls: {
      mode: 'verify-ca',
      ca: localhost.certificate,
      cert: rolePostgres.certificate,
      key: rolePostgres.key,
    },
    port: 0,
    host: '0.0.0.0',
    trustProxy: ['10.0.0.0/8', '2001:db8::/32', '192.0.2.7'],
    maxConnections: 20_000,
    connectionsPerAddress: 300,
    streamsPerKey: 7,
    feedStreamsPerKey: 5,
    streamsPerAddress: 3,
    publicUrl: 'https://tickets.example',
    webConcurrency: 4,
    databaseUrl: 'postgresql://box:pw@db.example:5433/tickets?sslmode=require',
    databasePooler: 'transaction',
    directDatabaseUrl: 'postgresql://owner:pw@db.example:5432/tickets',
    databaseReplicaUrls: ['postgres://box:pw@one.example/tickets', 'postgres://box:pw@two.example/tickets'],
    dataDir: '/var/lib/boxoffice',
    holdMinutes: 1440,
    admissionHours: 0,
    logLevel: 'silent',
    logFormat: 'pretty',
    metricsPort: 9464,
    hasTraces: true,
    trustedDocuments: '/etc/boxoffice/documents.json',
    trustedDocumentsOnly: true,
    rateLimit: null,
    publishableRateLimit: 7,
    publishableHeldPlaces: 8,
    publishableFreeHours: 48,
    sharedReadsMs: 0,
    rememberedEvents: 0,
    retainUnpaidDays: 1,
    retainPersonalMonths: 6,
    retainWebhookDays: null,
    retainProviderEventDays: 3650,
    retainChangeMonths: 6,
    retainCheckInMonths: null,
    retainMailDays: 2,
    corsOrigins: ['https://shop.example', 'http://localhost:5173'],
    channelsBasePath: '/v1/channels',
    integrationsBasePath: '',
    paymentProvider: 'sandbox',
    privateWebhooks: true,
    stripe: null,
    drainSeconds: 7,
    shutdownSeconds: 30,
    delivery: {
      mail: {
        smtpUrl: 'smtps://box:pw@mail.example:465',
        from: { name: 'Boxoffice, Ñ', address: 'tickets@tickets.example' },
        folder: '/var/mail/boxoffice',
        perHour: 500,
      },
      whatsapp: {
        token: 'token',
        phoneNumberId: '1234567890',
        template: 'ticket_ready',
        languages: ['es_MX', 'en'],
        apiBase: 'https://graph.example/v1',
      },
    },
  })
})

test('an empty variable counts as unset', () => {
  const empty = Object.fromEntries(
    ['PORT', 'HOST', 'PUBLIC_URL', 'DATABASE_URL', 'DATA_DIR', 'LOG_LEVEL', 'RATE_LIMIT', 'CORS_ORIGINS'].map(
      (name) => [name, ''],
    ),
  )
  expect(parseConfig(empty)).toEqual(parseConfig({}))
})

test.each([
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, true],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }, true],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_TRACES_EXPORTER: 'none' }, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_SDK_DISABLED: 'true' }, false],
  [{ OTEL_SERVICE_NAME: 'tickets', OTEL_TRACES_SAMPLER: 'always_on' }, false],
])('%j: traces are on: %s', (env, hasTraces) => {
  expect(parseConfig(env)).toMatchObject({ hasTraces })
})

test('unknown variables are ignored', () => {
  expect(parseConfig({ PATH: '/bin', port: 'x', npm_config_port: 'x' })).toEqual(parseConfig({}))
})

const wrong: [name: string, values: string[], mistake: RegExp][] = [
  ['PORT', ['x', '-1', '4e3', '1.5', ' 80', '0x50'], /must be a whole number/],
  ['PORT', ['65536', '4000000000'], /must be at most 65535/],
  [
    'PUBLIC_URL',
    ['tickets.example', 'ftp://tickets.example', '//tickets.example'],
    /must be an http\(s\) address/,
  ],
  ['WEB_CONCURRENCY', ['0', '129'], /must be at (least 1|most 128)/],
  ['WEB_CONCURRENCY', ['auto', '-2', '1.5'], /must be a whole number/],
  ['WEB_CONCURRENCY', ['2'], /the embedded database belongs to one process/],
  ['DATABASE_URL', ['mysql://db/x', 'localhost:5432', 'box'], /must be a postgres:\/\/ address/],
  ['DATABASE_POOLER', ['pgbouncer', 'session', 'true'], /./],
  ['DATABASE_POOLER', ['transaction'], /needs DATABASE_URL/],
  ['DIRECT_DATABASE_URL', ['mysql://db/x', 'db:5432'], /must be a postgres:\/\/ address/],
  ['DIRECT_DATABASE_URL', ['postgres://db/x'], /needs DATABASE_URL/],
  [
    'DATABASE_REPLICA_URLS',
    ['one.example', 'postgres://one/x,mysql://two/x'],
    /must be a postgres:\/\/ address/,
  ],
  ['DATABASE_REPLICA_URLS', ['postgres://one/x'], /needs DATABASE_URL/],
  ['HOLD_MINUTES', ['0', '1441'], /must be at (least 1|most 1440)/],
  ['HOLD_MINUTES', ['15m'], /must be a whole number/],
  [
    'TRUST_PROXY',
    [
      ...[
        '0',
        '17',
        '-1',
        '1.5',
        'true',
        'all',
        'loopback',
        'proxy.example',
        '10.0.0.0/33',
        '2001:db8::/129',
      ],
      ...['10.0.0.0/0', '::/0', '10.0.0.0/', '10.0.0/8', '10.0.0.0/8,', '1,10.0.0.0/8', '010.0.0.1'],
    ],
    /must be a number of proxies from 1 to 16, or a comma-separated list of networks such as 10\.0\.0\.0\/8/,
  ],
  ['MAX_CONNECTIONS', ['0', '1000001'], /must be at (least 1|most 1000000)/],
  ['MAX_CONNECTIONS', ['off', '-1'], /must be a whole number/],
  ['STREAMS_PER_KEY', ['0', '1000001'], /must be at (least 1|most 1000000)/],
  ['STREAMS_PER_ADDRESS', ['off', '-1'], /must be a whole number/],
  ['FEED_STREAMS_PER_KEY', ['0', 'off'], /must be (a whole number|at least 1)/],
  ['CONNECTIONS_PER_ADDRESS', ['0', 'off'], /must be (a whole number|at least 1)/],
  ['LOG_LEVEL', ['loud', 'INFO'], /./],
  ['LOG_FORMAT', ['text', 'JSON'], /./],
  ['METRICS_PORT', ['on', '-1', '65536'], /must be/],
  ['METRICS_PORT', ['4000'], /must differ from PORT/],
  ['OTEL_SDK_DISABLED', ['1', 'yes'], /./],
  ['OTEL_TRACES_EXPORTER', ['jaeger', 'console', 'otlp,zipkin'], /./],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', ['collector:4318', 'grpc://collector'], /must be an http\(s\) address/],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', ['collector'], /must be an http\(s\) address/],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', ['grpc', 'http/json'], /./],
  ['OTEL_TRACES_SAMPLER', ['sometimes', 'jaeger_remote'], /./],
  ['OTEL_TRACES_SAMPLER_ARG', ['1.5', '-1', 'half', '10%'], /must be a number from 0 to 1/],
  ['PUBLISHABLE_RATE_LIMIT', ['none', '-5'], /must be a whole number or off/],
  ['PUBLISHABLE_HELD_PLACES', ['none', '-5'], /must be a whole number or off/],
  ['PUBLISHABLE_FREE_HOURS', ['off', '-1', '1.5'], /must be a whole number/],
  ['PUBLISHABLE_FREE_HOURS', ['8761'], /must be at most 8760/],
  ['RATE_LIMIT', ['none', '-5', '1.5'], /must be a whole number or off/],
  ['RATE_LIMIT', ['0', '1000001'], /must be at (least 1|most 1000000)/],
  ['SHARED_READS_MS', ['off', '-1', '1.5'], /must be a whole number/],
  ['SHARED_READS_MS', ['60001'], /must be at most 60000/],
  ['REMEMBERED_EVENTS', ['all', '-1', '1.5'], /must be a whole number/],
  ['REMEMBERED_EVENTS', ['100001'], /must be at most 100000/],
  ['CORS_ORIGINS', ['*', 'shop.example'], /./],
  ['CORS_ORIGINS', ['https://shop.example/path', 'https://shop.example/'], /must be origins such as/],
  [
    'CHANNELS_BASE_PATH',
    ['channels', '/a b', '/a?b', '/a//b', 'https://x.example'],
    /must be a path such as/,
  ],
  ['INTEGRATIONS_BASE_PATH', ['x'], /must be a path such as/],
  ['PAYMENT_PROVIDER', ['cash'], /./],
  ['STRIPE_SECRET_KEY', ['pk_live_x', 'sk_live_', 'sk_x', 'whsec_x'], /must be a key such as/],
  ['STRIPE_SECRET_KEY', ['sk_test_x', 'rk_live_x'], /needs PAYMENT_PROVIDER=stripe/],
  ['STRIPE_WEBHOOK_SECRET', ['secret', 'whsec_a,b', 'whsec_a,'], /must be a comma-separated list of whsec_/],
  ['STRIPE_WEBHOOK_SECRET', ['whsec_a', 'whsec_a, whsec_b'], /needs PAYMENT_PROVIDER=stripe/],
  [
    'STRIPE_API_BASE',
    ['api.stripe.com', 'ftp://proxy.example', 'https://proxy.example/stripe'],
    /must be an origin such as/,
  ],
  ['STRIPE_API_BASE', ['https://proxy.example'], /needs PAYMENT_PROVIDER=stripe/],
  ['ALLOW_SANDBOX_PAYMENTS', ['yes', '1', 'TRUE'], /./],
  ['WEBHOOKS_TO_PRIVATE_ADDRESSES', ['yes', '1', 'TRUE'], /./],
  ['SHUTDOWN_SECONDS', ['0', '601'], /must be at (least 1|most 600)/],
  ['SMTP_URL', ['mail.example', 'https://mail.example'], /must be an smtp:\/\/ or smtps:\/\/ address/],
  ['MAIL_FROM', ['tickets', 'a@b c@d', 'Tickets <tickets>', 'a@b\nbcc: c@d'], /must be an address such as/],
  ['WHATSAPP_PHONE_NUMBER_ID', ['+34600', 'id'], /must be digits/],
  ['WHATSAPP_TEMPLATE', ['Ticket ready'], /must be the name of a template/],
  ['WHATSAPP_TEMPLATE_LANGUAGE', ['Spanish', 'es-MX', 'es, en', 'es,'], /must be codes such as/],
  ['WHATSAPP_API_BASE', ['graph.example'], /must be an http\(s\) address/],
]

test.each(wrong.flatMap(([name, values, mistake]) => values.map((value) => ({ name, value, mistake }))))(
  '$name=$value is refused by name',
  ({ name, value, mistake }) => {
    const mistakes = mistakesOf({ [name]: value })
    expect(mistakes.length).toBeGreaterThan(0)
    for (const told of mistakes) {
      expect(told.split(': ')[0]).toBe(name)
      expect(told).toMatch(mistake)
    }
  },
)

test('all mistakes are reported at once, without the values', () => {
  const env = {
    PORT: 'secret-a',
    PUBLIC_URL: 'secret-b',
    WEB_CONCURRENCY: 'secret-m',
    DATABASE_URL: 'http://user:secret-c@db.example/x',
    DATABASE_POOLER: 'secret-n',
    DIRECT_DATABASE_URL: 'http://user:secret-o@db.example/x',
    DATABASE_REPLICA_URLS: 'http://user:secret-p@db.example/x',
    HOLD_MINUTES: 'secret-d',
    LOG_LEVEL: 'secret-e',
    RATE_LIMIT: 'secret-f',
    CORS_ORIGINS: 'secret-g',
    CHANNELS_BASE_PATH: 'secret-h',
    INTEGRATIONS_BASE_PATH: 'secret-i',
    PAYMENT_PROVIDER: 'secret-j',
    ALLOW_SANDBOX_PAYMENTS: 'secret-k',
    SHUTDOWN_SECONDS: 'secret-l',
    STRIPE_SECRET_KEY: 'pk_secret-q',
    STRIPE_WEBHOOK_SECRET: 'secret-r',
    STRIPE_API_BASE: 'secret-s',
  }
  const mistakes = mistakesOf(env)
  expect(new Set(mistakes.map((mistake) => mistake.split(':')[0]))).toEqual(new Set(Object.keys(env)))
  expect(mistakes.join('\n')).not.toContain('secret')
})

const aMailServer = { SMTP_URL: 'smtp://mail.example', MAIL_FROM: 'tickets@shop.example' }

test('production refuses sandbox payments unless they are enabled explicitly', () => {
  const production = { NODE_ENV: 'production', ...aMailServer }
  expect(mistakesOf(production)).toEqual([
    'PAYMENT_PROVIDER: sandbox takes no money; in production it needs ALLOW_SANDBOX_PAYMENTS=true',
  ])
  expect(mistakesOf({ ...production, ALLOW_SANDBOX_PAYMENTS: 'false' })).toHaveLength(1)
  expect(mistakesOf({ ...production, ALLOW_SANDBOX_PAYMENTS: 'true' })).toEqual([])
  expect(mistakesOf({ NODE_ENV: 'staging' })).toEqual([])
})

test('production refuses to write mails to files unless that is enabled explicitly', () => {
  const production = { NODE_ENV: 'production', ALLOW_SANDBOX_PAYMENTS: 'true' }
  expect(mistakesOf(production)).toEqual([
    'SMTP_URL: without it no buyer gets a mail; in production that needs ALLOW_MAIL_TO_FILES=true',
  ])
  expect(mistakesOf({ ...production, ALLOW_MAIL_TO_FILES: 'false' })).toHaveLength(1)
  expect(mistakesOf({ ...production, ALLOW_MAIL_TO_FILES: 'true' })).toEqual([])
  expect(mistakesOf({ ...production, ...aMailServer })).toEqual([])
})

test('background jobs can have a process of their own, on PostgreSQL', () => {
  const settings = { ...onPostgres, PUBLIC_URL: 'https://tickets.example' }
  expect(parseConfig({ ...settings, BACKGROUND: 'only' }).background).toBe('only')
  expect(parseConfig({ ...settings, BACKGROUND: 'off' }).background).toBe('off')
  expect(mistakesOf({ ...settings, BACKGROUND: 'only', WEB_CONCURRENCY: '2' })).toEqual([
    'WEB_CONCURRENCY: BACKGROUND=only is one process; start another one for more',
  ])
  expect(mistakesOf({ BACKGROUND: 'only' })).toEqual([
    'BACKGROUND: the embedded database belongs to one process, which does both',
    'PUBLIC_URL: BACKGROUND=only needs it for the links in mails',
  ])
  expect(mistakesOf({ BACKGROUND: 'off' })).toHaveLength(1)
})

const onPostgres = { DATABASE_URL: 'postgres://db.example/boxoffice' }

test('TLS to the database has settings of its own, whose certificates belong together', () => {
  const { certificate, key } = rolePostgres
  const tlsOf = (env: Record<string, string>) => parseConfig({ ...onPostgres, ...env }).databaseTls
  const nothing = { ca: undefined, cert: undefined, key: undefined }
  expect(tlsOf({})).toBeNull()
  expect(tlsOf({ DATABASE_SSL: 'require' })).toEqual({ ...nothing, mode: 'require' })
  // A certificate alone asks for as much as it can.
  const shown = { DATABASE_SSL_CERT: certificate, DATABASE_SSL_KEY: key }
  expect(tlsOf({ DATABASE_SSL_CA: certificate })).toEqual({
    ...nothing,
    mode: 'verify-full',
    ca: certificate,
  })
  expect(tlsOf(shown)).toEqual({ ...nothing, mode: 'verify-full', cert: certificate, key })
  const mistakes = (env: Record<string, string>) => mistakesOf({ ...onPostgres, ...env })
  expect(mistakes({ DATABASE_SSL: 'prefer' })).toHaveLength(1)
  expect(
    mistakes({ DATABASE_SSL_CA: 'pem', DATABASE_SSL_CERT: certificate, DATABASE_SSL_KEY: 'pem' }),
  ).toEqual([
    'DATABASE_SSL_CA: must be a certificate in PEM',
    'DATABASE_SSL_KEY: must be a private key in PEM, without a password',
  ])
  expect(mistakes({ DATABASE_SSL_CERT: certificate })).toEqual([
    'DATABASE_SSL_KEY: required with DATABASE_SSL_CERT',
  ])
  expect(mistakes({ DATABASE_SSL_KEY: key })).toEqual(['DATABASE_SSL_CERT: required with DATABASE_SSL_KEY'])
  expect(mistakes({ DATABASE_SSL_CERT: localhost.certificate, DATABASE_SSL_KEY: key })).toEqual([
    'DATABASE_SSL_KEY: is not the key of DATABASE_SSL_CERT',
  ])
  expect(mistakes({ DATABASE_SSL: 'disable', DATABASE_SSL_CA: certificate })).toEqual([
    'DATABASE_SSL_CA: DATABASE_SSL is disable',
  ])
  expect(mistakesOf({ DATABASE_SSL: 'require', DATABASE_SSL_CA: certificate })).toEqual([
    'DATABASE_SSL: needs DATABASE_URL',
    'DATABASE_SSL_CA: needs DATABASE_URL',
  ])
})

test('a URL says by sslmode how TLS is used, and names no certificate', () => {
  const url = (query: string) => `postgres://db.example/boxoffice?${query}`
  for (const mode of ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'])
    expect(mistakesOf({ DATABASE_URL: url(`sslmode=${mode}`) })).toEqual([])
  expect(mistakesOf({ DATABASE_URL: url('sslmode=verify_full') })).toHaveLength(1)
  for (const query of ['sslmode=require&sslrootcert=/etc/ca.pem', 'sslcert=client.pem', 'sslkey=key.pem'])
    expect(mistakesOf({ DATABASE_URL: url(query) })).toEqual([
      'DATABASE_URL: must name no certificate: set DATABASE_SSL_CA, or DATABASE_SSL_CERT and DATABASE_SSL_KEY',
    ])
  expect(
    mistakesOf({
      DATABASE_URL: url('sslmode=require'),
      DIRECT_DATABASE_URL: url('sslmode=prefer'),
      DATABASE_REPLICA_URLS: url('x=1&sslmode=allow'),
      DATABASE_SSL_CA: localhost.certificate,
    }),
  ).toEqual([
    'DIRECT_DATABASE_URL: its sslmode uses no certificate; require, verify-ca and verify-full do',
    'DATABASE_REPLICA_URLS: its sslmode uses no certificate; require, verify-ca and verify-full do',
  ])
})

test('secrets are read from files', () => {
  const files: Record<string, string> = { '/run/db': 'postgres://db.example/boxoffice\n', '/run/empty': '\n' }
  const readFile = (path: string) => {
    const content = files[path]
    if (content === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
    return content
  }
  const read = (env: Record<string, string>) => parseConfig(env, readFile)
  expect(read({ DATABASE_URL_FILE: '/run/db' })).toEqual(parseConfig(onPostgres))
  expect(() => read({ DATABASE_URL_FILE: '/run/db', DATABASE_URL: 'postgres://b.example/b' })).toThrow(
    'DATABASE_URL_FILE: DATABASE_URL is set as well; set one of the two',
  )
  expect(() => read({ WHATSAPP_TOKEN_FILE: '/run/none' })).toThrow(
    "WHATSAPP_TOKEN_FILE: the file can't be read (ENOENT)",
  )
  expect(() => read({ SMTP_URL_FILE: '/run/empty' })).toThrow('SMTP_URL_FILE: the file is empty')
  // A setting that is no secret has no file.
  expect(read({ PORT_FILE: '/run/none' })).toEqual(parseConfig({}))
})

test('a mail server requires a sender, which may be a bare address', () => {
  expect(mistakesOf({ SMTP_URL: 'smtp://mail.example' })).toEqual(['MAIL_FROM: required with SMTP_URL'])
  const { delivery } = parseConfig({ SMTP_URL: 'smtp://mail.example', MAIL_FROM: 'tickets@shop.example' })
  expect(delivery.mail.from).toEqual({ name: '', address: 'tickets@shop.example' })
})

test('WhatsApp requires all of its settings', () => {
  expect(mistakesOf({ WHATSAPP_TOKEN: 'token' })).toEqual([
    'WHATSAPP_PHONE_NUMBER_ID: WhatsApp needs all of WHATSAPP_TOKEN, WHATSAPP_PHONE_NUMBER_ID, WHATSAPP_TEMPLATE',
    'WHATSAPP_TEMPLATE: WhatsApp needs all of WHATSAPP_TOKEN, WHATSAPP_PHONE_NUMBER_ID, WHATSAPP_TEMPLATE',
    'PUBLIC_URL: WhatsApp fetches the tickets from there',
  ])
})

const stripe = {
  PAYMENT_PROVIDER: 'stripe',
  STRIPE_SECRET_KEY: 'sk_live_secret',
  STRIPE_WEBHOOK_SECRET: 'whsec_secret',
}

test('Stripe accepts one or two webhook secrets', () => {
  expect(parseConfig(stripe)).toMatchObject({
    paymentProvider: 'stripe',
    stripe: {
      secretKey: 'sk_live_secret',
      webhookSecrets: ['whsec_secret'],
      apiBase: 'https://api.stripe.com',
    },
  })
  const proxied = { STRIPE_WEBHOOK_SECRET: 'whsec_a, whsec_b', STRIPE_API_BASE: 'http://127.0.0.1:12111' }
  expect(parseConfig({ ...stripe, ...proxied }).stripe).toMatchObject({
    webhookSecrets: ['whsec_a', 'whsec_b'],
    apiBase: 'http://127.0.0.1:12111',
  })
})

test('Stripe requires both secrets, and a hold that ends before its sessions', () => {
  expect(mistakesOf({ PAYMENT_PROVIDER: 'stripe', HOLD_MINUTES: '1381' })).toEqual([
    'STRIPE_SECRET_KEY: PAYMENT_PROVIDER=stripe needs it',
    'STRIPE_WEBHOOK_SECRET: PAYMENT_PROVIDER=stripe needs it',
    'HOLD_MINUTES: must be at most 1380 with PAYMENT_PROVIDER=stripe',
  ])
  expect(mistakesOf({ ...stripe, HOLD_MINUTES: '1380' })).toEqual([])
})

test('production refuses a Stripe test key unless it is enabled explicitly', () => {
  const tried = {
    ...stripe,
    ...aMailServer,
    STRIPE_SECRET_KEY: 'sk_test_secret',
    NODE_ENV: 'production',
  }
  expect(mistakesOf(tried)).toEqual([
    'STRIPE_SECRET_KEY: a test key takes no money; in production it needs ALLOW_SANDBOX_PAYMENTS=true',
  ])
  expect(mistakesOf({ ...tried, ALLOW_SANDBOX_PAYMENTS: 'true' })).toEqual([])
  expect(mistakesOf({ ...stripe, ...aMailServer, NODE_ENV: 'production' })).toEqual([])
})

test('a database URL may name several hosts', () => {
  const several =
    'postgres://box:pw@one.example:5432,two.example:5433/tickets?target_session_attrs=read-write'
  const { databaseUrl, directDatabaseUrl, databaseReplicaUrls } = parseConfig({
    DATABASE_URL: several,
    DIRECT_DATABASE_URL: 'postgresql://one.example,two.example/tickets',
    DATABASE_REPLICA_URLS: `${several}, postgres://three.example/tickets,`,
  })
  expect([databaseUrl, directDatabaseUrl]).toEqual([several, 'postgresql://one.example,two.example/tickets'])
  expect(databaseReplicaUrls).toEqual([several, 'postgres://three.example/tickets'])
  for (const wrong of [
    'postgres://one.example:x,two.example/tickets',
    'postgres://one.example,two.example:x/tickets',
    'postgres://one.example,two.example/tickets?target_session_attrs=master',
    'mysql://one.example,two.example/tickets',
  ])
    expect(() => parseConfig({ DATABASE_URL: wrong }), wrong).toThrow(/DATABASE_URL: must be a postgres/)
})

test('only production has a drain period by default', () => {
  const production = { NODE_ENV: 'production', ALLOW_SANDBOX_PAYMENTS: 'true', ...aMailServer }
  expect(parseConfig(production).drainSeconds).toBe(5)
  expect(parseConfig({}).drainSeconds).toBe(0)
  expect(parseConfig({ ...production, DRAIN_SECONDS: '0' }).drainSeconds).toBe(0)
})

test('proxies are trusted by number or by network', () => {
  const { trustProxy } = parseConfig({ TRUST_PROXY: '2' })
  if (typeof trustProxy !== 'function') return expect.fail('a number is no function of hops')
  expect([0, 1, 2].map((hop) => trustProxy('192.0.2.1', hop))).toEqual([true, true, false])
  expect(parseConfig({ TRUST_PROXY: '::1' }).trustProxy).toEqual(['::1'])
})

test('a name that is nearly that of a setting is named with the nearest, and never a value', () => {
  const misspeltIn = (names: string[]) =>
    parseConfig(Object.fromEntries(names.map((name) => [name, 'secret-value']))).misspelt
  const misspelt = ['DATABSE_URL', 'STRIPE_SECRET_KEY_FIEL', 'MAIL_FORM', 'database_url', 'HOLD_MINUTE']
  expect(misspeltIn(misspelt)).toEqual([
    'DATABSE_URL is no setting: DATABASE_URL may be meant',
    'STRIPE_SECRET_KEY_FIEL is no setting: STRIPE_SECRET_KEY_FILE may be meant',
    'MAIL_FORM is no setting: MAIL_FROM may be meant',
    'database_url is no setting: DATABASE_URL may be meant',
    'HOLD_MINUTE is no setting: HOLD_MINUTES may be meant',
  ])
  // Variables of shells, of npm, of other programs and of OpenTelemetry's own.
  const others = [
    'PATH',
    'HOME',
    'HOSTNAME',
    'PWD',
    'USER',
    'TERM',
    'NODE_OPTIONS',
    'npm_config_cache',
    'SMTP_USER',
  ]
  expect(misspeltIn([...others, 'OTEL_BSP_SCHEDULE_DELAY', 'TEST_DATABASE_URL', 'POSTGRES_URL'])).toEqual([])
})
