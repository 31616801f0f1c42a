import { execFile } from 'node:child_process'
import { chown, mkdir, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { FaultService } from './fault-service.ts'

const run = promisify(execFile)

/** A small disk that holds the tickets table and can be filled. */
export type SmallDisk = {
  /** Description of how the full disk is produced. */
  how: string
  fill(): Promise<void>
  free(): Promise<void>
  remove(): Promise<void>
}

// Fallback where no file system can be mounted: a trigger raises the error of a full disk.
function simulatedDisk({ sale, admin }: FaultService): SmallDisk {
  const inTickets = async (statement: string) => void (await sale.db.execute(statement))
  return {
    how: 'simulated by a trigger',
    async fill() {
      await inTickets(`create function refuse_disk() returns trigger language plpgsql as
        $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`)
      await inTickets('create trigger refuse_disk before insert on tickets execute function refuse_disk()')
    },
    free: () => inTickets('drop function refuse_disk cascade'),
    remove: async () => void (await admin`select 1`),
  }
}

/** Moves the tickets to a file system of a few megabytes. Nothing else of the server is on it, so a full disk
 *  makes statements fail and does not stop the server. */
export async function mountSmallDisk(fault: FaultService): Promise<SmallDisk> {
  const { server, sale, admin } = fault
  const folder = await mkdtemp(join(tmpdir(), 'boxoffice-disk-'))
  const isMounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', folder]).then(
    () => true,
    () => false,
  )
  if (!isMounted) {
    await rm(folder, { recursive: true })
    return simulatedDisk(fault)
  }
  const place = join(folder, 'space')
  await mkdir(place)
  if (server.user) for (const path of [folder, place]) await chown(path, server.user.uid, server.user.gid)
  await admin.unsafe(`create tablespace small_disk location '${place}'`)
  await admin`grant create on tablespace small_disk to box`
  await sale.db.execute('alter table tickets set tablespace small_disk')
  return {
    how: 'a file system of 24 MB',
    async fill() {
      // Compacts the table, so that free space in its pages is not used up first.
      await sale.db.execute('vacuum tickets')
      const { bavail, bsize } = await statfs(folder)
      await writeFile(join(folder, 'filler'), Buffer.alloc(bavail * bsize))
    },
    free: () => rm(join(folder, 'filler')),
    async remove() {
      await sale.db.execute('alter table tickets set tablespace pg_default')
      await admin`drop tablespace small_disk`
      await run('umount', ['-l', folder])
      await rm(folder, { recursive: true, force: true })
    },
  }
}
