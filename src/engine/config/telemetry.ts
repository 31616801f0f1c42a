import { z } from 'zod'
import { type ConfigOf, httpUrl, wholeNumber } from './setting-types.ts'

/** Environment variables for logs and metrics, used under their names in camel case. */
export const telemetrySettings = {
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** Form of log lines; if unset, `pretty` on a terminal and `json` elsewhere. */
  LOG_FORMAT: z.enum(['json', 'pretty']).optional(),
  /** Port that serves `/metrics`; if unset, nothing is measured. */
  METRICS_PORT: wholeNumber(0, 65_535).optional(),
}

// Standard variables of OpenTelemetry. Its SDK reads them by itself: here they are only checked, because it
// would replace wrong ones by its defaults.
export const tracingSettings = {
  OTEL_SDK_DISABLED: z.enum(['true', 'false']).default('false'),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.literal('http/protobuf').optional(),
  OTEL_EXPORTER_OTLP_HEADERS: z.string().optional(),
  OTEL_SERVICE_NAME: z.string().max(100).optional(),
  OTEL_RESOURCE_ATTRIBUTES: z.string().optional(),
  OTEL_TRACES_SAMPLER: z
    .enum([
      ...['always_on', 'always_off', 'traceidratio'],
      ...['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'],
    ] as const)
    .optional(),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?|\.\d+)$/, 'must be a number from 0 to 1')
    .optional(),
}

/** Settings of logs, metrics and traces. */
export type TelemetryConfig = ConfigOf<typeof telemetrySettings> & { hasTraces: boolean }

/** Reports whether traces are on: an exporter or an address is set, and none of them is switched off. */
export const hasTraces = (settings: z.output<z.ZodObject<typeof tracingSettings>>): boolean =>
  settings.OTEL_SDK_DISABLED === 'false' &&
  settings.OTEL_TRACES_EXPORTER !== 'none' &&
  [
    settings.OTEL_TRACES_EXPORTER,
    settings.OTEL_EXPORTER_OTLP_ENDPOINT,
    settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
  ].some(Boolean)
