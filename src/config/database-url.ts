// The hosts of an address, between the credentials and the path.
const hostList = /^([^:]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)/

const sessionAttributes = ['read-write', 'read-only', 'primary', 'standby', 'prefer-standby']

/** Whether PostgreSQL can be reached at an address: `postgres://`, with one host or several of them (`h1:5432,h2:5432`),
 *  and `target_session_attrs` as libpq knows it, but for `any`. */
export function isDatabaseUrl(address: string): boolean {
  const [, before = '', hosts = ''] = hostList.exec(address) ?? []
  const addresses = hosts
    .split(',')
    .map((host) => before + host + address.slice(before.length + hosts.length))
  return addresses.every((one) => {
    if (!URL.canParse(one)) return false
    const { protocol, searchParams } = new URL(one)
    const wanted = searchParams.get('target_session_attrs')
    return /^postgres(ql)?:$/.test(protocol) && (wanted === null || sessionAttributes.includes(wanted))
  })
}

/** The addresses of a comma-separated list. One of several hosts has commas as well: an address begins with its scheme. */
export const splitDatabaseUrls = (list: string): string[] => list.split(/,\s*(?=\w+:\/\/|$)/).filter(Boolean)
