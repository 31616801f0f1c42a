import { readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../engine/base/errors.ts'
import { unfinishedOf } from '../../engine/base/files.ts'

// Mails that were written to a folder because no server is set: a file each, named after its delivery.

/** Path of the file of a mail. */
export const mailFile = (folder: string, deliveryId: string) => join(folder, `${deliveryId}.eml`)

const ofMail = /^dlv_[0-9a-z]{26}\.eml(\.part)?$/

// For the error of a file or a folder that is not there.
const ifMissing =
  <Value>(value: Value) =>
  (error: unknown): Value => {
    if (errorCode(error) !== 'ENOENT') throw error
    return value
  }

const remove = (file: string): Promise<number> => unlink(file).then(() => 1, ifMissing(0))

/** Removes the files of deliveries, and returns their number. */
export async function removeMails(folder: string, deliveryIds: string[]): Promise<number> {
  let removed = 0
  for (const id of deliveryIds) {
    const file = mailFile(folder, id)
    removed += (await remove(file)) + (await remove(unfinishedOf(file)))
  }
  return removed
}

/** Removes the files of mails that were written more than `days` ago, by the clock of this machine, and
 *  nothing else from the folder. Returns their number; 0 without the folder. */
export async function removeOldMails(folder: string, days: number, stopping: AbortSignal): Promise<number> {
  const before = Date.now() - days * 86_400_000
  let removed = 0
  for (const name of await readdir(folder).catch(ifMissing([]))) {
    if (stopping.aborted) break
    if (!ofMail.test(name)) continue
    const file = join(folder, name)
    // Another process may have removed it.
    const found = await stat(file).catch(() => null)
    if (found && found.mtimeMs < before) removed += await remove(file)
  }
  return removed
}
