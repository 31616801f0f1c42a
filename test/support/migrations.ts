import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A temporary folder of migrations. */
export type MigrationFolder = {
  folder: string
  /** Writes these files by name, and a journal that lists only them, in this order. */
  write(files: Record<string, string>): Promise<void>
  remove(): Promise<void>
}

/** Creates an empty migration folder in Drizzle's layout. */
export async function createMigrationFolder(): Promise<MigrationFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'boxoffice-migrations-'))
  await mkdir(join(folder, 'meta'))
  return {
    folder,
    async write(files) {
      const entries = Object.keys(files).map((tag, idx) => ({
        idx,
        version: '7',
        when: 1_800_000_000_000 + idx,
        tag,
        breakpoints: true,
      }))
      const journal = { version: '7', dialect: 'postgresql', entries }
      await writeFile(join(folder, 'meta/_journal.json'), JSON.stringify(journal))
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, `${name}.sql`), text)
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
