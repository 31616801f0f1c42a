import { type SQL, sql } from 'drizzle-orm'
import { channelOrganizations } from '../../auth/table.ts'
import { tickets } from '../ticket/table.ts'

// Indexes of tickets begin with organization, mode and channel: named in a condition, they lead to a few
// tickets of an organization.

/** Channels that ever sold for an organization, itself among them. */
const channelsOf = (organizationId: string): SQL => sql`array(
  select ${channelOrganizations.channelId} from ${channelOrganizations}
    where ${channelOrganizations.organizationId} = ${organizationId}
  union select ${organizationId})`

/** Condition that a ticket is of an organization, in either mode and of any channel. */
export const ofOrganization = (
  organizationId: string,
): SQL => sql`${tickets.organizationId} = ${organizationId}
  and ${tickets.mode} = any('{live,test}'::key_mode[])
  and ${tickets.channelId} = any(${channelsOf(organizationId)})`
