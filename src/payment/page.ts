import type { FastifyInstance } from 'fastify'
import type { House } from '../context.ts'

export async function addPaymentPage(_app: FastifyInstance, _house: House): Promise<void> {}
