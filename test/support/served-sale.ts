import type { CatalogueFile } from '../../src/domain/import/catalogue-file.ts'
import { createTestDatabase } from './harness.ts'
import { mustStartWorkers, type ServerProcess } from './processes.ts'
import { openSale, type Sale } from './sale.ts'

/** A sale, and processes of the built service on its database. */
export type ServedSale = { sale: Sale; service: ServerProcess; close(): Promise<void> }

/** Opens a sale and starts that many processes of the built service on its database. */
export async function openServedSale(catalogue: CatalogueFile, processes: number): Promise<ServedSale> {
  const database = await createTestDatabase()
  const sale = await openSale(catalogue, { database })
  const service = await mustStartWorkers(processes, database.settings)
  const close = async () => {
    await service.stop()
    await sale.close()
    await database.drop()
  }
  return { sale, service, close }
}
