import type { FastifyInstance } from 'fastify'
import { type GraphQLFieldResolver, isObjectType } from 'graphql'
import { createApp } from '../../../src/app/app.ts'
import { schema } from '../../../src/app/schema.ts'
import { parseConfig } from '../../../src/app/settings.ts'
import type { Context } from '../../../src/domain/caller/context.ts'
import { stripeSettings } from '../stub-stripe.ts'
import type { Matrix } from './checker.ts'
import { watchRoutes } from './entry-points.ts'
import type { World } from './world.ts'

// Gateways with a deliberate leak, for control tests.

/** Runs `work` against a modified gateway on the same database. */
export async function withLeakyGateway<T>(
  world: World,
  change: (app: FastifyInstance) => void,
  work: (matrix: Matrix) => Promise<T>,
) {
  const { sale } = world
  const settings = {
    LOG_LEVEL: 'silent',
    RATE_LIMIT: 'off',
    SHARED_READS_MS: '0',
    ...stripeSettings(sale.fake.url),
  }
  const options = { db: sale.db, config: parseConfig(settings), provider: sale.provider }
  const { result: app, routes } = await watchRoutes(() => createApp(options), change)
  try {
    return { routes, result: await work({ world, app, seen: [] }) }
  } finally {
    await app.close()
  }
}

type Resolver = GraphQLFieldResolver<{ id: string }, Context, { id: string }>

/** Runs `work` against a gateway in which one field has another resolver. */
export async function withResolver<T>(
  world: World,
  at: string,
  resolverOf: (original: Resolver) => Resolver,
  work: (matrix: Matrix) => Promise<T>,
): Promise<T> {
  const [typename = '', name = ''] = at.split('.')
  const type = schema.getType(typename)
  const field = isObjectType(type) ? type.getFields()[name] : undefined
  if (!field?.resolve) throw new Error(`${at} has no resolver`)
  const original = field.resolve
  field.resolve = resolverOf(original)
  try {
    return (await withLeakyGateway(world, () => {}, work)).result
  } finally {
    field.resolve = original
  }
}
