// Hosts of a URL, between the credentials and the path.
const hostList = /^([^:]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)/

const sessionAttributes = ['read-write', 'read-only', 'primary', 'standby', 'prefer-standby']
const sslModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']

/** Reports whether no certificate is named in a URL. The driver would send them to the server, which refuses
 *  them. */
export const namesNoCertificate = (url: string): boolean => !/[?&]ssl(rootcert|cert|key)=/.test(url)

/** Reports whether a text is a PostgreSQL URL: `postgres://`, with one or several hosts (`h1:5432,h2:5432`),
 *  and with `target_session_attrs` as in libpq, except `any`, and `sslmode`. */
export function isDatabaseUrl(address: string): boolean {
  const [, before = '', hosts = ''] = hostList.exec(address) ?? []
  const addresses = hosts
    .split(',')
    .map((host) => before + host + address.slice(before.length + hosts.length))
  return addresses.every((url) => {
    if (!URL.canParse(url)) return false
    const { protocol, searchParams } = new URL(url)
    const isOneOf = (name: string, values: string[]) => {
      const value = searchParams.get(name)
      return value === null || values.includes(value)
    }
    return (
      /^postgres(ql)?:$/.test(protocol) &&
      isOneOf('target_session_attrs', sessionAttributes) &&
      isOneOf('sslmode', sslModes)
    )
  })
}

/** Splits a comma-separated list of URLs. A URL with several hosts contains commas too, so only a comma
 *  before a scheme separates. */
export const splitDatabaseUrls = (list: string): string[] => list.split(/,\s*(?=\w+:\/\/|$)/).filter(Boolean)
