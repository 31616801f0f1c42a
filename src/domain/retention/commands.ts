import { z } from 'zod'
import { email, identifier } from '../../engine/base/input-types.ts'
import { command } from '../../engine/base/parse.ts'
import type { OpenTables } from '../../engine/database/database.ts'
import type { DeliveryConfig } from '../delivery/settings.ts'
import { type Erased, erasePerson, eraseTicket } from './erase-person.ts'
import { exportPerson } from './export-person.ts'

// Commands for the data of one person. Their output names nobody but in an export.

type Settings = { readConfig(of: 'command'): { delivery: DeliveryConfig } }

const whom = z
  .strictObject({ email: email.optional(), ticket: identifier.optional(), force: z.literal(true).optional() })
  .refine((given) => (given.email === undefined) !== (given.ticket === undefined), {
    message: 'give it or --ticket, and not both',
    path: ['email'],
  })

const toText = ({ tickets, deliveries, mails, referrals }: Erased) =>
  tickets.length + deliveries + mails + referrals === 0
    ? 'Nothing is held about them.'
    : `Erased: tickets ${tickets.length}, deliveries ${deliveries}, mails in the folder ${mails}, referrals ${referrals}.`

const erase = command(
  whom,
  async ({ email = '', ticket, force = false }, open: OpenTables, { readConfig }: Settings) => {
    const db = await open()
    const options = { mailFolder: readConfig('command').delivery.mail.folder, force }
    const erased =
      ticket === undefined ? await erasePerson(db, email, options) : await eraseTicket(db, ticket, options)
    return { json: erased, text: toText(erased) }
  },
)

const exported = command(z.strictObject({ email }), async ({ email }, open: OpenTables) => {
  const found = await exportPerson(await open(), email)
  return { json: found, text: JSON.stringify(found, null, 2) }
})

export const retentionCommands = { erase, 'export-person': exported }
