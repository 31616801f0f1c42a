// Hosts of a URL, between the credentials and the path.
const hostList = /^([^:]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)/

const sessionAttributes = ['read-write', 'read-only', 'primary', 'standby', 'prefer-standby']

/** Reports whether a text is a PostgreSQL URL: `postgres://`, with one or several hosts (`h1:5432,h2:5432`),
 *  and with `target_session_attrs` as in libpq, except `any`. */
export function isDatabaseUrl(address: string): boolean {
  const [, before = '', hosts = ''] = hostList.exec(address) ?? []
  const addresses = hosts
    .split(',')
    .map((host) => before + host + address.slice(before.length + hosts.length))
  return addresses.every((url) => {
    if (!URL.canParse(url)) return false
    const { protocol, searchParams } = new URL(url)
    const wanted = searchParams.get('target_session_attrs')
    return /^postgres(ql)?:$/.test(protocol) && (wanted === null || sessionAttributes.includes(wanted))
  })
}

/** Splits a comma-separated list of URLs. A URL with several hosts contains commas too, so only a comma
 *  before a scheme separates. */
export const splitDatabaseUrls = (list: string): string[] => list.split(/,\s*(?=\w+:\/\/|$)/).filter(Boolean)
