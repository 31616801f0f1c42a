import type postgres from 'postgres'
import { service } from '../base/service.ts'
import type { AnnouncementLink, Announcements } from './announcements.ts'
import type { FindHost } from './pool/find-host.ts'
import { PoolConnection } from './pool/pool-connection.ts'

const firstRetryMs = 50
const maxRetryMs = 1_000
const pingMs = 5_000

/** Opens a link to other processes by LISTEN and NOTIFY, on one connection of its own, from the first use on.
 *  It is tried again until it is closed, and given up if it is silent for ten seconds. Messages are sent by
 *  transactions of their own, because PostgreSQL commits notifying transactions one at a time. `settings` are those of
 *  the database itself: a session that listens can't go through a pooler of transactions. */
export function openNotifyLink(
  announcements: Announcements,
  settings: postgres.Sql['options'],
  findHost: FindHost,
): AnnouncementLink {
  let connection: PoolConnection | null = null
  let isConnected = false
  let isClosing = false
  let pauseMs = firstRetryMs
  let retry: NodeJS.Timeout | undefined
  let ping: NodeJS.Timeout | undefined

  function onChange(changed: PoolConnection): void {
    if (!changed.isOver || changed !== connection) return
    connection = null
    isConnected = false
    findHost.forget()
    if (isClosing) return
    retry = setTimeout(connect, pauseMs).unref()
    pauseMs = Math.min(maxRetryMs, pauseMs * 2)
  }

  function connect(): void {
    const made = new PoolConnection({
      settings: {
        ...settings,
        connection: { ...settings.connection, application_name: `${service.name} announcements` },
        // Read by the driver, and missing in its types.
        onnotify: (_name: string, message: string) => announcements.receive(message),
      } as typeof settings,
      findHost,
      onChange,
    })
    connection = made
    made.execute([`listen ${service.name}`], false).then(
      () => {
        if (connection !== made) return
        isConnected = true
        pauseMs = firstRetryMs
        // Whatever was sent before has not arrived.
        announcements.deliverAny()
      },
      // Ends the connection, if it is not over yet: a server may refuse to listen.
      (error) => made.end(error),
    )
  }

  // A connection that went silent would never report its end.
  function check(): void {
    if (!connection) return
    if (performance.now() - connection.waitsSince > pingMs) connection.end()
    else connection.execute(['select 1'], false).catch(() => {})
  }

  const link: AnnouncementLink = {
    get isConnected() {
      return isConnected
    },
    open() {
      if (ping || isClosing) return
      ping = setInterval(check, pingMs).unref()
      connect()
    },
    send(message) {
      link.open()
      if (isConnected)
        connection?.execute(['select pg_notify($1, $2)', [service.name, message]], false).catch(() => {})
    },
    async close() {
      isClosing = true
      clearTimeout(retry)
      clearInterval(ping)
      await connection?.close()
    },
  }
  return link
}

/** Link of a database whose own address is unknown, behind a pooler: no announcement arrives. */
export const noLink: AnnouncementLink = { isConnected: false, open() {}, send() {}, async close() {} }
