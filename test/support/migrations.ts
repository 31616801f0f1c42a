import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder of migrations that is a test's own. */
export type MigrationFolder = {
  folder: string
  /** Writes files by their names, in this order, as all that there are. */
  write(files: Record<string, string>): Promise<void>
  remove(): Promise<void>
}

/** Makes a folder of migrations as Drizzle has them, with a journal. */
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
